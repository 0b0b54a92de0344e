/**
 * Duration of the store's operations, by operation and resource, under upstream's name (`etcd_request_duration_seconds`), whichever driver
 * is used. Watches are not counted. Counting is a map lookup and an addition.
 */
import type { Clock } from "../../base/clock.ts";
import type { HistogramFamily } from "../../base/metrics/prometheus-text.ts";
import { resourcePrefixOf } from "../../store/key.ts";
import type { Operation, Store } from "../../store/store.ts";
import type { Endpoints } from "../framework/endpoints.ts";
import type { Histogram } from "../framework/metrics.ts";

/** Upper bounds in seconds: upstream's. */
const BOUNDS_S = [0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60] as const;
/** Maximum number of series; more than a cluster has kinds times operations. */
const SERIES_MAX = 5_000;

type StoreOperation = "get" | "list" | "create" | "update" | "delete";

export class StoreMetrics {
  /** By operation and resource prefix, joined by a tab. */
  readonly #durations = new Map<string, Histogram>();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The same store, timed. */
  timed(store: Store): Store {
    return {
      capabilities: store.capabilities,
      get: (key, options) => this.#time("get", key, () => store.get(key, options)),
      list: (prefix, options) => this.#time("list", prefix, () => store.list(prefix, options)),
      commit: (operations, options) =>
        this.#time(operationOf(operations[0]), operations[0]?.key ?? "", () => store.commit(operations, options)),
      currentRevision: () => store.currentRevision(),
      watch: (prefix, options, listener) => store.watch(prefix, options, listener),
      compact: (revision) => store.compact(revision),
      statistics: () => store.statistics(),
      close: () => store.close(),
    };
  }

  family(endpoints: Endpoints): HistogramFamily {
    const names = new Map(Array.from(endpoints.all(), ({ storage }) => [storage.prefix, storage.name]));
    const samples = Array.from(this.#durations, ([key, histogram]) => {
      const [operation = "", prefix = ""] = key.split("\t");
      const { group = "", plural = prefix } = names.get(prefix) ?? {};
      return { labels: { group, operation, resource: plural }, ...histogram };
    });
    const help = "Latency of the store's operations in seconds, by operation and resource, for all drivers";
    return { name: "etcd_request_duration_seconds", help, type: "histogram", bounds: BOUNDS_S, samples };
  }

  /** Hot path: not async, which would cost every write two more promises. */
  #time<T>(operation: StoreOperation, key: string, run: () => Promise<T>): Promise<T> {
    const startMs = this.#clock.monotonic();
    const running = run();
    const observe = (): void => {
      this.#observe(`${operation}\t${resourcePrefixOf(key) ?? key}`, (this.#clock.monotonic() - startMs) / 1_000);
    };
    // Observed before the caller continues, whose handlers are added later.
    void running.then(observe, observe);
    return running;
  }

  #observe(key: string, seconds: number): void {
    let histogram = this.#durations.get(key);
    if (histogram === undefined) {
      if (this.#durations.size >= SERIES_MAX) return;
      histogram = { counts: Array.from({ length: BOUNDS_S.length + 1 }, () => 0), sum: 0, count: 0 };
      this.#durations.set(key, histogram);
    }
    let bucket = 0;
    while (bucket < BOUNDS_S.length && seconds > (BOUNDS_S[bucket] ?? Infinity)) bucket++;
    histogram.counts[bucket] = (histogram.counts[bucket] ?? 0) + 1;
    histogram.sum += seconds;
    histogram.count++;
  }
}

function operationOf(operation: Operation | undefined): StoreOperation {
  if (operation?.type === "delete") return "delete";
  return operation?.precondition?.is === "absent" ? "create" : "update";
}
