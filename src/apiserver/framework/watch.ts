/** The contract between a watch and the receiver of its events: an HTTP stream or an informer of this process. Types only. */
import type { StatusError } from "../../api/machinery/status-error.ts";
import type { StoredObject } from "./storage/storage.ts";

export type WatchEvent =
  | {
      readonly type: "ADDED" | "MODIFIED" | "DELETED";
      readonly object: StoredObject;
      /** Encodings of this event that all receivers share, by a key of the encoder's. Absent: there is no other receiver. */
      readonly shared?: Map<unknown, unknown>;
    }
  | { readonly type: "BOOKMARK"; readonly revision: number; readonly initialEventsEnd: boolean }
  /** The last event: why the watch cannot continue. */
  | { readonly type: "ERROR"; readonly error: StatusError };

export interface WatchReceiver {
  /**
   * Receives each event in order. A returned promise is backpressure: events from history wait for it. Live events do not wait; a receiver
   * that cannot keep up ends the watch itself.
   */
  event(event: WatchEvent): void | Promise<void>;
  /** Called exactly once, last: the watch ended cleanly, unless an ERROR event came before. */
  ended(): void;
}

/** A validated watch that can start. */
export interface WatchStart {
  /** Never calls the receiver before it returns. */
  start(receiver: WatchReceiver): RunningWatch;
}

export interface RunningWatch {
  /** Ends it immediately; the receiver's `ended` is called. A second call does nothing. */
  stop(): void;
}
