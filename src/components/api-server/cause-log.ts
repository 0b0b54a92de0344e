/**
 * Causes on disk, in the data directory of the embedded store, so that they survive a restart: one line of JSON per record, without member
 * names. Bounded to two files for commits and two for refused requests, so that a client that is refused in a loop displaces no commits; a line that cannot be read (torn by a crash, or of another version) is left out.
 */
import type { CauseRecord } from "../../apiserver/framework/recording/causes.ts";
import { CAUSES_MAX, REFUSALS_MAX, type RecordedCausesOptions } from "../../apiserver/storage/recorded-causes.ts";
import type { Clock } from "../../base/clock.ts";
import { Disposables } from "../../base/disposables.ts";
import type { StoreConfig } from "../../config/store-config.ts";
import { openBoundedLineLog, readLineLog } from "../../host/files/bounded-line-log.ts";
import { joinPath } from "../../host/files/files.ts";
import { realClock } from "../../host/real-clock.ts";
import type { Store } from "../../store/store.ts";

/** One file holds about as many records as memory; the older one is kept until it is full. */
const COMMITS_BYTES_MAX = 4 * 1024 * 1024;
const REFUSALS_BYTES_MAX = 1024 * 1024;

export type OpenedCauseLog = RecordedCausesOptions & AsyncDisposable;

/** Absent: the store has no directory, or time is virtual, and causes are lost with the process. */
export async function openCauseLog(config: StoreConfig, store: Store, clock: Clock): Promise<OpenedCauseLog | undefined> {
  if (config.driver !== "embedded" || clock !== realClock) return undefined;
  const path = joinPath(config.dataDirectory, "causes.jsonl");
  const refusalsPath = `${path}.refused`;
  const newest = await store.currentRevision();
  const lines = [...(await readLineLog(path)).slice(-CAUSES_MAX), ...(await readLineLog(refusalsPath)).slice(-REFUSALS_MAX)];
  // Records of revisions that the store does not have: it was restored from an older snapshot.
  const earlier = lines.flatMap(readCauseLine).filter(({ revision }) => revision <= newest);
  await using opening = new Disposables();
  const commits = opening.use(await openBoundedLineLog(path, { fileBytesMax: COMMITS_BYTES_MAX }));
  const refusals = opening.use(await openBoundedLineLog(refusalsPath, { fileBytesMax: REFUSALS_BYTES_MAX }));
  const owned = opening.move();
  return {
    earlier: earlier.toSorted((a, b) => a.id - b.id),
    log: { append: (record) => (record.refusal === undefined ? commits : refusals).append(causeLine(record)) },
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  };
}

export function causeLine(record: CauseRecord): string {
  const { id, timeMs, revision, requestId, verb, group, plural, subresource, namespace, name, user, userAgent } = record;
  const { deleted, cause, admission, refusal, stages } = record;
  const head = [id, timeMs, revision, requestId ?? null, verb, group, plural, subresource, namespace, name, user, userAgent];
  return JSON.stringify([...head, deleted ?? null, cause ?? null, admission ?? null, refusal ?? null, stages ?? null]);
}

/** None if the line is torn. */
export function readCauseLine(line: string): readonly CauseRecord[] {
  let values: unknown;
  try {
    values = JSON.parse(line);
  } catch {
    return [];
  }
  if (!Array.isArray(values) || !LINE_LENGTHS.includes(values.length) || typeof values[0] !== "number") return [];
  const [id, timeMs, revision, requestId, verb, group, plural, subresource, namespace, name, user, userAgent, ...optional] = values as Line;
  const [deleted, cause, admission, refusal, stages = null] = optional;
  const head = { id, timeMs, revision, verb, group, plural, subresource, namespace, name, user, userAgent };
  return [
    {
      ...head,
      ...(requestId === null ? {} : { requestId }),
      ...(deleted === null ? {} : { deleted }),
      ...(cause === null ? {} : { cause }),
      ...(admission === null ? {} : { admission }),
      ...(refusal === null ? {} : { refusal }),
      ...(stages === null ? {} : { stages }),
    },
  ];
}

type Head = [id: number, timeMs: number, revision: number, requestId: string | null];
type Names = [
  verb: string,
  group: string,
  plural: string,
  subresource: string,
  namespace: string,
  name: string,
  user: string,
  agent: string,
];
type Optional = [
  deleted: true | null,
  cause: NonNullable<CauseRecord["cause"]> | null,
  admission: NonNullable<CauseRecord["admission"]> | null,
  refusal: NonNullable<CauseRecord["refusal"]> | null,
  stages?: NonNullable<CauseRecord["stages"]> | null,
];
type Line = [...Head, ...Names, ...Optional];
/** Records of older versions have no stages. */
const LINE_LENGTHS: readonly number[] = [16, 17];
