/**
 * Who moves the time of a cluster under virtual time. Nothing happens there unless somebody lets it; so whoever asks such a cluster for
 * something (a request, a stop) is let through at the present moment, and only `advance` and `until` let time pass. Any number may ask at
 * once: they take turns at the clock, which has one driver at a time.
 * Under the real time all of this is nothing: things happen by themselves.
 */
import type { Clock } from "../../base/clock.ts";
import { VirtualClock } from "../../base/virtual-clock.ts";

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

class VirtualDriver implements Driver {
  readonly #clock: VirtualClock;
  /** The last of those who have, or wait for, the clock. */
  #turn: Promise<unknown> = Promise.resolve();
  readonly #waiting = new Set<Waiter>();
  /** Rounds in a row that ended without one of them coming through. */
  #idleRounds = 0;
  #running: Promise<void> | undefined;

  constructor(clock: VirtualClock) {
    this.#clock = clock;
  }

  async through<T>(operation: Promise<T>): Promise<T> {
    const waiter: Waiter = {};
    const inVain = new Promise<never>((_resolve, reject) => (waiter.giveUp = reject));
    try {
      return await Promise.race([this.#letThrough(operation, waiter), inVain]);
    } finally {
      // Who gets an answer finds nobody at the clock.
      await this.#running;
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
    this.#running ??= this.#run();
    return operation;
  }

  async toTheEnd<T>(operation: Promise<T>, withinMs: number): Promise<T> {
    let isOver = false;
    const over = (): void => void (isOver = true);
    operation.then(over, over);
    if (await this.advanceUntil(() => isOver, withinMs)) return operation;
    throw new Error(`This does not end: ${withinMs} ms of virtual time have passed, and something still holds it up`);
  }

  settle(): Promise<void> {
    // Also what sleeps for no time at all, to let others go first.
    return this.#inTurn(() => this.#clock.advance(0));
  }

  advance(durationMs: number): Promise<void> {
    return this.#inTurn(() => this.#clock.advance(durationMs));
  }

  async advanceUntil(isMet: () => boolean, withinMs: number): Promise<boolean> {
    const endMs = this.#clock.monotonic() + withinMs;
    // Time itself is a reason for a condition to be looked at, so the end is looked at, too.
    await this.#inTurn(() => this.#clock.advanceUntil(() => isMet() || this.#clock.monotonic() >= endMs, { withinMs }));
    return isMet();
  }

  /** Never rejects. */
  async #run(): Promise<void> {
    // Who has just asked may be there already by the next promise: then nothing is to be driven.
    await Promise.resolve();
    let reason = new Error("This waits for time to pass, which it does only by advance and until: call one of them meanwhile");
    while (this.#waiting.size > 0 && this.#idleRounds < ROUNDS_MAX) {
      this.#idleRounds++;
      try {
        await this.settle();
      } catch (error) {
        // An endless loop at one moment: nobody will come through.
        reason = error as Error;
        break;
      }
    }
    this.#running = undefined;
    // Those who can wait come through when somebody else moves the clock.
    for (const waiter of this.#waiting) waiter.giveUp?.(reason);
    this.#waiting.clear();
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    const mine = this.#turn.then(work, work);
    this.#turn = mine.catch(() => undefined);
    return mine;
  }
}
