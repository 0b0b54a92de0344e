/**
 * Keeps a sink equal to what the server has, through every break: first everything (`sendInitialEvents`, or pages of a list where the
 * server does not know that), then every change after it; when the stream ends, from the last version that was seen; when the server has
 * forgotten that one, everything again, to be compared.
 *
 * What is known is never taken back. A server that lags behind what another told is asked again for what is not older; one that
 * keeps saying that there is nothing so new has lost its history (a store restored from a backup), and then what it has is taken.
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

/** Who is told. It ignores what is not newer than what it knows. */
export interface ReflectorSink {
  /** The version up to which it knows everything; "": nothing yet. */
  readonly known: string;
  put(object: KubeObject): void;
  remove(object: KubeObject): void;
  /** Nothing else has happened up to here. */
  reach(revision: string): void;
  /** All there is at `revision`, in order. A new history begins anew: its versions may be smaller. */
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

/** After failures; as upstream's. */
const RETRY_DELAY = { minMs: 800, maxMs: 30_000 };

/** A watch is asked for so long or up to twice as long, as upstream's, so that not all come back at once. */
const WATCH_MIN_SECONDS = 300;

/** A watch that brought nothing and ended within this has failed: coming back at once would be a busy loop. */
const LASTED_MS = 1_000;

/** How often a server may say that there is nothing so new, before it is believed. With the delays in between 12 to 27 s, which no lag is. */
const BEHIND_MAX = 10;
/** No longer delay is made in between, however long the server could not be reached before: it answers, and others wait for what it has. */
const BEHIND_DELAY_MAX_MS = 3_000;

/** What one try came to. */
type Attempt = WatchEnd | { readonly is: "listed" };

export class Reflector {
  readonly #options: ReflectorOptions;
  readonly #backoff: Backoff;
  /** Whether the server takes `sendInitialEvents`; until it refuses. */
  #streams = true;
  /** The sink can go on from what it knows; otherwise it needs everything. */
  #canResume = false;
  /** Since when, and from which version on, changes are heard. */
  #followed = { sinceMs: 0, from: "" };
  /** Answers in a row that were older than what is known. */
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
      // To have got everything once more is no success if each time what follows fails: then the delays go on growing.
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

  /** The changes came, or came to nothing for a while, as they should. */
  #hasFollowed(attempt: Attempt): boolean {
    const { clock, sink } = this.#options;
    if (!this.#canResume || attempt.is === "listed") return false;
    // Not every server sends bookmarks: silence alone is no failure.
    const isQuiet = (attempt.is === "ended" || attempt.is === "silent") && clock.monotonic() - this.#followed.sinceMs >= LASTED_MS;
    return isQuiet || sink.known !== this.#followed.from;
  }

  async #try(signal: AbortSignal): Promise<Attempt> {
    if (this.#canResume) return this.#watch(signal, { resourceVersion: this.#options.sink.known });
    if (this.#streams) return this.#watch(signal, { ...this.#notOlder(), sendInitialEvents: true, resourceVersionMatch: "NotOlderThan" });
    return this.#list(signal);
  }

  /** What to do otherwise next time; returns how long the server wants to be left alone. */
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
        // A server that has never heard of initial events sends no end of them.
        if (isInitialStream) this.#streams = false;
        return 0;
      case "ended":
        // It was accepted, so the server has come as far as was asked for, if it was.
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

  /** Nothing that is older than what is known; or whatever there is, if the server has nothing so new. */
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
    const event = this.#canResume ? (heard: Heard) => this.#hear(heard) : this.#initialReceiver();
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

  /** Collects until the bookmark that says that this was everything; from then on each event is a change. */
  #initialReceiver(): (heard: Heard) => WatchEnd | undefined {
    const collected = new ObjectStore({ onIndexFailure: () => undefined });
    return (heard) => {
      if (this.#canResume) return this.#hear(heard);
      if (heard.type === "BOOKMARK") {
        return heard.initialEventsEnd ? this.#take(collected.list(), heard.resourceVersion) : undefined;
      }
      if (!isWellFormed(heard.object)) return { is: "rejected", why: "malformed" };
      if (heard.type === "DELETED") collected.delete(heard.object.metadata);
      else collected.put(heard.object);
      return undefined;
    };
  }

  #take(objects: readonly KubeObject[], revision: string): WatchEnd | undefined {
    const { sink } = this.#options;
    if (!isResourceVersion(revision)) return { is: "rejected", why: "malformed" };
    const isNewHistory = compareResourceVersions(revision, sink.known) < 0;
    if (isNewHistory && !this.#takesAnything) return { is: "rejected", why: "older" };
    if (isNewHistory) this.#options.log.warn("The server has another history: taking what it has", { revision, known: sink.known });
    this.#canResume = true;
    this.#behind = 0;
    sink.replace(objects, revision, { isNewHistory });
    this.#followed = { sinceMs: this.#options.clock.monotonic(), from: revision };
    return undefined;
  }

  #hear(heard: Heard): WatchEnd | undefined {
    const { sink } = this.#options;
    if (heard.type === "BOOKMARK") {
      const version = heard.resourceVersion;
      if (!isResourceVersion(version)) return { is: "rejected", why: "malformed" };
      // A server that has not come so far yet, or never will: see what it has.
      if (compareResourceVersions(version, sink.known) < 0) return { is: "rejected", why: "older" };
      sink.reach(version);
    } else if (!isWellFormed(heard.object)) return { is: "rejected", why: "malformed" };
    else if (heard.type === "DELETED") sink.remove(heard.object);
    else sink.put(heard.object);
    return undefined;
  }

  /** Ends are ordinary; what fails is worth a word, once it fails again. */
  #report(attempt: Attempt, delayMs: number): void {
    const { log } = this.#options;
    const isFirst = this.#backoff.attempts <= 1;
    const fields = { why: attempt.is, delayMs: Math.round(delayMs), ...("error" in attempt ? { error: attempt.error } : {}) };
    if (isFirst) log.debug("A watch broke; trying again", fields);
    else log.warn("A watch cannot be kept up; trying again", fields);
  }
}

type Heard = Exclude<TransportEvent, { type: "ERROR" }>;

/** The history after the version is gone. */
function isForgotten(error: unknown): boolean {
  return isReason(error, "Expired") || isReason(error, "Gone");
}

/** The server has not come to this version. */
function isFromTheFuture(error: unknown): boolean {
  return isReason(error, "Timeout") && error.details?.causes?.some(({ reason }) => reason === "ResourceVersionTooLarge") === true;
}

/** What the server asks for, and no longer than one waits anyway. */
function retryAfterMsOf(error: unknown): number {
  const { retryAfterSeconds = 0 } = (isStatusError(error) ? error.details : undefined) ?? {};
  return Math.min(retryAfterSeconds * 1_000, RETRY_DELAY.maxMs);
}

/** What servers say to options that they do not know; on an etcd that tells no progress upstream's says that it is an internal error. */
function isNotUnderstood(error: unknown): boolean {
  const reasons = ["Invalid", "BadRequest", "NotAcceptable", "UnsupportedMediaType", "InternalError"] as const;
  return reasons.some((reason) => isReason(error, reason));
}
