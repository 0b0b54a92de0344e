/**
 * Keeps a sink equal to the server's state through every failure: first everything (`sendInitialEvents`, or a paged list where the server
 * does not support it), then every change; when the stream ends, from the last resourceVersion seen; when the server has compacted it,
 * everything again, to be compared.
 *
 * Known state is never rolled back. A server that lags behind another is asked again for what is not older; one that keeps reporting a too
 * large resourceVersion has lost its history (a store restored from a backup), and then its state is adopted.
 */
import type { KubeObject } from "../../api/machinery/object.ts";
import { compareResourceVersions, isResourceVersion } from "../../api/machinery/resource-version.ts";
import { isReason, isStatusError } from "../../api/machinery/status-error.ts";
import type { RequestOptions, Transport, TransportEvent } from "../../api/machinery/transport.ts";
import { Backoff } from "../../base/backoff.ts";
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import type { Random } from "../../base/random.ts";
import type { ResourceKind } from "../client.ts";
import type { InformerScope } from "./informer.ts";
import { listAll } from "./list-all.ts";
import { ObjectStore } from "./object-store.ts";
import { watchOnce, type WatchEnd } from "./watch-session.ts";
import { isWellFormed } from "./well-formed.ts";

/** The receiver. It ignores what is not newer than its state. */
export interface ReflectorSink {
  /** The resourceVersion up to which its content is complete; "": nothing yet. */
  readonly known: string;
  put(object: KubeObject): void;
  remove(object: KubeObject): void;
  /** Nothing else has changed up to here. */
  reach(revision: string): void;
  /** All objects at `revision`, in order. A new history starts over: its versions may be smaller. */
  replace(objects: readonly KubeObject[], revision: string, options: { readonly isNewHistory: boolean }): void;
}

export interface ReflectorOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly kind: ResourceKind;
  readonly scope: InformerScope;
  readonly sink: ReflectorSink;
}

/** Backoff after failures; as upstream's. */
const RETRY_DELAY = { minMs: 800, maxMs: 30_000 };

/** Watch timeout, plus up to the same as jitter, as upstream's, so that watches do not all return at once. */
const WATCH_MIN_SECONDS = 300;

/** A watch that delivered nothing and ended within this time counts as failed: resuming at once would be a busy loop. */
const LASTED_MS = 1_000;

/**
 * How often a server may report a too large resourceVersion before it is believed. With the delays in between 12 to 27 s, longer than any
 * lag.
 */
const BEHIND_MAX = 10;
/** Maximum delay in between, however long the server was unreachable before: it responds, and others wait for its state. */
const BEHIND_DELAY_MAX_MS = 3_000;

/** Outcome of one attempt. */
type Attempt = WatchEnd | { readonly is: "listed" };

export class Reflector {
  readonly #options: ReflectorOptions;
  readonly #backoff: Backoff;
  /** Whether the server supports `sendInitialEvents`; until it rejects it. */
  #streams = true;
  /** The sink can resume from its state; otherwise it needs everything. */
  #canResume = false;
  /** Since when, and from which version on, changes are received. */
  #followed = { sinceMs: 0, from: "" };
  /** Consecutive responses older than the known state. */
  #behind = 0;

  constructor(options: ReflectorOptions) {
    this.#options = options;
    this.#backoff = new Backoff({ ...RETRY_DELAY, random: options.random });
  }

