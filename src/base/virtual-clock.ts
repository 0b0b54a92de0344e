/**
 * A clock that advances only on request, so that an hour of a cluster passes in milliseconds and the same seed gives the same run. Between
 * two steps everything that is ready has run: promises, then `soon` work, then declared IO; only then does the next timer fire, one at a
 * time, by time and then by call order.
 *
 * Outside of its control: deferred work that is not declared (setTimeout, `import()`, WebCrypto, files). Not detectable: an endless loop of
 * promises alone, which never reaches the macrotask; it hangs under any clock.
 */
import { onAbort } from "./abort.ts";
import { assert } from "./assert.ts";
import type { Clock } from "./clock.ts";
import { Fifo } from "./fifo.ts";
import { Heap } from "./heap.ts";

/**
 * Maximum number of steps at one instant before it counts as an endless loop. Enough for tens of thousands of objects handled at the same
 * instant, and the error still comes within seconds.
 */
export const TICKS_PER_INSTANT_MAX = 100_000;

/** During the last ticks before the limit every caller is recorded, so that the error can name those who keep the instant busy. */
const WATCHED_TURNS = 10;

/** Default start of virtual time: a fixed instant, so that timestamps are the same in every run. */
const DEFAULT_START_MS = Date.UTC(2026, 0, 1);

export interface VirtualClockOptions {
  /** Resolves in a later macrotask of the real event loop, when all ready promises have run: host/real-clock.ts. */
  readonly macrotask: () => Promise<void>;
  /** Initial value of `now()`, in milliseconds since the epoch. Default: the start of 2026. */
  readonly startMs?: number;
  /** Default: TURNS_PER_INSTANT_MAX. */
  readonly turnsPerInstantMax?: number;
}

interface Timer {
  readonly wakeAtMs: number;
  readonly sequence: number;
  readonly wake: () => void;
}

type Queue = "soon" | "sleep" | "external";

export class VirtualClock implements Clock {
  readonly #macrotask: () => Promise<void>;
  readonly #startMs: number;
  readonly #turnsMax: number;
  readonly #timers = new Heap<Timer>((a, b) => a.wakeAtMs - b.wakeAtMs || a.sequence - b.sequence);
  readonly #soon = new Fifo<() => void>();
  #elapsedMs = 0;
  #sequence = 0;
  #openExternals = 0;
  /** Set while `settle` waits for declared external operations. */
  #onExternalClosed: (() => void) | undefined;
  /** Steps at this instant, by queue. */
  #turns: Record<Queue, number> = { soon: 0, sleep: 0, external: 0 };
  #lastCaller: Error | undefined;
  #isDriven = false;

  constructor({ macrotask, startMs = DEFAULT_START_MS, turnsPerInstantMax = TICKS_PER_INSTANT_MAX }: VirtualClockOptions) {
    this.#macrotask = macrotask;
    this.#startMs = startMs;
    this.#turnsMax = turnsPerInstantMax;
  }

  // ── Clock: the interface of the code under test ──────────────────────────────────────────────────

  now(): number {
    return this.#startMs + this.#elapsedMs;
  }

  monotonic(): number {
    return this.#elapsedMs;
  }

  sleep(durationMs: number, signal?: AbortSignal): Promise<void> {
    assert(!Number.isNaN(durationMs), "a sleep lasts a number of milliseconds");
    if (signal?.aborted) return Promise.reject(signal.reason);
    this.#recordCaller("sleep");
    return new Promise((resolve, reject) => {
      // Whole milliseconds, as real timers: rounding errors must not decide an order.
      const wakeAtMs = this.#elapsedMs + Math.ceil(Math.max(0, durationMs));
      const wake = () => {
        stopListening?.();
        resolve();
      };
      const seat = this.#timers.push({ wakeAtMs, sequence: this.#sequence++, wake });
      const stopListening =
        signal &&
        onAbort(signal, () => {
          this.#timers.remove(seat);
          reject(signal.reason);
        });
    });
  }

  soon(work: () => void): void {
    this.#recordCaller("soon");
    this.#soon.push(work);
  }

  external<T>(operation: Promise<T>): Promise<T> {
    this.#recordCaller("external");
    this.#openExternals++;
    const closed = () => {
      this.#openExternals--;
      this.#onExternalClosed?.();
    };
    // The caller holds the same promise, and with it the rejection.
    operation.then(closed, closed);
    return operation;
  }

