/**
 * Cost of a commit with a thousand watchers of other prefixes: it should equal that without watchers. Watchers of other resources and
 * watchers of other namespaces of the same resource, which are harder to exclude, are measured separately. Each round has a new store, so
 * that all start equal.
 */
import type { Benchmark } from "../benchmark.ts";
import { startChild } from "../child.ts";
import { figureOf } from "../figure.ts";
import type { LoadResult } from "./load.ts";
import type { Driver, Watched, WatchersTasks } from "./watchers-child.ts";

/** The embedded store at a concurrency that makes the CPU and not the disk the bottleneck; in memory there is no wait. */
const WRITERS: Readonly<Record<Driver, number>> = { memory: 1, embedded: 256 };

const ROUND_MS = 500;

/** More than usual: a ratio of 1 must be distinguishable from a slightly higher one. */
const REPETITIONS = 9;

/** Equal within the noise of a machine. */
const RATIO_MAX = 1.1;

export const storeWatchers: Benchmark = {
  name: "store/watchers",
  measures: "cost of a commit with 1,000 watchers of other prefixes, in memory and embedded; baseline: without watchers",
  async *run({ directory, rounds, signal }) {
    for (const driver of ["memory", "embedded"] as const) {
      await using child = startChild<WatchersTasks>(import.meta.url, "watchers-child", signal);
      const round = (watched: Watched) => () =>
        child.call("round", { driver, watched, directory, writers: WRITERS[driver], durationMs: ROUND_MS });
      const subjects = {
        nothing: round("nothing"),
        "other-resources": round("other-resources"),
        "other-namespaces": round("other-namespaces"),
      };
      const results = await rounds.measure(subjects, REPETITIONS);
      for (const watched of ["other-resources", "other-namespaces"] as const) {
        yield figureOf({
          name: `store/watchers-${driver}-${watched}`,
          unit: "us/commit",
          values: results[watched].map(costUs),
          baselines: results.nothing.map(costUs),
          budget: { atMost: RATIO_MAX },
        });
      }
    }
  },
};

function costUs({ perSecond }: LoadResult): number {
  return 1_000_000 / perSecond;
}