  /** Resolves when the signal is aborted, and never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, sink } = this.#options;
    while (!signal.aborted) {
      const [resumed, streamed] = [this.#canResume, this.#streams];
      this.#followed = { sinceMs: clock.monotonic(), from: sink.known };
      const attempt = await this.#try(signal);
      if (signal.aborted) return;
      const hasFollowed = this.#hasFollowed(attempt);
      if (hasFollowed) this.#backoff.reset();
      if (hasFollowed) this.#behind = 0;
      // A repeated full list is not a success if each watch after it fails: then the backoff keeps growing.
      const hasAll = !resumed && this.#canResume;
      const retryAfterMs = this.#learn(attempt, { resumed });
      const triesOtherwise = streamed && !this.#streams;
      if ((hasFollowed || hasAll || triesOtherwise) && retryAfterMs === 0) continue;
      const longestMs = this.#behind > 0 ? BEHIND_DELAY_MAX_MS : Infinity;
      const delayMs = Math.max(Math.min(this.#backoff.next(), longestMs), retryAfterMs);
      this.#report(attempt, delayMs);
      await clock.sleep(delayMs, signal).catch(() => undefined);
    }
  }

  /** Changes came, or none for a while, as they should. */
  #hasFollowed(attempt: Attempt): boolean {
    const { clock, sink } = this.#options;
    if (!this.#canResume || attempt.is === "listed") return false;
    // Not every server sends bookmarks: silence alone is not a failure.
    const isQuiet = (attempt.is === "ended" || attempt.is === "silent") && clock.monotonic() - this.#followed.sinceMs >= LASTED_MS;
    return isQuiet || sink.known !== this.#followed.from;
  }

  async #try(signal: AbortSignal): Promise<Attempt> {
    if (this.#canResume) return this.#watch(signal, { resourceVersion: this.#options.sink.known });
    if (this.#streams) return this.#watch(signal, { ...this.#notOlder(), sendInitialEvents: true, resourceVersionMatch: "NotOlderThan" });
    return this.#list(signal);
  }

  /** What to change for the next attempt; returns the delay that the server asks for. */
  #learn(attempt: Attempt, { resumed }: { readonly resumed: boolean }): number {
    const isInitialStream = !resumed && this.#streams && !this.#canResume;
    switch (attempt.is) {
      case "failed": {
        const { error } = attempt;
        if (isForgotten(error) || isFromTheFuture(error)) this.#cannotResume({ isBehind: !resumed || isFromTheFuture(error) });
        if (isInitialStream && isNotUnderstood(error)) this.#streams = false;
        return retryAfterMsOf(error);
      }
      case "rejected":
        this.#cannotResume({ isBehind: attempt.why === "older" });
        return 0;
      case "silent":
        // A server without support for initial events never sends their end.
        if (isInitialStream) this.#streams = false;
        return 0;
      case "ended":
        // It was accepted, so the server has reached the requested version, if there was one.
        if (!this.#takesAnything) this.#behind = 0;
        return 0;
      default:
        return 0;
    }
  }

  #cannotResume({ isBehind }: { readonly isBehind: boolean }): void {
    this.#canResume = false;
    if (isBehind && this.#options.sink.known !== "") this.#behind++;
  }

  /** Nothing older than the known state; or anything, if the server has nothing that recent. */
  #notOlder(): RequestOptions {
    const { known } = this.#options.sink;
    return known === "" || this.#takesAnything ? {} : { resourceVersion: known };
  }