  // ── the driver's interface ────────────────────────────────────────────────────────────────────────

  /** Number of pending sleeps. */
  get sleeping(): number {
    return this.#timers.size;
  }

  /** When the first pending sleep ends, in `monotonic()`; absent: none is pending. */
  get nextWakeMs(): number | undefined {
    return this.#timers.peek()?.wakeAtMs;
  }

  /** Runs everything that is ready without advancing time. Rejects with what `soon` work throws, or at the limit on ticks. */
  async settle(): Promise<void> {
    await this.#drive(() => this.#settle());
  }

  /** Advances time by `durationMs`, waking every sleep at its own time and settling after each. */
  async advance(durationMs: number): Promise<void> {
    await this.#drive(async () => {
      await this.#runUntil(this.#elapsedMs + durationMs, () => false);
    });
  }

  /** Advances time until `condition` is true, evaluating it after each timer; rejects if it is still false after `withinMs`. */
  async advanceUntil(condition: () => boolean, { withinMs }: { readonly withinMs: number }): Promise<void> {
    await this.#drive(async () => {
      const isMet = await this.#runUntil(this.#elapsedMs + withinMs, condition);
      if (!isMet) throw new Error(`Gave up waiting: after ${withinMs} ms of virtual time the condition is still false`);
    });
  }

  /** `true` as soon as the condition holds, `false` with the clock at `endMs`. */
  async #runUntil(endMs: number, condition: () => boolean): Promise<boolean> {
    assert(endMs >= this.#elapsedMs && Number.isFinite(endMs), "time moves forward, by a finite number of milliseconds");
    await this.#settle();
    while (!condition()) {
      const next = this.#timers.peek();
      if (next === undefined || next.wakeAtMs > endMs) {
        this.#moveTo(endMs);
        // The passing of time alone can make a condition true.
        return condition();
      }
      this.#timers.pop();
      this.#moveTo(next.wakeAtMs);
      this.#countTurn("sleep");
      next.wake();
      await this.#settle();
    }
    return true;
  }

  async #settle(): Promise<void> {
    for (;;) {
      await this.#macrotask();
      const work = this.#soon.shift();
      if (work !== undefined) {
        // One at a time, running the promises it made ready before the next, as Node does with setImmediate.
        this.#countTurn("soon");
        work();
      } else if (this.#openExternals > 0) {
        this.#countTurn("external");
        await this.#externalClosed();
      } else {
        return;
      }
    }
  }

  #externalClosed(): Promise<void> {
    return new Promise((resolve) => {
      this.#onExternalClosed = () => {
        this.#onExternalClosed = undefined;
        resolve();
      };
    });
  }

  #moveTo(elapsedMs: number): void {
    if (elapsedMs === this.#elapsedMs) return;
    this.#elapsedMs = elapsedMs;
    this.#turns = { soon: 0, sleep: 0, external: 0 };
  }

  /** Two drivers at once, or a driver inside of what it drives, would make the order nondeterministic or deadlock. */
  async #drive(run: () => Promise<void>): Promise<void> {
    assert(!this.#isDriven, "one caller at a time moves a virtual clock");
    this.#isDriven = true;
    try {
      await run();
    } finally {
      this.#isDriven = false;
    }
  }

  // ── the limit on ticks ────────────────────────────────────────────────────────────────────────────

  #turnsSoFar(): number {
    return this.#turns.soon + this.#turns.sleep + this.#turns.external;
  }

  #countTurn(queue: Queue): void {
    this.#turns[queue]++;
    if (this.#turnsSoFar() <= this.#turnsMax) return;
    const { soon, sleep, external } = this.#turns;
    const busiest = (["soon", "sleep", "external"] as const).reduce((a, b) => (this.#turns[b] > this.#turns[a] ? b : a));
    throw new Error(
      `Virtual time cannot move on from ${new Date(this.now()).toISOString()}: more than ${this.#turnsMax} turns at this instant, ` +
        `most of them "${busiest}" (soon ${soon}, sleep ${sleep}, external ${external}); the cause shows who called last`,
      { cause: this.#lastCaller },
    );
  }

  #recordCaller(queue: Queue): void {
    if (this.#turnsSoFar() < this.#turnsMax - WATCHED_TURNS) return;
    this.#lastCaller = new Error(`"${queue}" was called here`);
  }
}
