/**
 * Holds up a client whose server knows no windows. The library of container runtimes hands each stream's data to one of five workers, and a
 * worker stands still while nobody takes it. Once the line before a worker is full, the connection is not read any more, and a runtime
 * whose command has ended then never gets as far as telling so, or cuts the connection with the outcome still on its way.
 * But a ping goes through the same lines, to one worker after the other: when as many pings as there are workers have come back, all data
 * sent before them was taken. So that much data is followed by pings, and only so much is sent before they are back.
 */

/** Each is followed by pings; two may be under way. In frames it is far less than the 50 that a worker's line takes. */
const STEP_BYTES = 256 << 10;
const STEPS_MAX = 2;
/** One for each worker. A server with fewer or more only answers earlier than it might. */
const PINGS_PER_STEP = 5;

export class Pacer {
  readonly #sendPing: (id: number) => void;
  /** The pings of each step that are not back. */
  readonly #steps: Set<number>[] = [];
  #stepBytes = 0;
  /** Odd: the client's. */
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

  /** A ping is back. Workers may overtake each other. */
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
