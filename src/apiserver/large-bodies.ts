/**
 * Requests with large bodies, which cost more than others: their memory is bounded, they are worked on a few at a time, and between slices
 * of work they rest as long as they worked, so that others get the event loop. Users take turns (round robin), so one who sends many waits
 * for their own. Small requests never come here.
 * Not here: how many requests a user may have in flight at all (pipeline.ts).
 */
import { onAbort } from "../base/abort.ts";
import type { Clock } from "../base/clock.ts";
import { tooManyRequests } from "../api/machinery/status-error.ts";
import type { Metrics } from "./metrics.ts";

/** A body above this size is large. Nearly all are smaller; status patches of nodes, the largest that come often, have about 15 KiB. */
export const LARGE_BODY_BYTES = 32 * 1024;
/** YAML costs more than ten times as much to read as JSON, and hardly any client sends it: kubectl sends JSON under its name. */
export const LARGE_YAML_BYTES = 1024;

/** Large bodies that are received or worked on at once, all together: twenty of the largest. Further ones wait before they are read. */
const BYTES_MAX = 64 * 1024 * 1024;
/** Of one user. */
const BYTES_PER_USER_MAX = BYTES_MAX / 4;
/** Requests of one user that wait to be read. Each holds a connection or stream, and up to 256 KiB that the client sent ahead. */
const WAITING_PER_USER_MAX = 100;

/** Requests that are worked on at once: more than one, so that one that waits for the store or a webhook does not stop all others. */
const WORKING_MAX = 2;

/** Work that is too short to rest after. */
const REST_AFTER_MS = 2;

const RETRY_AFTER_SECONDS = 1;

interface Waiting {
  readonly bytes: number;
  start(): void;
}

/** Waiting requests by user, in the order of the users' turns: the first user's first one is next. */
class Turns<T> {
  readonly #byUser = new Map<string, T[]>();

  of(user: string): readonly T[] {
    return this.#byUser.get(user) ?? [];
  }

  add(user: string, waiting: T): void {
    const own = this.#byUser.get(user);
    if (own === undefined) this.#byUser.set(user, [waiting]);
    else own.push(waiting);
  }

  remove(user: string, waiting: T): void {
    const own = this.#byUser.get(user) ?? [];
    const index = own.indexOf(waiting);
    if (index !== -1) own.splice(index, 1);
    if (own.length === 0) this.#byUser.delete(user);
  }

  /** The first, by turns, that may start. Its user comes last from now on. */
  takeFirst(mayStart: (user: string, waiting: T) => boolean): { readonly user: string; readonly waiting: T } | undefined {
    for (const [user, own] of this.#byUser) {
      const [waiting] = own;
      if (waiting === undefined || !mayStart(user, waiting)) continue;
      own.shift();
      this.#byUser.delete(user);
      if (own.length > 0) this.#byUser.set(user, own);
      return { user, waiting };
    }
    return undefined;
  }
}

/** One request that has, or may have, a large body. */
export interface LargeBody {
  /** Waits for its turn to be worked on. Call once, when the body is there. */
  startWork(): Promise<void>;
  /** Between slices of work: lets others run for as long as this one has worked. */
  breathe(): Promise<void>;
  /** Once, at the end, whatever was waited for. */
  release(): void;
}

export class LargeBodies {
  readonly #rests: boolean;
  readonly #clock: Clock;
  readonly #metrics: Pick<Metrics, "rejected">;
  #bytes = 0;
  readonly #bytesByUser = new Map<string, number>();
  readonly #toBeRead = new Turns<Waiting>();
  #working = 0;
  readonly #toBeWorkedOn = new Turns<Waiting>();
  /** No slice of work begins before. */
  #restUntilMs = 0;

  /** `rests`: false under virtual time. */
  constructor(clock: Clock, metrics: Pick<Metrics, "rejected">, { rests }: { readonly rests: boolean }) {
    this.#rests = rests;
    this.#clock = clock;
    this.#metrics = metrics;
  }

  /** Waits until a body of this size may be read. Rejects with 429 if too many of this user wait, and with the signal's reason. */
  async reserve(user: string, bytes: number, signal: AbortSignal): Promise<LargeBody> {
    if (this.#toBeRead.of(user).length >= WAITING_PER_USER_MAX) {
      this.#metrics.rejected++;
      throw tooManyRequests("Too many requests, please try again later.", RETRY_AFTER_SECONDS);
    }
    await this.#wait(this.#toBeRead, { user, bytes, signal }, () => this.#startReading());
    return this.#body(user, bytes, signal);
  }

  #body(user: string, bytes: number, signal: AbortSignal): LargeBody {
    let state: "read" | "worked on" | "released" = "read";
    let sliceStartMs = 0;
    return {
      startWork: async () => {
        await this.#wait(this.#toBeWorkedOn, { user, bytes, signal }, () => this.#startWorking());
        state = "worked on";
        await this.#rested();
        sliceStartMs = this.#clock.monotonic();
      },
      breathe: async () => {
        await this.#rest(this.#clock.monotonic() - sliceStartMs);
        sliceStartMs = this.#clock.monotonic();
      },
      release: () => {
        if (state === "released") return;
        if (state === "worked on") this.#working--;
        state = "released";
        this.#free(user, bytes);
        this.#startReading();
        this.#startWorking();
      },
    };
  }

  /** Resolves when `waiting` was started, which `start` may do at once. */
  #wait(
    turns: Turns<Waiting>,
    { user, bytes, signal }: { readonly user: string; readonly bytes: number; readonly signal: AbortSignal },
    start: () => void,
  ): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiting = { bytes, start: () => (stop(), resolve()) };
      const stop = onAbort(signal, () => {
        turns.remove(user, waiting);
        reject(signal.reason as Error);
      });
      if (signal.aborted) return;
      turns.add(user, waiting);
      start();
    });
  }

  #startReading(): void {
    for (;;) {
      const next = this.#toBeRead.takeFirst((user, { bytes }) => this.#hasRoom(user, bytes));
      if (next === undefined) return;
      const { user, waiting } = next;
      this.#bytes += waiting.bytes;
      this.#bytesByUser.set(user, (this.#bytesByUser.get(user) ?? 0) + waiting.bytes);
      waiting.start();
    }
  }

  #hasRoom(user: string, bytes: number): boolean {
    return this.#bytes + bytes <= BYTES_MAX && (this.#bytesByUser.get(user) ?? 0) + bytes <= BYTES_PER_USER_MAX;
  }

  #free(user: string, bytes: number): void {
    this.#bytes -= bytes;
    const own = (this.#bytesByUser.get(user) ?? bytes) - bytes;
    if (own === 0) this.#bytesByUser.delete(user);
    else this.#bytesByUser.set(user, own);
  }

  #startWorking(): void {
    while (this.#working < WORKING_MAX) {
      const next = this.#toBeWorkedOn.takeFirst(() => true);
      if (next === undefined) return;
      this.#working++;
      next.waiting.start();
    }
  }

  async #rest(workedMs: number): Promise<void> {
    if (!this.#rests) return;
    const nowMs = this.#clock.monotonic();
    if (workedMs >= REST_AFTER_MS) this.#restUntilMs = Math.max(this.#restUntilMs, nowMs) + workedMs;
    await new Promise<void>((resolve) => this.#clock.soon(resolve));
    await this.#rested();
  }

  async #rested(): Promise<void> {
    for (;;) {
      const remainingMs = this.#restUntilMs - this.#clock.monotonic();
      if (remainingMs <= 0) return;
      await this.#clock.sleep(remainingMs);
    }
  }
}
