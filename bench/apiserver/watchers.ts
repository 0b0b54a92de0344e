/** Watchers of one resource at 100 events per second: the share of events delivered in order, and the delay. */
import { Disposables } from "../../src/base/disposables.ts";
import type { Benchmark } from "../benchmark.ts";
import { startChild } from "../child.ts";
import { figureOf } from "../figure.ts";
import type { ServerTasks } from "./server-child.ts";
import type { WatchersTasks } from "./watchers-child.ts";

const EVENTS_PER_SECOND = 100;
const DURATION_MS = 5_000;

/** With 500 watchers one core must keep up. */
const P99_MS_MAX = 100;

export const apiserverWatchers: Benchmark = {
  name: "apiserver/watchers",
  measures: "500 and 1,000 watchers × 100 events/s over HTTP/1.1 and HTTP/2: share delivered in order, and delay",
  async *run(context) {
    for (const protocol of ["http1", "http2"] as const) {
      for (const watchers of [500, 1_000]) {
        await using children = new Disposables();
        const k8ts = children.use(startChild<ServerTasks>(import.meta.url, "server-child", context.signal));
        const load = children.use(startChild<WatchersTasks>(import.meta.url, "watchers-child", context.signal));
        const server = await k8ts.call("startK8ts", { directory: context.directory, store: "memory" });
        await load.call("open", { ...server, protocol, watchers });
        const { samples } = await context.rounds.measure(
          { samples: () => load.call("run", { eventsPerSecond: EVENTS_PER_SECOND, durationMs: DURATION_MS }) },
          3,
        );
        const name = `apiserver/watchers-${protocol}-${watchers}`;
        yield figureOf({
          name: `${name}-delivered-in-order`,
          unit: "%",
          values: samples.map(({ deliveredPercent }) => deliveredPercent),
          budget: { atLeast: 100 },
        });
        yield figureOf({
          name: `${name}-p99`,
          unit: "ms",
          values: samples.map(({ p99Ms }) => p99Ms),
          ...(watchers === 500 ? { budget: { atMost: P99_MS_MAX } } : {}),
        });
      }
    }
  },
};
