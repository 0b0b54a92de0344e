/**
 * Events of events.k8s.io/v1, as upstream's newer recorder writes them. The second of the same kind makes the first one a series; those
 * after it are only counted. The count is written every half an hour, so that the Event stays, and when nothing was added for six minutes,
 * with which the series is over. Not here: writing (create-event-recorder.ts).
 */
import type { Event } from "../../api/generated/events.k8s.io/v1.ts";
import { formatMicroTime } from "../../api/machinery/time.ts";
import type { Clock } from "../../base/clock.ts";
import { Lru } from "../../base/lru.ts";
import type { Draft, ResourceKind } from "../client.ts";
import { keyOf, namespaceOf, REMEMBERED_MAX, type EventForm, type EventWrite, type Happening } from "./event-write.ts";
import type { ObjectReference } from "../../api/generated/core/v1.ts";

const REFRESH_EVERY_MS = 30 * 60_000;
const FINISH_AFTER_MS = 6 * 60_000;

/** The second view of the Events of core/v1. */
const eventsV1: ResourceKind<Event> = {
  kind: "Event",
  plural: "events",
  scope: "Namespaced",
  storage: { group: "events.k8s.io", version: "v1" },
};

export interface SeriesEventsOptions {
  readonly component: string;
  readonly instance?: string;
  readonly clock: Clock;
}

/** What was told once or more. */
interface Told {
  readonly event: Draft<Event>;
  count: number;
  lastMs: number;
  lastTime: string;
  /** The count that was last handed out to be written. */
  writtenCount: number;
}

export class SeriesEvents implements EventForm {
  readonly chores = [
    { everyMs: REFRESH_EVERY_MS, due: () => this.#refresh() },
    { everyMs: FINISH_AFTER_MS, due: () => this.#finish() },
  ];
  readonly #options: SeriesEventsOptions;
  readonly #told = new Lru<string, Told>({ max: REMEMBERED_MAX });

  constructor(options: SeriesEventsOptions) {
    this.#options = options;
  }

  next(happening: Happening): EventWrite | undefined {
    const { about, related, event, timeMs } = happening;
    const key = keyOf([event.type, event.action, event.reason, ...membersOf(about), ...membersOf(related)]);
    const time = formatMicroTime(timeMs);
    const known = this.#told.get(key);
    const told = known ?? { event: this.#event(happening, time), count: 0, lastMs: 0, lastTime: time, writtenCount: 0 };
    if (known === undefined) this.#told.set(key, told);
    told.count++;
    told.lastMs = this.#options.clock.monotonic();
    told.lastTime = time;
    return told.count <= 2 ? writeOf(told) : undefined;
  }

  last(): Iterable<EventWrite> {
    return [...this.#told.entries()].filter(([, told]) => told.writtenCount < told.count).map(([, told]) => writeOf(told));
  }

  #refresh(): EventWrite[] {
    return [...this.#told.entries()].filter(([, { count }]) => count > 1).map(([, told]) => writeOf(told));
  }

  #finish(): EventWrite[] {
    const sinceMs = this.#options.clock.monotonic() - FINISH_AFTER_MS;
    const over = [...this.#told.entries()].filter(([, { lastMs }]) => lastMs < sinceMs);
    for (const [key] of over) this.#told.delete(key);
    return over.filter(([, { count }]) => count > 1).map(([, told]) => writeOf(told));
  }

  #event({ about, related, event, name }: Happening, eventTime: string): Draft<Event> {
    const { component, instance } = this.#options;
    return {
      apiVersion: "events.k8s.io/v1",
      kind: "Event",
      metadata: { name, namespace: namespaceOf(about) },
      eventTime,
      reportingController: component,
      // Upstream's form, and the server asks for one.
      reportingInstance: instance === undefined ? component : `${component}-${instance}`,
      // The server asks for one; who names none has done what the reason says.
      action: event.action ?? event.reason,
      reason: event.reason,
      regarding: about,
      ...(related === undefined ? {} : { related }),
      note: event.message,
      type: event.type,
    };
  }
}

function writeOf(told: Told): EventWrite {
  const { event, count, lastTime } = told;
  told.writtenCount = count;
  if (count === 1) return { kind: eventsV1, object: event };
  const series = { count, lastObservedTime: lastTime };
  const object: Draft<Event> = { ...event, series };
  return { kind: eventsV1, object, change: { series } };
}

/** All of them: what happens to a newer version of an object is a new event. */
function membersOf(reference: ObjectReference | undefined): (string | undefined)[] {
  const { kind, namespace, name, uid, apiVersion, resourceVersion } = reference ?? {};
  return [kind, namespace, name, uid, apiVersion, resourceVersion];
}
