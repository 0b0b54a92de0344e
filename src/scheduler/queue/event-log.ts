/**
 * Events during in-flight attempts. A requeued Pod has missed them, since its rejecting plugins were unknown then. So they are recorded,
 * and evaluated when the Pod is requeued. A cycle that decides and requeues at once misses nothing.
 */
import type { ClusterEvent } from "../framework/cluster-event.ts";
import type { PodInfo } from "../framework/pod-info.ts";

/**
 * Maximum recorded events. A Pod may wait at permit for minutes while thousands of others are bound; when it outlasts the log it counts as
 * helped, which costs one cycle.
 */
const EVENTS_MAX = 4_096;

export interface LoggedEvent {
  readonly event: ClusterEvent;
  /** The Pods that it concerns; absent: all. */
  readonly only?: (info: PodInfo) => boolean;
}

export class EventLog {
  #events: LoggedEvent[] = [];
  /** Number of the first one. */
  #first = 0;

  /** The number that the next event gets. */
  get end(): number {
    return this.#first + this.#events.length;
  }

  append(event: LoggedEvent): void {
    if (this.#events.length >= EVENTS_MAX) this.#drop(EVENTS_MAX / 2);
    this.#events.push(event);
  }

  /** No Pod is in flight. */
  clear(): void {
    if (this.#events.length > 0) this.#drop(this.#events.length);
  }

  /** All from number `start` on, in order; undefined if some of them were dropped. */
  since(start: number): readonly LoggedEvent[] | undefined {
    return start < this.#first ? undefined : this.#events.slice(start - this.#first);
  }

  #drop(count: number): void {
    this.#events = this.#events.slice(count);
    this.#first += count;
  }
}
