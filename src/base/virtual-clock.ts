/**
 * A clock that moves only when it is told to, so that an hour of a cluster passes in milliseconds and the same seed gives the
 * same run. Between two steps everything that could happen has happened: promises, then `soon` work, then declared IO; only
 * then does the next timer fire, one at a time, by time and then by order of the calls.
 *
 * What escapes it: anything that makes something happen later without being declared (setTimeout, `import()`, WebCrypto, files).
 * What it cannot stop: a loop of promises alone, which never lets the macrotask come; that is a hang under any clock.
 */
import { onAbort } from "./abort.ts";
import { assert } from "./assert.ts";
import type { Clock } from "./clock.ts";
import { Fifo } from "./fifo.ts";
import { Heap } from "./heap.ts";

/**
 * Steps that may happen at one instant before it counts as an endless loop. Room for tens of thousands of objects that are all
 * handled at the same moment, and still the error comes within seconds.
 */
export const TURNS_PER_INSTANT_MAX = 100_000;

/** Among the last turns before the limit every caller is remembered, so that the error can show who keeps the instant busy. */
const WATCHED_TURNS = 10;

/** Where virtual time starts unless told otherwise: a fixed moment, so that timestamps are the same in every run. */
const DEFAULT_START_MS = Date.UTC(2026, 0, 1);

export interface VirtualClockOptions {
  /** Resolves in a later macrotask of the real event loop, by which time all promises that are ready have run: host/real-clock.ts. */
  readonly macrotask: () => Promise<void>;
  /** What `now()` says at first, in milliseconds since the epoch. Default: the start of 2026. */
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
  /** Set while `settle` waits for the outside world. */
  #onExternalClosed: (() => void) | undefined;
  /** What happened at this instant, by queue. */
  #turns: Record<Queue, number> = { soon: 0, sleep: 0, external: 0 };
  #lastCaller: Error | undefined;
  #isDriven = false;

  constructor({ macrotask, startMs = DEFAULT_START_MS, turnsPerInstantMax = TURNS_PER_INSTANT_MAX }: VirtualClockOptions) {
    this.#macrotask = macrotask;
    this.#startMs = startMs;
    this.#turnsMax = turnsPerInstantMax;
  }

  // ── what the code under it sees ───────────────────────────────────────────────────────────────────

  now(): number {
    return this.#startMs + this.#elapsedMs;
  }

  monotonic(): number {
    return this.#elapsedMs;
  }

  sleep(durationMs: number, signal?: AbortSignal): Promise<void> {
    assert(!Number.isNaN(durationMs), "a sleep lasts a number of milliseconds");
    if (signal?.aborted) return Promise.reject(signal.reason);
    this.#rememberCaller("sleep");
    return new Promise((resolve, reject) => {
      // Whole milliseconds, as real timers: otherwise rounding errors would decide an order.
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
    this.#rememberCaller("soon");
    this.#soon.push(work);
  }

  external<T>(operation: Promise<T>): Promise<T> {
    this.#rememberCaller("external");
    this.#openExternals++;
    const closed = () => {
      this.#openExternals--;
      this.#onExternalClosed?.();
    };
    // Whoever called gets the same promise, and with it the rejection.
    operation.then(closed, closed);
    return operation;
  }

  // ── what the driver does ──────────────────────────────────────────────────────────────────────────

  /** How many sleeps are under way. */
  get sleeping(): number {
    return this.#timers.size;
  }

  /** When the first of them ends, in `monotonic()`; absent: none is under way. */
  get nextWakeMs(): number | undefined {
    return this.#timers.peek()?.wakeAtMs;
  }

  /** Lets everything happen that can happen without time moving. Rejects with what `soon` work throws, or at the limit of turns. */
  async settle(): Promise<void> {
    await this.#drive(() => this.#settle());
  }

  /** Moves time by `durationMs`, waking every sleep on the way at its own time, and letting everything settle after each. */
  async advance(durationMs: number): Promise<void> {
    await this.#drive(async () => {
      await this.#runUntil(this.#elapsedMs + durationMs, () => false);
    });
  }

  /** Moves time until `condition` is true, looking after each timer; rejects if it is still false after `withinMs`. */
  async advanceUntil(condition: () => boolean, { withinMs }: { readonly withinMs: number }): Promise<void> {
    await this.#drive(async () => {
      const isMet = await this.#runUntil(this.#elapsedMs + withinMs, condition);
      if (!isMet) throw new Error(`Gave up waiting: after ${withinMs} ms of virtual time the condition is still false`);
    });
  }

  /** `true` as soon as the condition is, `false` with the clock at `endMs`. */
  async #runUntil(endMs: number, condition: () => boolean): Promise<boolean> {
    assert(endMs >= this.#elapsedMs && Number.isFinite(endMs), "time moves forward, by a finite number of milliseconds");
    await this.#settle();
    while (!condition()) {
      const next = this.#timers.peek();
      if (next === undefined || next.wakeAtMs > endMs) {
        this.#moveTo(endMs);
        // Time is a reason of its own for a condition to become true.
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
        // One at a time, with the promises it made ready run before the next, as Node does with setImmediate.
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

  /** Two drivers at once, or a driver inside of what it drives, would make the order depend on chance or wait for itself. */
  async #drive(run: () => Promise<void>): Promise<void> {
    assert(!this.#isDriven, "one caller at a time moves a virtual clock");
    this.#isDriven = true;
    try {
      await run();
    } finally {
      this.#isDriven = false;
    }
  }

  // ── the limit on turns ────────────────────────────────────────────────────────────────────────────

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

  #rememberCaller(queue: Queue): void {
    if (this.#turnsSoFar() < this.#turnsMax - WATCHED_TURNS) return;
    this.#lastCaller = new Error(`"${queue}" was called here`);
  }
}
