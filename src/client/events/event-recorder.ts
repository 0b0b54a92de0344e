/**
 * Records Events about objects. Types only. Recording never waits and never fails: what cannot be written is retried a few times, then
 * dropped and counted, since no work may depend on it. Equal Events are counted (or become a series), similar ones are aggregated, and a
 * source that emits too many about one object is rate-limited, with upstream's limits.
 */
import type { KubeObject } from "../../api/machinery/object.ts";

export interface RecordedEvent {
  readonly type: "Normal" | "Warning";
  /** One word, machine-readable: "SuccessfulCreate". */
  readonly reason: string;
  /** A sentence, human-readable. */
  readonly message: string;
  /** The action taken; only events.k8s.io shows it. */
  readonly action?: string;
  /** Part of the object that it concerns: "spec.containers{web}". */
  readonly fieldPath?: string;
  /** A second object that it concerns. */
  readonly related?: KubeObject;
}

export interface EventRecorder extends AsyncDisposable {
  record(about: KubeObject, event: RecordedEvent): void;
  /** Resolves when everything recorded so far is written or dropped. */
  flushed(): Promise<void>;
  /** Number of dropped Events, by cause. */
  readonly dropped: number;
}
