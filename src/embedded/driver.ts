/**
 * Drives the virtual clock of a cluster. Nothing happens there unless it is driven: requests and stops run at the current time, and only
 * `advance` and `until` advance it. Calls can be concurrent: one loop owns the clock, advances it only to the nearest deadline, and checks
 * after every step what each caller waits for. So time passes for all callers together, like real time, and none misses an instant that
 * another one advanced over. With real time none of this is needed.
 */
import type { Clock } from "../base/clock.ts";
import { VirtualClock } from "../base/virtual-clock.ts";

/** An operation that is still pending after this many idle rounds waits for time to pass. */
const ROUNDS_MAX = 1_000;

export interface Driver {
  /** Awaits it without advancing time. Rejects if it needs time. */
  through<T>(operation: Promise<T>): Promise<T>;
  /** The same for external callers, which can wait: it proceeds whenever possible. */
  whenever<T>(operation: Promise<T>): Promise<T>;
  /** Awaits it, advancing time up to a limit. For shutdowns, after which the time does not matter. */
  toTheEnd<T>(operation: Promise<T>, withinMs: number): Promise<T>;
  /** Everything that is due now. */
  settle(): Promise<void>;
  /** From now on: concurrent calls advance the same time. */
  advance(durationMs: number): Promise<void>;
  /** Advances time until `isMet`, up to a limit; resolves with the result. */
  advanceUntil(isMet: () => boolean, withinMs: number): Promise<boolean>;
}

/** Undefined: not a virtual clock. Clusters that share a clock share its driver. */
export function driverOf(clock: Clock): Driver | undefined {
  if (!(clock instanceof VirtualClock)) return undefined;
  let driver = drivers.get(clock);
  if (driver === undefined) drivers.set(clock, (driver = new VirtualDriver(clock)));
  return driver;
}

const drivers = new WeakMap<VirtualClock, Driver>();

/** A caller that awaits an operation. */
interface Waiter {
  /** Absent: the caller can wait. */
  giveUp?(reason: Error): void;
}

/** A caller that advances time. */
interface Need {
  readonly endMs: number;
  isMet(): boolean;
  /** True if it was met before the deadline. */
  over(isMet: boolean): void;
  fail(reason: unknown): void;
}

class VirtualDriver implements Driver {
  readonly #clock: VirtualClock;
  readonly #needs = new Set<Need>();
  /** True if a new caller may have a nearer deadline than the one the clock advances to. */
  #hasNewNeed = false;
  readonly #waiting = new Set<Waiter>();
  /** Consecutive rounds without a time step in which no operation completed. */
  #idleRounds = 0;
  /** The current loop. */
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
      // After a result the clock stands still unless another caller advances it.
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
    // A new operation may complete by the next microtask: then nothing has to be driven.
    await Promise.resolve();
    let reason = new Error("This waits for virtual time to pass: call advance or until at the same time");
    try {
      while (this.#needs.size > 0 || (this.#waiting.size > 0 && this.#idleRounds < ROUNDS_MAX)) {
        if (this.#needs.size > 0) await this.#moveTime();
        else await this.#idle();
      }
    } catch (error) {
      // An endless loop at one instant, or work that throws: no operation will complete.
      reason = error as Error;
    }
    this.#isRunning = false;
    for (const need of this.#needs) need.fail(reason);
    this.#needs.clear();
    // Callers that can wait proceed when another one advances the clock.
    for (const waiter of this.#waiting) waiter.giveUp?.(reason);
    this.#waiting.clear();
  }

  async #idle(): Promise<void> {
    this.#idleRounds++;
    // Including sleeps of 0 ms, which yield to others.
    this.#idleRound = this.#clock.advance(0);
    try {
      await this.#idleRound;
    } finally {
      this.#idleRound = undefined;
    }
  }

  /** Until a caller is done, or a new one arrives. */
  async #moveTime(): Promise<void> {
    // An operation is not abandoned while other callers advance time, nor immediately after: they may continue.
    this.#idleRounds = 0;
    this.#hasNewNeed = false;
    const nearestMs = Math.min(...Array.from(this.#needs, ({ endMs }) => endMs));
    // At least one caller is done at the nearest deadline, so this is never reported as a timeout.
    const withinMs = Math.max(0, nearestMs - this.#clock.monotonic());
    await this.#clock.advanceUntil(() => this.#dismissThoseDone() || this.#hasNewNeed, { withinMs });
  }

  /** True if there were any. */
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

  /** Undefined: still waiting. */
  #outcomeOf(need: Need): (() => void) | undefined {
    try {
      if (need.isMet()) return () => need.over(true);
    } catch (error) {
      return () => need.fail(error);
    }
    return this.#isPast(need.endMs) ? () => need.over(false) : undefined;
  }

  /** An instant is over when everything that was due at it has happened. */
  #isPast(instantMs: number): boolean {
    const nowMs = this.#clock.monotonic();
    return nowMs > instantMs || (nowMs === instantMs && (this.#clock.nextWakeMs ?? Infinity) > nowMs);
  }
}
