/**
 * Watchers of one resource at 100 events per second: the share of events delivered in order and their delay, how long the writes take beside
 * them, and the processor time of the server as a share of one core.
 */
import { Disposables } from "../../src/base/disposables.ts";
import type { Benchmark, Figure } from "../benchmark.ts";
import { startChild } from "../child.ts";
import { figureOf } from "../figure.ts";
import { startServer } from "./start-server.ts";
import type { WatchersTasks } from "./watchers-child.ts";

const EVENTS_PER_SECOND = 100;
const DURATION_MS = 5_000;

/** Budgets of 1,000 watchers, which 500 must keep, too. */
const P99_MS_MAX = 50;
const WRITE_P99_MS_MAX = 100;
const CORE_PERCENT_MAX = 60;

export const apiserverWatchers: Benchmark = {
  name: "apiserver/watchers",
  measures: "500 and 1,000 watchers × 100 events/s over HTTP/1.1 and HTTP/2: share delivered in order, delays, processor time",
  async *run(context) {
    for (const protocol of ["http1", "http2"] as const) {
      for (const watchers of [500, 1_000]) {
        await using children = new Disposables();
        const k8ts = children.use(startServer(context.signal));
        const load = children.use(startChild<WatchersTasks>(import.meta.url, "watchers-child", context.signal));
        const server = await k8ts.call("startK8ts", { directory: context.directory, store: "memory" });
        await load.call("open", { ...server, protocol, watchers });
        const sample = async (): Promise<Sample> => {
          const beforeMs = await k8ts.call("cpu", undefined);
          const result = await load.call("run", { eventsPerSecond: EVENTS_PER_SECOND, durationMs: DURATION_MS });
          return { ...result, corePercent: (((await k8ts.call("cpu", undefined)) - beforeMs) * 100) / result.tookMs };
        };
        const { samples } = await context.rounds.measure({ samples: sample }, 3);
        yield* figuresOf(`apiserver/watchers-${protocol}-${watchers}`, samples);
      }
    }
  },
};

type Sample = Awaited<ReturnType<WatchersTasks["run"]>> & { readonly corePercent: number };

function* figuresOf(name: string, samples: readonly Sample[]): Iterable<Figure> {
  const rows = [
    { suffix: "delivered-in-order", unit: "%", member: "deliveredPercent", budget: { atLeast: 100 } },
    { suffix: "p99", unit: "ms", member: "p99Ms", budget: { atMost: P99_MS_MAX } },
    { suffix: "write-p99", unit: "ms", member: "writeP99Ms", budget: { atMost: WRITE_P99_MS_MAX } },
    { suffix: "core", unit: "%", member: "corePercent", budget: { atMost: CORE_PERCENT_MAX } },
  ] as const;
  for (const { suffix, unit, member, budget } of rows)
    yield figureOf({ name: `${name}-${suffix}`, unit, values: samples.map((each) => each[member]), budget });
}