  get #takesAnything(): boolean {
    return this.#behind >= BEHIND_MAX;
  }

  async #list(signal: AbortSignal): Promise<Attempt> {
    const { transport, clock } = this.#options;
    try {
      const { objects, revision } = await listAll({ transport, clock, signal, request: this.#request(this.#notOlder()) });
      return this.#take(objects, revision) ?? { is: "listed" };
    } catch (error) {
      return { is: "failed", error };
    }
  }

  #watch(signal: AbortSignal, options: RequestOptions): Promise<WatchEnd> {
    const { transport, clock, random } = this.#options;
    const timeoutSeconds = WATCH_MIN_SECONDS + random.below(WATCH_MIN_SECONDS);
    const request = this.#request({ ...options, allowWatchBookmarks: true, timeoutSeconds });
    const event = this.#canResume ? (received: Heard) => this.#hear(received) : this.#initialReceiver();
    return watchOnce({ transport, clock, request, signal, event });
  }

  #request(options: RequestOptions) {
    const { kind, scope } = this.#options;
    const { namespace, labelSelector, fieldSelector } = scope;
    return {
      ...kind.storage,
      plural: kind.plural,
      ...(namespace === undefined ? {} : { namespace }),
      options: {
        ...options,
        ...(labelSelector === undefined ? {} : { labelSelector }),
        ...(fieldSelector === undefined ? {} : { fieldSelector }),
      },
    };
  }

  /** Collects until the bookmark that ends the initial events; from then on each event is a change. */
  #initialReceiver(): (received: Heard) => WatchEnd | undefined {
    const collected = new ObjectStore({ onIndexFailure: () => undefined });
    return (received) => {
      if (this.#canResume) return this.#hear(received);
      if (received.type === "BOOKMARK") {
        return received.initialEventsEnd ? this.#take(collected.list(), received.resourceVersion) : undefined;
      }
      if (!isWellFormed(received.object)) return { is: "rejected", why: "malformed" };
      if (received.type === "DELETED") collected.delete(received.object.metadata);
      else collected.put(received.object);
      return undefined;
    };
  }

  #take(objects: readonly KubeObject[], revision: string): WatchEnd | undefined {
    const { sink } = this.#options;
    if (!isResourceVersion(revision)) return { is: "rejected", why: "malformed" };
    const isNewHistory = compareResourceVersions(revision, sink.known) < 0;
    if (isNewHistory && !this.#takesAnything) return { is: "rejected", why: "older" };
    if (isNewHistory)
      this.#options.log.warn("The server has another history, such as a restored backup; replacing all cached objects", {
        revision,
        known: sink.known,
      });
    this.#canResume = true;
    this.#behind = 0;
    sink.replace(objects, revision, { isNewHistory });
    this.#followed = { sinceMs: this.#options.clock.monotonic(), from: revision };
    return undefined;
  }

  #hear(received: Heard): WatchEnd | undefined {
    const { sink } = this.#options;
    if (received.type === "BOOKMARK") {
      const version = received.resourceVersion;
      if (!isResourceVersion(version)) return { is: "rejected", why: "malformed" };
      // The server has not reached the version yet, or never will: list what it has.
      if (compareResourceVersions(version, sink.known) < 0) return { is: "rejected", why: "older" };
      sink.reach(version);
    } else if (!isWellFormed(received.object)) return { is: "rejected", why: "malformed" };
    else if (received.type === "DELETED") sink.remove(received.object);
    else sink.put(received.object);
    return undefined;
  }

  /** A normal end is not logged; a failure is, once it repeats. */
  #report(attempt: Attempt, delayMs: number): void {
    const { log } = this.#options;
    const isFirst = this.#backoff.attempts <= 1;
    const fields = { why: attempt.is, delayMs: Math.round(delayMs), ...("error" in attempt ? { error: attempt.error } : {}) };
    if (isFirst) log.debug("A watch ended; retrying", fields);
    else log.warn("A watch ended repeatedly; retrying", fields);
  }
}

type Heard = Exclude<TransportEvent, { type: "ERROR" }>;

/** The history after the version was compacted. */
function isForgotten(error: unknown): boolean {
  return isReason(error, "Expired") || isReason(error, "Gone");
}

/** The server has not reached this version. */
function isFromTheFuture(error: unknown): boolean {
  return isReason(error, "Timeout") && error.details?.causes?.some(({ reason }) => reason === "ResourceVersionTooLarge") === true;
}

/** The delay that the server asks for, at most the maximum backoff. */
function retryAfterMsOf(error: unknown): number {
  const { retryAfterSeconds = 0 } = (isStatusError(error) ? error.details : undefined) ?? {};
  return Math.min(retryAfterSeconds * 1_000, RETRY_DELAY.maxMs);
}

/** Responses of servers to unknown options; upstream's on an etcd without progress notifications reports an internal error. */
function isNotUnderstood(error: unknown): boolean {
  const reasons = ["Invalid", "BadRequest", "NotAcceptable", "UnsupportedMediaType", "InternalError"] as const;
  return reasons.some((reason) => isReason(error, reason));
}
