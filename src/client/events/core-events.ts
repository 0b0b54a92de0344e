/**
 * Events of core/v1, as upstream's controllers write them. Three rules keep a busy cluster readable, with upstream's limits:
 * - an event equal to an earlier one increments that one's count;
 * - from the tenth event within ten minutes that differs only in its message, they are aggregated into one;
 * - a source with more than 25 events about one object is rate-limited to one every five minutes. Each cache is limited to 4,096 entries.
 *   Not here: writing (create-event-recorder.ts).
 */
import type { Event, EventSource, ObjectReference } from "../../api/generated/core/v1.ts";
import { events } from "../../api/core/v1/event.ts";
import { formatTime } from "../../api/machinery/time.ts";
import type { Clock } from "../../base/clock.ts";
import { Lru } from "../../base/lru.ts";
import { TokenBucket } from "../../base/rate-limiter.ts";
import type { Draft } from "../client.ts";
import { keyOf, namespaceOf, CACHED_MAX, type EventForm, type EventNames, type EventWrite, type Happening } from "./event-write.ts";

/** Aggregation: after this many events that differ only in their message, with at most this interval between two. */
const SIMILAR_MAX = 10;
const SIMILAR_WITHIN_MS = 600_000;
const SIMILAR_PREFIX = "(combined from similar events): ";

/** Spam filter: burst per source and object, and the interval after which one more is allowed. */
const RECORDED_BURST = 25;
const RECORDED_EVERY_SECONDS = 300;

export interface CoreEventsOptions {
  readonly component: string;
  readonly instance?: string;
  readonly clock: Clock;
  readonly names: EventNames;
}

interface Similar {
  /** Never as many as SIMILAR_MAX between two calls. */
  readonly messages: Set<string>;
  lastMs: number;
}

/** Of the Event that represents all equal ones. */
interface Written {
  readonly name: string;
  readonly count: number;
  readonly firstTimestamp: string;
}

export class CoreEvents implements EventForm {
  readonly chores = [];
  readonly #options: CoreEventsOptions;
  readonly #source: EventSource;
  readonly #similar = new Lru<string, Similar>({ max: CACHED_MAX });
  readonly #written = new Lru<string, Written>({ max: CACHED_MAX });
  readonly #allowances = new Lru<string, TokenBucket>({ max: CACHED_MAX });

  constructor(options: CoreEventsOptions) {
    this.#options = options;
    const { component, instance } = options;
    this.#source = { component, ...(instance === undefined ? {} : { host: instance }) };
  }

  next(happening: Happening): EventWrite | "silenced" {
    // Counted before it may be dropped: the next write shows the total.
    const write = this.#counted(this.#together(happening));
    return this.#allowanceOf(happening).takeNow() ? write : "silenced";
  }

  last(): Iterable<EventWrite> {
    return [];
  }

  /** The event itself, or the aggregate that represents it, with its cache key. */
  #together(happening: Happening): { readonly key: string; readonly event: Draft<Event> } {
    const { about, event } = happening;
    const similarKey = keyOf([...this.#objectKey(about), event.type, event.reason]);
    if (this.#countSimilar(similarKey, event.message) < SIMILAR_MAX) {
      const key = keyOf([...this.#objectKey(about), about.fieldPath, event.type, event.reason, event.message]);
      return { key, event: this.#event(happening) };
    }
    const { clock, names } = this.#options;
    const timeMs = clock.now();
    const name = names.next(about.name ?? "", timeMs);
    const message = SIMILAR_PREFIX + event.message;
    // Upstream does not name the reporting component in these.
    const noReporter = { reportingComponent: "", reportingInstance: "" };
    return { key: similarKey, event: { ...this.#event({ ...happening, timeMs, name }), message, ...noReporter } };
  }

  #countSimilar(key: string, message: string): number {
    const nowMs = this.#options.clock.monotonic();
    const known = this.#similar.get(key);
    const similar = known !== undefined && nowMs - known.lastMs <= SIMILAR_WITHIN_MS ? known : { messages: new Set<string>(), lastMs: 0 };
    if (similar !== known) this.#similar.set(key, similar);
    similar.lastMs = nowMs;
    similar.messages.add(message);
    const { size } = similar.messages;
    if (size >= SIMILAR_MAX) for (const oldest of [...similar.messages].slice(0, 1)) similar.messages.delete(oldest);
    return size;
  }

  #counted({ key, event }: { readonly key: string; readonly event: Draft<Event> }): EventWrite {
    const { metadata, firstTimestamp: time = "", lastTimestamp = "", message = "" } = event;
    const before = this.#written.get(key) ?? { name: metadata.name ?? "", count: 0, firstTimestamp: time };
    const { name, firstTimestamp } = before;
    const count = before.count + 1;
    this.#written.set(key, { name, count, firstTimestamp });
    const object: Draft<Event> = { ...event, metadata: { ...metadata, name }, firstTimestamp, count };
    return { kind: events, object, ...(count === 1 ? {} : { change: { count, lastTimestamp, message } }) };
  }

  #allowanceOf({ about, event }: Happening): TokenBucket {
    const key = keyOf([...this.#objectKey(about), event.type]);
    const known = this.#allowances.get(key);
    if (known !== undefined) return known;
    const bucket = new TokenBucket({ clock: this.#options.clock, perSecond: 1 / RECORDED_EVERY_SECONDS, burst: RECORDED_BURST });
    this.#allowances.set(key, bucket);
    return bucket;
  }

  /** The source is the same for all. The resourceVersion is excluded: a repeated event is about a newer version. */
  #objectKey({ kind, namespace, name, uid, apiVersion }: ObjectReference): (string | undefined)[] {
    return [kind, namespace, name, uid, apiVersion];
  }

  #event({ about, event, timeMs, name }: Happening): Draft<Event> {
    const { component, instance = "" } = this.#options;
    const time = formatTime(timeMs);
    return {
      apiVersion: "v1",
      kind: "Event",
      metadata: { name, namespace: namespaceOf(about) },
      involvedObject: about,
      reason: event.reason,
      message: event.message,
      source: this.#source,
      firstTimestamp: time,
      lastTimestamp: time,
      count: 1,
      type: event.type,
      reportingComponent: component,
      reportingInstance: instance,
    };
  }
}
