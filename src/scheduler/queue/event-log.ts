/**
 * What happened while Pods are in flight. A Pod that is put back has missed it: who refused it was not known then. So it is kept, and the
 * Pod is asked about all of it when it returns. A cycle that decides and puts back at once misses nothing and finds the log as it was.
 */
import type { ClusterEvent } from "../framework/cluster-event.ts";
import type { PodInfo } from "../framework/pod-info.ts";

/**
 * Events that are kept. A Pod may be held at permit for minutes while thousands of others are bound; when it outlasts the log it counts as
 * one that something has helped, which costs one cycle.
 */
const EVENTS_MAX = 4_096;

export interface LoggedEvent {
  readonly event: ClusterEvent;
  /** The Pods that it is about; absent: all. */
  readonly only?: (info: PodInfo) => boolean;
}

export class EventLog {
  #events: LoggedEvent[] = [];
  /** The number of the first of them. */
  #first = 0;

  /** The number that the next event gets. */
  get end(): number {
    return this.#first + this.#events.length;
  }

  append(event: LoggedEvent): void {
    if (this.#events.length >= EVENTS_MAX) this.#drop(EVENTS_MAX / 2);
    this.#events.push(event);
  }

  /** Nobody is in flight any more. */
  clear(): void {
    if (this.#events.length > 0) this.#drop(this.#events.length);
  }

  /** All from number `start` on, in order; undefined if some of them are not there any more. */
  since(start: number): readonly LoggedEvent[] | undefined {
    return start < this.#first ? undefined : this.#events.slice(start - this.#first);
  }

  #drop(count: number): void {
    this.#events = this.#events.slice(count);
    this.#first += count;
  }
}
