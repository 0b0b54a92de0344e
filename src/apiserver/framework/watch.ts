/**
 * The contract between a watch and whoever gets its events: an HTTP stream or an informer of this process. Types and words only.
 */
import type { StatusError } from "../../api/machinery/status-error.ts";
import type { StoredObject } from "./storage/storage.ts";

export type WatchEvent =
  | {
      readonly type: "ADDED" | "MODIFIED" | "DELETED";
      readonly object: StoredObject;
      /** What was made of this event once can be kept here for all who get it, by a key of the maker's. Absent: nobody else gets it. */
      readonly shared?: Map<unknown, unknown>;
    }
  | { readonly type: "BOOKMARK"; readonly revision: number; readonly initialEventsEnd: boolean }
  /** The last event: why the watch cannot go on. */
  | { readonly type: "ERROR"; readonly error: StatusError };

export interface WatchReceiver {
  /**
   * Gets each event in order. A promise means "not more for now": what is read from history waits for it. Live events do not wait;
   * a receiver that cannot keep up ends the watch itself.
   */
  event(event: WatchEvent): void | Promise<void>;
  /** Called exactly once, last: the watch is over, cleanly, unless an ERROR came before. */
  ended(): void;
}

/** A watch that was checked and can begin. */
export interface WatchStart {
  /** Never calls the receiver before it returned. */
  start(receiver: WatchReceiver): RunningWatch;
}

export interface RunningWatch {
  /** Ends it at once; the receiver's `ended` is called. A second call does nothing. */
  stop(): void;
}
