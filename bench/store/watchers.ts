/**
 * What a commit costs when a thousand others watch something else: it should cost the same as when nobody watches. Watchers of
 * other resources are told apart from watchers of other namespaces of the same resource, which are harder to leave alone.
 * The store in a round is new, so that all rounds find the same.
 */
import type { Benchmark } from "../benchmark.ts";
import { startChild } from "../child.ts";
import { figureOf } from "../figure.ts";
import type { LoadResult } from "./load.ts";
import type { Driver, Watched, WatchersTasks } from "./watchers-child.ts";

/** The embedded store with so many that the processor and not the disk decides; in memory there is nothing to wait for. */
const WRITERS: Readonly<Record<Driver, number>> = { memory: 1, embedded: 256 };

const ROUND_MS = 500;

/** More than usual: a ratio that should be 1 has to be told from one that is a little more. */
const REPETITIONS = 9;

/** "The same": what the noise of a machine leaves of 1. */
const RATIO_MAX = 1.1;

export const storeWatchers: Benchmark = {
  name: "store/watchers",
  measures: "cost of a commit with 1,000 watchers of other prefixes, beside none, in memory and embedded",
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
