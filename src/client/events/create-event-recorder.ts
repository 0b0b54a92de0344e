/**
 * Writes Events in the background, one after the other, in the order of recording. An unreachable server delays the queue by at most two
 * minutes per Event; Events that do not fit into the queue are dropped and counted. Not here: which Event represents what was recorded
 * (core-events.ts, series-events.ts).
 */
import type { KubeObject } from "../../api/machinery/object.ts";
import { isReason, isStatusError, type Reason } from "../../api/machinery/status-error.ts";
import { onAbort } from "../../base/abort.ts";
import type { Clock } from "../../base/clock.ts";
import { Fifo } from "../../base/fifo.ts";
import type { LogFields, Logger } from "../../base/logger.ts";
import type { Random } from "../../base/random.ts";
import type { Client } from "../client.ts";
import { CoreEvents } from "./core-events.ts";
import type { EventRecorder, RecordedEvent } from "./event-recorder.ts";
import { causeOfEvent, EventNames, referenceTo, type EventForm, type EventWrite, type Happening } from "./event-write.ts";
import { SeriesEvents } from "./series-events.ts";

/** Maximum number of recorded Events that are not written yet. Upstream's value. */
export const WAITING_MAX = 1_000;

/** Upstream's values: attempts per Event, and the delay between them. */
const TRIES_MAX = 12;
const RETRY_AFTER_MS = 10_000;

/** Maximum time that stopping waits for the last Events: they are informational and must not delay a shutdown further. */
export const LAST_EVENTS_MS = 2_000;

/** Responses after which a retry may succeed. All others reject the Event itself. */
const PASSING: readonly Reason[] = ["ServiceUnavailable", "TooManyRequests", "Timeout", "ServerTimeout"];

/** Cause with which the server rejects new objects in a terminating namespace. */
const NAMESPACE_TERMINATING = "NamespaceTerminating";

export interface EventRecorderOptions {
  readonly client: Client;
  /** Reporting component: "replicaset-controller". */
  readonly component: string;
  /** Machine of the component, if it matters. */
  readonly instance?: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** "core": as upstream's controllers and kubelet; "events.k8s.io": as its scheduler. Default: "core". */
  readonly api?: "core" | "events.k8s.io";
  /** Aborting it stops all writing, including queued Events. Must not be aborted yet. */
  readonly signal?: AbortSignal;
}

export function createEventRecorder(options: EventRecorderOptions): EventRecorder {
  return new Recorder(options);
}

type Waiting =
  | { readonly is: "happening"; readonly happening: Happening }
  | { readonly is: "write"; readonly write: EventWrite }
  /** Resolves when all earlier ones are done. */
  | { readonly is: "mark"; readonly reached: () => void };

class Recorder implements EventRecorder {
  readonly #client: Client;
  readonly #component: string;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #log: Logger;
  readonly #names: EventNames;
  readonly #form: EventForm;
  readonly #waiting = new Fifo<Waiting>();
  readonly #stop = new AbortController();
  #isWriting = false;
  #isClosing = false;
  #dropped = 0;
  #disposal: Promise<void> | undefined;

  constructor({ client, component, instance, clock, random, log, api = "core", signal }: EventRecorderOptions) {
    if (signal !== undefined) onAbort(signal, () => this.#stop.abort(signal.reason));
    this.#client = client.with({ signal: this.#stop.signal });
    this.#component = component;
    this.#clock = clock;
    this.#random = random.derive(`events of ${component}`);
    this.#log = log.with({ events: component });
    this.#names = new EventNames(this.#random.derive("names"));
    const common = { component, ...(instance === undefined ? {} : { instance }), clock };
    this.#form = api === "core" ? new CoreEvents({ ...common, names: this.#names }) : new SeriesEvents(common);
    for (const { everyMs, due } of this.#form.chores) void this.#repeat(everyMs, due);
  }

  get dropped(): number {
    return this.#dropped;
  }

  record(about: KubeObject, event: RecordedEvent): void {
    if (this.#isClosing || this.#waiting.length >= WAITING_MAX) {
      this.#drop("Dropped an event: the queue is full or the recorder has stopped", { reason: event.reason, message: event.message });
      return;
    }
    try {
      this.#add({ is: "happening", happening: this.#happening(about, event) });
    } catch (error) {
      this.#drop("Dropped an event: its subject is not an object", { reason: event.reason, message: event.message, error });
    }
  }

  flushed(): Promise<void> {
    if (!this.#isWriting) return Promise.resolve();
    return new Promise((reached) => this.#waiting.push({ is: "mark", reached }));
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#disposal ??= this.#close();
    return this.#disposal;
  }

  async #close(): Promise<void> {
    this.#isClosing = true;
    const flushed = this.#flushLast();
    const inTime = new AbortController();
    void flushed.then(() => inTime.abort());
    await this.#clock.sleep(LAST_EVENTS_MS, inTime.signal).catch(() => undefined);
    // From here on every attempt ends at once, so that the rest is dropped and counted.
    this.#stop.abort(new Error("The event recorder has stopped"));
    await flushed;
  }

  async #flushLast(): Promise<void> {
    await this.flushed();
    for (const write of this.#form.last()) this.#add({ is: "write", write });
    await this.flushed();
  }

  #happening(about: KubeObject, event: RecordedEvent): Happening {
    const timeMs = this.#clock.now();
    const name = this.#names.next(about.metadata.name, timeMs);
    const related = event.related === undefined ? {} : { related: referenceTo(event.related) };
    const part = event.fieldPath === undefined ? {} : { fieldPath: event.fieldPath };
    return { about: { ...referenceTo(about), ...part }, ...related, event, timeMs, name };
  }

  // ── the queue ──────────────────────────────────────────────────────────────────────────────────────

  #add(waiting: Waiting): void {
    this.#waiting.push(waiting);
    if (this.#isWriting) return;
    this.#isWriting = true;
    // Deferred, so that the caller's own work comes first.
    this.#clock.soon(() => void this.#writeAll());
  }

  async #writeAll(): Promise<void> {
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) await this.#handle(next);
    this.#isWriting = false;
  }

