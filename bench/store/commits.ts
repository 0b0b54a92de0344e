/**
 * Durable commits per second of the embedded store. Baselines: bare lmdb and the bare disk. The three alternate, each in its own process
 * and on its own files, which grow alike; a commit creates an object that must not exist.
 */
import { Disposables } from "../../src/base/disposables.ts";
import type { Benchmark, BenchmarkContext, Figure } from "../benchmark.ts";
import { startChild, type Child } from "../child.ts";
import { figureOf } from "../figure.ts";
import type { CommitsTasks, SubjectName } from "./commits-child.ts";

/** Disk-bound, a small cluster, and more than a group commit needs to saturate the CPU. */
const WRITERS = [1, 16, 256];

/** Long enough for fifty syncs of a slow disk. */
const ROUND_MS = 600;

/** Fraction of bare lmdb's rate: the permitted cost of revisions, history, preconditions and checksums. */
const LMDB_RATIO_MIN = 0.7;

export const storeCommits: Benchmark = {
  name: "store/commits",
  measures: "durable commits per second of the embedded store; baselines: bare lmdb, and append + fdatasync",
  async *run(context) {
    await using children = new Disposables();
    const start = async (subject: SubjectName) => {
      const child = children.use(startChild<CommitsTasks>(import.meta.url, "commits-child", context.signal));
      await child.call("open", { subject, directory: context.directory });
      return child;
    };
    const subjects = { embedded: await start("embedded"), lmdb: await start("lmdb"), append: await start("append") };
    for (const writers of WRITERS) yield* figuresOf(writers, subjects, context);
  },
};

async function* figuresOf(
  writers: number,
  subjects: Readonly<Record<SubjectName, Child<CommitsTasks>>>,
  { rounds }: BenchmarkContext,
): AsyncIterable<Figure> {
  const load = (subject: SubjectName) => () => subjects[subject].call("load", { writers, durationMs: ROUND_MS });
  const { embedded, lmdb, append } = await rounds.measure({ embedded: load("embedded"), lmdb: load("lmdb"), append: load("append") });
  const rates = { unit: "commits/s", values: embedded.map(({ perSecond }) => perSecond) };
  const name = `store/commits-${writers}-${writers === 1 ? "writer" : "writers"}`;
  yield figureOf({
    ...rates,
    name: `${name}-beside-lmdb`,
    baselines: lmdb.map(({ perSecond }) => perSecond),
    budget: { atLeast: LMDB_RATIO_MIN },
  });
  yield figureOf({ ...rates, name: `${name}-beside-append`, baselines: append.map(({ perSecond }) => perSecond) });
  if (writers > 1) return;
  const latencies = { unit: "ms", values: embedded.map(({ medianMs }) => medianMs) };
  yield figureOf({ ...latencies, name: `${name}-p50-beside-lmdb`, baselines: lmdb.map(({ medianMs }) => medianMs) });
  yield figureOf({ ...latencies, name: `${name}-p50-beside-append`, baselines: append.map(({ medianMs }) => medianMs) });
}
