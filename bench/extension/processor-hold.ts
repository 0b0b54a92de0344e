/**
 * Processor time that the main thread takes between two events of its loop: how long the loop is held on a machine that does nothing else.
 * Unlike the time of the clock it does not grow when other processes take the processors. Linux only.
 */
import { closeSync, openSync, readSync } from "node:fs";

const INTERVAL_MS = 1;
const NANOSECONDS_PER_MS = 1e6;
/** Three numbers, the first of which is the thread's processor time in nanoseconds; the kernel updates it every 4 ms at least. */
const BYTES = 128;

export class ProcessorHold {
  readonly #file: number;
  readonly #timer: NodeJS.Timeout;
  readonly #buffer = Buffer.alloc(BYTES);
  #before: number;
  #longestMs = 0;

  private constructor(file: number) {
    this.#file = file;
    this.#before = this.#spentMs();
    this.#timer = setInterval(() => this.#observe(), INTERVAL_MS).unref();
  }

  /** Undefined where the kernel has no such figure. */
  static start(): ProcessorHold | undefined {
    try {
      return new ProcessorHold(openSync(`/proc/self/task/${process.pid}/schedstat`, "r"));
    } catch {
      return undefined;
    }
  }

  reset(): void {
    this.#longestMs = 0;
    this.#before = this.#spentMs();
  }

  get longestMs(): number {
    return this.#longestMs;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    closeSync(this.#file);
  }

  #observe(): void {
    const spent = this.#spentMs();
    this.#longestMs = Math.max(this.#longestMs, spent - this.#before);
    this.#before = spent;
  }

  #spentMs(): number {
    const length = readSync(this.#file, this.#buffer, 0, BYTES, 0);
    return Number.parseInt(this.#buffer.toString("latin1", 0, length), 10) / NANOSECONDS_PER_MS;
  }
}
