/**
 * Events of events.k8s.io/v1, as upstream's newer recorder writes them. The second Event of a kind turns the first into a series; later
 * ones are only counted. The count is written every half hour, which keeps the Event from expiring, and when nothing was added for six
 * minutes, which ends the series. Not here: writing (create-event-recorder.ts).
 */
import type { Event } from "../../api/generated/events.k8s.io/v1.ts";
import { formatMicroTime } from "../../api/machinery/time.ts";
import type { Clock } from "../../base/clock.ts";
import { Lru } from "../../base/lru.ts";
import type { Draft, ResourceKind } from "../client.ts";
import { keyOf, namespaceOf, CACHED_MAX, type EventForm, type EventWrite, type Happening } from "./event-write.ts";
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

/** An event recorded once or more. */
interface Recorded {
  readonly event: Draft<Event>;
  count: number;
  lastMs: number;
  lastTime: string;
  /** The count last handed out for writing. */
  writtenCount: number;
}

export class SeriesEvents implements EventForm {
  readonly chores = [
    { everyMs: REFRESH_EVERY_MS, due: () => this.#refresh() },
    { everyMs: FINISH_AFTER_MS, due: () => this.#finish() },
  ];
  readonly #options: SeriesEventsOptions;
  readonly #recorded = new Lru<string, Recorded>({ max: CACHED_MAX });

  constructor(options: SeriesEventsOptions) {
    this.#options = options;
  }

  next(happening: Happening): EventWrite | undefined {
    const { about, related, event, timeMs } = happening;
    const key = keyOf([event.type, event.action, event.reason, ...membersOf(about), ...membersOf(related)]);
    const time = formatMicroTime(timeMs);
    const known = this.#recorded.get(key);
    const recorded = known ?? { event: this.#event(happening, time), count: 0, lastMs: 0, lastTime: time, writtenCount: 0 };
    if (known === undefined) this.#recorded.set(key, recorded);
    recorded.count++;
    recorded.lastMs = this.#options.clock.monotonic();
    recorded.lastTime = time;
    return recorded.count <= 2 ? writeOf(recorded) : undefined;
  }

  last(): Iterable<EventWrite> {
    return [...this.#recorded.entries()]
      .filter(([, recorded]) => recorded.writtenCount < recorded.count)
      .map(([, recorded]) => writeOf(recorded));
  }

  #refresh(): EventWrite[] {
    return [...this.#recorded.entries()].filter(([, { count }]) => count > 1).map(([, recorded]) => writeOf(recorded));
  }

  #finish(): EventWrite[] {
    const sinceMs = this.#options.clock.monotonic() - FINISH_AFTER_MS;
    const over = [...this.#recorded.entries()].filter(([, { lastMs }]) => lastMs < sinceMs);
    for (const [key] of over) this.#recorded.delete(key);
    return over.filter(([, { count }]) => count > 1).map(([, recorded]) => writeOf(recorded));
  }

  #event({ about, related, event, name }: Happening, eventTime: string): Draft<Event> {
    const { component, instance } = this.#options;
    return {
      apiVersion: "events.k8s.io/v1",
      kind: "Event",
      metadata: { name, namespace: namespaceOf(about) },
      eventTime,
      reportingController: component,
      // Upstream's form; the field is required.
      reportingInstance: instance === undefined ? component : `${component}-${instance}`,
      // Required by the server; defaults to the reason.
      action: event.action ?? event.reason,
      reason: event.reason,
      regarding: about,
      ...(related === undefined ? {} : { related }),
      note: event.message,
      type: event.type,
    };
  }
}

function writeOf(recorded: Recorded): EventWrite {
  const { event, count, lastTime } = recorded;
  recorded.writtenCount = count;
  if (count === 1) return { kind: eventsV1, object: event };
  const series = { count, lastObservedTime: lastTime };
  const object: Draft<Event> = { ...event, series };
  return { kind: eventsV1, object, change: { series } };
}

/** All fields: an event about a newer version of an object is a new one. */
function membersOf(reference: ObjectReference | undefined): (string | undefined)[] {
  const { kind, namespace, name, uid, apiVersion, resourceVersion } = reference ?? {};
  return [kind, namespace, name, uid, apiVersion, resourceVersion];
}
