/**
 * Hands the requests that arrived in one event-loop tick to their handler together, after all of them were read. Microtasks run between the
 * steps of a request, so requests that start together are executed step by step: the code of a step, which hundreds of functions make up,
 * is fetched once into the processor's caches for all of them and not once per request. With many connections this takes a third to a half
 * off what a request costs; a request that arrives alone starts in the same tick.
 */

/**
 * Maximum number of requests that start together: more gain nothing, and the first one would wait longer for the last. Others start in the
 * next tick, after what has arrived meanwhile was read.
 */
export const REQUESTS_TOGETHER_MAX = 32;

export class Arrivals<Request> {
  readonly #handle: (request: Request) => void;
  #waiting: Request[] = [];

  /** `handle` must not throw. */
  constructor(handle: (request: Request) => void) {
    this.#handle = handle;
  }

  add(request: Request): void {
    if (this.#waiting.push(request) === 1) setImmediate(this.#start);
  }

  readonly #start = (): void => {
    const waiting = this.#waiting;
    this.#waiting = waiting.length > REQUESTS_TOGETHER_MAX ? waiting.splice(REQUESTS_TOGETHER_MAX) : [];
    if (this.#waiting.length > 0) setImmediate(this.#start);
    for (const request of waiting) this.#handle(request);
  };
}