  async #handle(waiting: Waiting): Promise<void> {
    if (waiting.is === "mark") return waiting.reached();
    const write = waiting.is === "write" ? waiting.write : this.#form.next(waiting.happening);
    if (write === "silenced") this.#drop("Silenced an event: its source delivers too much about one object", {});
    else if (write !== undefined) await this.#writeOrDrop(write);
  }

  async #writeOrDrop(write: EventWrite): Promise<void> {
    for (let tries = 1; ; tries++) {
      const error = await this.#try(write);
      if (error === undefined) return;
      // A lost response: the Event was written nevertheless.
      if (tries > 1 && write.change === undefined && isReason(error, "AlreadyExists")) return;
      if (!isPassing(error, write) || tries >= TRIES_MAX || !(await this.#rest(tries))) {
        this.#drop(
          "Dropped an event: it could not be written",
          { event: write.object.metadata.name, tries, error },
          this.#isExpected(error),
        );
        return;
      }
    }
  }

  /** The failure. */
  async #try({ kind, object, change }: EventWrite): Promise<unknown> {
    const { namespace, name = "" } = object.metadata;
    const client = this.#client.with({ cause: causeOfEvent(object, this.#component) });
    try {
      if (change !== undefined && (await patched(client, { kind, object, change }, { namespace, name }))) return undefined;
      await client.create(kind, object);
      return undefined;
    } catch (error) {
      return error;
    }
  }

  /** False: stopped meanwhile. */
  async #rest(tries: number): Promise<boolean> {
    // The first delay has full jitter, so that clients that lost the server together do not return together.
    const delayMs = tries === 1 ? RETRY_AFTER_MS * this.#random.fraction() : RETRY_AFTER_MS;
    return this.#clock.sleep(delayMs, this.#stop.signal).then(
      () => true,
      () => false,
    );
  }

  /** Not logged: expected while stopping and in terminating namespaces. */
  #isExpected(error: unknown): boolean {
    const { causes = [], kind } = (isStatusError(error) && error.details) || {};
    const isNamespaceMissing = isReason(error, "NotFound") && kind === "namespaces";
    return this.#isClosing || isNamespaceMissing || causes.some(({ reason }) => reason === NAMESPACE_TERMINATING);
  }

  #drop(sentence: string, fields: LogFields, isExpected = true): void {
    this.#dropped++;
    this.#log[isExpected ? "debug" : "warn"](sentence, { ...fields, dropped: this.#dropped });
  }

  async #repeat(everyMs: number, due: () => Iterable<EventWrite>): Promise<void> {
    const { signal } = this.#stop;
    const slept = () =>
      this.#clock.sleep(everyMs, signal).then(
        () => true,
        () => false,
      );
    while ((await slept()) && !this.#isClosing) for (const write of due()) this.#add({ is: "write", write });
  }
}

/** False: the Event no longer exists. */
async function patched(
  client: Client,
  { kind, change }: EventWrite & Required<Pick<EventWrite, "change">>,
  key: { namespace: string | undefined; name: string },
): Promise<boolean> {
  try {
    await client.patch(kind, key, { type: "strategic", value: change });
    return true;
  } catch (error) {
    if (isReason(error, "NotFound")) return false;
    throw error;
  }
}

function isPassing(error: unknown, { change }: EventWrite): boolean {
  if (!isStatusError(error)) return false;
  // It did not exist when patched and existed when created: another process created it in between, and it can be patched now.
  if (change !== undefined && error.reason === "AlreadyExists") return true;
  return PASSING.includes(error.reason);
}
