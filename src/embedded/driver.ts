/**
 * Who moves the time of a cluster under virtual time. Nothing happens there unless somebody lets it; so whoever asks such a cluster for
 * something (a request, a stop) is let through at the present moment, and only `advance` and `until` let time pass. Any number may ask at
 * once: one loop has the clock, goes only as far as the nearest of them needs, and looks after every step at what each of them waits for.
 * So time passes for all of them together, as real time does, and none misses a moment that another has moved the clock over.
 * Under the real time all of this is nothing: things happen by themselves.
 */
import type { Clock } from "../base/clock.ts";
import { VirtualClock } from "../base/virtual-clock.ts";

/** What does not come after so many rounds in which nothing else was left to do waits for time to pass. */
const ROUNDS_MAX = 1_000;

export interface Driver {
  /** Waits for it, letting happen what can happen without time passing. Rejects if it would need time. */
  through<T>(operation: Promise<T>): Promise<T>;
  /** The same for who comes from outside and may wait for as long as it takes: it is let through whenever it can be. */
  whenever<T>(operation: Promise<T>): Promise<T>;
  /** Waits for it, letting time pass if it needs some, at most so long. For what ends: nobody looks at the time afterwards. */
  toTheEnd<T>(operation: Promise<T>, withinMs: number): Promise<T>;
  /** All that is due now. */
  settle(): Promise<void>;
  /** From now on: two who do so at once let the same time pass. */
  advance(durationMs: number): Promise<void>;
  /** Lets time pass until `isMet`, at most so long; whether it was. */
  advanceUntil(isMet: () => boolean, withinMs: number): Promise<boolean>;
}

/** Undefined: it is not ours to move. Clusters that share a clock share who moves it. */
export function driverOf(clock: Clock): Driver | undefined {
  if (!(clock instanceof VirtualClock)) return undefined;
  let driver = drivers.get(clock);
  if (driver === undefined) drivers.set(clock, (driver = new VirtualDriver(clock)));
  return driver;
}

const drivers = new WeakMap<VirtualClock, Driver>();

/** Somebody who waits for an operation. */
interface Waiter {
  /** Absent: who waits can wait. */
  giveUp?(reason: Error): void;
}

/** Somebody for whom time passes. */
interface Need {
  readonly endMs: number;
  isMet(): boolean;
  /** Whether it was met before the end. */
  over(isMet: boolean): void;
  fail(reason: unknown): void;
}

class VirtualDriver implements Driver {
  readonly #clock: VirtualClock;
  readonly #needs = new Set<Need>();
  /** Whether somebody has come whose end may be nearer than where the clock is on its way to. */
  #hasNewNeed = false;
  readonly #waiting = new Set<Waiter>();
  /** Rounds in a row in which nobody moved time, and none of those who wait came through. */
  #idleRounds = 0;
  /** The present one. */
  #idleRound: Promise<void> | undefined;
  #isRunning = false;

  constructor(clock: VirtualClock) {
    this.#clock = clock;
  }

  async through<T>(operation: Promise<T>): Promise<T> {
    const waiter: Waiter = {};
    const inVain = new Promise<never>((_resolve, reject) => (waiter.giveUp = reject));
    try {
      return await Promise.race([this.#letThrough(operation, waiter), inVain]);
    } finally {
      // Who gets an answer finds nobody at the clock, unless somebody moves it.
      await this.#idleRound?.catch(() => undefined);
    }
  }

  whenever<T>(operation: Promise<T>): Promise<T> {
    return this.#letThrough(operation, {});
  }

  #letThrough<T>(operation: Promise<T>, waiter: Waiter): Promise<T> {
    this.#waiting.add(waiter);
    this.#idleRounds = 0;
    const done = (): void => {
      this.#waiting.delete(waiter);
      this.#idleRounds = 0;
    };
    void operation.finally(done).catch(() => undefined);
    void this.#run();
    return operation;
  }

  async toTheEnd<T>(operation: Promise<T>, withinMs: number): Promise<T> {
    let isOver = false;
    const over = (): void => void (isOver = true);
    operation.then(over, over);
    if (await this.advanceUntil(() => isOver, withinMs)) return operation;
    throw new Error(`Timed out: ${withinMs} ms of virtual time have passed and work is still pending`);
  }

  settle(): Promise<void> {
    return this.advance(0);
  }

  async advance(durationMs: number): Promise<void> {
    await this.advanceUntil(() => false, durationMs);
  }

  advanceUntil(isMet: () => boolean, withinMs: number): Promise<boolean> {
    return new Promise((over, fail) => {
      this.#needs.add({ endMs: this.#clock.monotonic() + withinMs, isMet, over, fail });
      this.#hasNewNeed = true;
      void this.#run();
    });
  }

  /** One at a time. Never rejects. */
  async #run(): Promise<void> {
    if (this.#isRunning) return;
    this.#isRunning = true;
    // Who has just asked may be there already by the next promise: then nothing is to be driven.
    await Promise.resolve();
    let reason = new Error("This waits for virtual time to pass: call advance or until at the same time");
    try {
      while (this.#needs.size > 0 || (this.#waiting.size > 0 && this.#idleRounds < ROUNDS_MAX)) {
        if (this.#needs.size > 0) await this.#moveTime();
        else await this.#idle();
      }
    } catch (error) {
      // An endless loop at one moment, or work that throws: nobody will come through.
      reason = error as Error;
    }
    this.#isRunning = false;
    for (const need of this.#needs) need.fail(reason);
    this.#needs.clear();
    // Those who can wait come through when somebody else moves the clock.
    for (const waiter of this.#waiting) waiter.giveUp?.(reason);
    this.#waiting.clear();
  }

  async #idle(): Promise<void> {
    this.#idleRounds++;
    // Also what sleeps for no time at all, to let others go first.
    this.#idleRound = this.#clock.advance(0);
    try {
      await this.#idleRound;
    } finally {
      this.#idleRound = undefined;
    }
  }

  /** Until somebody has what they need, or somebody new has come. */
  async #moveTime(): Promise<void> {
    // Who waits for an operation is not given up while others move time, nor at once when they are done: they may go on.
    this.#idleRounds = 0;
    this.#hasNewNeed = false;
    const nearestMs = Math.min(...Array.from(this.#needs, ({ endMs }) => endMs));
    // Somebody at least is done at the nearest end, so it is never said that waiting was in vain.
    const withinMs = Math.max(0, nearestMs - this.#clock.monotonic());
    await this.#clock.advanceUntil(() => this.#dismissThoseDone() || this.#hasNewNeed, { withinMs });
  }

  /** Whether there were any. */
  #dismissThoseDone(): boolean {
    const before = this.#needs.size;
    for (const need of this.#needs) {
      const outcome = this.#outcomeOf(need);
      if (outcome === undefined) continue;
      this.#needs.delete(need);
      outcome();
    }
    return this.#needs.size < before;
  }

  /** Undefined: it is open. */
  #outcomeOf(need: Need): (() => void) | undefined {
    try {
      if (need.isMet()) return () => need.over(true);
    } catch (error) {
      return () => need.fail(error);
    }
    return this.#isPast(need.endMs) ? () => need.over(false) : undefined;
  }

  /** A moment is over when all that was due at it has happened. */
  #isPast(momentMs: number): boolean {
    const nowMs = this.#clock.monotonic();
    return nowMs > momentMs || (nowMs === momentMs && (this.#clock.nextWakeMs ?? Infinity) > nowMs);
  }
}
