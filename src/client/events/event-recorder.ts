/**
 * Tells people what happened to an object, as Events. Only types and words are here.
 * To tell never waits and never fails: what cannot be written is tried a few times, then dropped and counted, since nobody's work may
 * depend on it. Equal events become one with a count (or a series), many similar ones are put together, and a source that talks too much
 * about one object is silenced for a while, by upstream's numbers.
 */
import type { KubeObject } from "../../api/machinery/object.ts";

export interface RecordedEvent {
  readonly type: "Normal" | "Warning";
  /** One word, for programs: "SuccessfulCreate". */
  readonly reason: string;
  /** A sentence, for people. */
  readonly message: string;
  /** What was done; only events.k8s.io shows it. */
  readonly action?: string;
  /** Which part of the object it is about: "spec.containers{web}". */
  readonly fieldPath?: string;
  /** Another object that it is about. */
  readonly related?: KubeObject;
}

export interface EventRecorder extends AsyncDisposable {
  record(about: KubeObject, event: RecordedEvent): void;
  /** Resolves when what was recorded so far is written or dropped. */
  flushed(): Promise<void>;
  /** How many were dropped, and why nobody will see them. */
  readonly dropped: number;
}
