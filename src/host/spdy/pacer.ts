/**
 * Paces a client whose server does not support flow-control windows. The library of container runtimes passes each stream's data to one of
 * five workers, and a worker blocks while its data is not read. Once the queue of a worker is full, the connection is not read any more,
 * and a runtime whose command has ended cannot report the exit code, or closes the connection with the outcome in flight. But pings pass
 * through the same queues, to one worker after the other: when as many pings as there are workers are answered, all data sent before them
 * was read. So each step of data is followed by pings, and only a bounded amount is sent before they are answered.
 */

/** Each step is followed by pings; two may be in flight. In frames it is far less than the 50 of a worker's queue. */
const STEP_BYTES = 256 << 10;
const STEPS_MAX = 2;
/** One per worker. With another number of workers the pings are only answered earlier. */
const PINGS_PER_STEP = 5;

export class Pacer {
  readonly #sendPing: (id: number) => void;
  /** Unanswered pings of each step. */
  readonly #steps: Set<number>[] = [];
  #stepBytes = 0;
  /** Odd: client pings. */
  #nextPing = 1;
  #wake: (() => void) | undefined;
  #isOff = false;

  constructor(sendPing: (id: number) => void) {
    this.#sendPing = sendPing;
  }

  /** Resolves when more may be sent. For one caller at a time. */
  async room(): Promise<void> {
    while (!this.#isOff && this.#steps.length >= STEPS_MAX) await new Promise<void>((resolve) => (this.#wake = resolve));
  }

  sent(bytes: number): void {
    this.#stepBytes += bytes;
    if (this.#isOff || this.#stepBytes < STEP_BYTES) return;
    this.#stepBytes = 0;
    const pings = Array.from({ length: PINGS_PER_STEP }, (_, index) => this.#nextPing + 2 * index);
    this.#nextPing += 2 * PINGS_PER_STEP;
    this.#steps.push(new Set(pings));
    for (const id of pings) this.#sendPing(id);
  }

  /** A ping was answered. Workers may overtake each other. */
  answered(id: number): void {
    for (const step of this.#steps) step.delete(id);
    while (this.#steps[0]?.size === 0) this.#steps.shift();
    this.#wake?.();
  }

  /** Disables pacing: the peer supports windows, or the session is closed. */
  off(): void {
    this.#isOff = true;
    this.#wake?.();
  }
}
