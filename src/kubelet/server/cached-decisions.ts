/**
 * Cache of API server decisions with a lifetime, so that frequent kubelet clients do not cause as many API requests. Concurrent identical
 * requests are merged. Failures are not cached.
 */
import type { Clock } from "../../base/clock.ts";
import { Lru } from "../../base/lru.ts";

/** Entries per kind of decision. Upstream's caches are as large within a factor of four. */
const ANSWERS_MAX = 4_096;

export class KeptAnswers<T> {
  readonly #clock: Clock;
  readonly #ttlMs: (answer: T) => number;
  readonly #answers = new Lru<string, { readonly answer: Promise<T>; untilMs: number }>({ max: ANSWERS_MAX });

  constructor(clock: Clock, ttlMs: (answer: T) => number) {
    this.#clock = clock;
    this.#ttlMs = ttlMs;
  }

  async get(key: string, decide: () => Promise<T>): Promise<T> {
    const known = this.#answers.get(key);
    if (known !== undefined && this.#clock.monotonic() < known.untilMs) return known.answer;
    const kept = { answer: decide(), untilMs: Infinity };
    this.#answers.set(key, kept);
    try {
      const answer = await kept.answer;
      kept.untilMs = this.#clock.monotonic() + this.#ttlMs(answer);
      return answer;
    } catch (error) {
      if (this.#answers.peek(key) === kept) this.#answers.delete(key);
      throw error;
    }
  }
}
