/**
 * Durations of attaching and detaching, with upstream's name and labels: from the creation or deletion of a VolumeAttachment to its success,
 * and to each failure that its attacher reports or that its silence is. They are lost with the process, as upstream's.
 */
import type { VolumeAttachment } from "../../api/generated/storage.k8s.io/v1.ts";
import type { HistogramDefinition, MetricSet } from "../../base/metrics/metric-set.ts";
import { ATTACH_TIMEOUT_MS } from "./reports.ts";

const OPERATION_SECONDS: HistogramDefinition = {
  type: "histogram",
  name: "storage_operation_duration_seconds",
  help: "Storage operation duration",
  bounds: [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 25, 50, 120, 300, 600],
};

interface Operation {
  readonly name: "volume_attach" | "volume_detach";
  readonly driver: string;
  /** The volume is one of an in-tree plugin. */
  readonly isMigrated: boolean;
  readonly startedMs: number;
  /** The last failure that was counted: when it happened, and why. */
  readonly failure?: string | undefined;
}

/** Of all volumes. An entry is removed when its operation succeeds or its attachment is gone. */
export class OperationMetrics {
  /** By volume, then by the name of the attachment. */
  readonly #begun = new Map<string, Map<string, Operation>>();

  begin(volume: string, attachment: string, operation: Pick<Operation, "name" | "driver" | "isMigrated">, nowMs: number): void {
    const known = this.#begun.get(volume) ?? new Map<string, Operation>();
    this.#begun.set(volume, known);
    // A repeated call continues the same operation.
    if (known.get(attachment)?.name !== operation.name) known.set(attachment, { ...operation, startedMs: nowMs });
  }

  /** Observes all attachments of a volume that there are. */
  observe(volume: string, attachments: readonly VolumeAttachment[], nowMs: number, metrics: MetricSet): void {
    const known = this.#begun.get(volume);
    if (known === undefined) return;
    for (const [name, operation] of known) {
      const attachment = attachments.find(({ metadata }) => metadata.name === name);
      const next = observed(operation, attachment, nowMs, metrics);
      if (next === undefined) known.delete(name);
      else known.set(name, next);
    }
    if (known.size === 0) this.#begun.delete(volume);
  }
}

/** The operation as it continues; undefined if it is over. */
function observed(
  operation: Operation,
  attachment: VolumeAttachment | undefined,
  nowMs: number,
  metrics: MetricSet,
): Operation | undefined {
  const isDetach = operation.name === "volume_detach";
  const durationMs = nowMs - operation.startedMs;
  const ended = (status: "success" | "fail-unknown"): void => {
    const { driver, name, isMigrated } = operation;
    const labels = { volume_plugin: `kubernetes.io/csi:${driver}`, operation_name: name, status, migrated: String(isMigrated) };
    metrics.observe(OPERATION_SECONDS, labels, durationMs / 1_000);
  };
  if (attachment === undefined) {
    if (isDetach) ended("success");
    return undefined;
  }
  if (!isDetach && attachment.status?.attached === true) {
    ended("success");
    return undefined;
  }
  const error = isDetach ? attachment.status?.detachError : attachment.status?.attachError;
  const failure = error === undefined ? undefined : `${error.time ?? ""} ${error.message ?? ""}`;
  const isFailed = failure !== undefined && failure !== operation.failure;
  if (!isFailed && durationMs < ATTACH_TIMEOUT_MS) return operation;
  ended("fail-unknown");
  return { ...operation, startedMs: nowMs, failure };
}
