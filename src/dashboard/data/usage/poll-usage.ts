/** Reads the usage of nodes or Pods again and again into a history. */
import type { StatusError } from "../../../api/machinery/status-error.ts";
import type { Clock } from "../../../base/clock.ts";
import type { ClusterApi } from "../cluster-api.ts";
import { textAt } from "../fields.ts";
import type { UsageHistory } from "./usage-history.ts";
import { usageOf } from "./usage.ts";

export const METRICS_GROUP = "metrics.k8s.io";
/** Kubelets measure every 10 s and less often. */
const INTERVAL_MS = 10_000;

export interface PollOptions {
  readonly api: ClusterApi;
  readonly clock: Clock;
  /** Of a list, or of one object. */
  readonly path: string;
  readonly history: UsageHistory;
  readonly signal: AbortSignal;
  /** With the error if the usage cannot be read. */
  changed(error: StatusError | undefined): void;
}

interface Metrics {
  readonly metadata?: unknown;
  readonly timestamp?: string;
  readonly items?: readonly Metrics[];
}

/** Names of the history are NAMESPACE/NAME. */
export async function pollUsage({ api, clock, path, history, signal, changed }: PollOptions): Promise<void> {
  while (!signal.aborted) {
    try {
      const read = await api.get<Metrics>(path, signal);
      for (const metrics of read.items ?? [read]) {
        const name = `${textAt(metrics, "metadata", "namespace")}/${textAt(metrics, "metadata", "name")}`;
        history.add(name, { atMs: Date.parse(metrics.timestamp ?? ""), ...usageOf(metrics) });
      }
      changed(undefined);
    } catch (error) {
      if (signal.aborted) return;
      changed(error as StatusError);
    }
    await clock.sleep(INTERVAL_MS, signal).catch(() => undefined);
  }
}
