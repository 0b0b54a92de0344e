/** Usage over time, kept in the page while it is open, bounded: the API has only the current one. */
import type { Amounts } from "./usage.ts";

export interface Sample extends Amounts {
  readonly atMs: number;
}

/** An hour of samples of 10 s. */
export const SAMPLES_MAX = 360;
/** Objects of which samples are kept; those that were not seen for the longest time are dropped first. */
const SERIES_MAX = 5_000;

export class UsageHistory {
  readonly #series = new Map<string, readonly Sample[]>();

  /** A sample that is not newer than the last one is the same measurement. */
  add(name: string, sample: Sample): void {
    const known = this.#series.get(name) ?? [];
    const last = known.at(-1);
    this.#series.delete(name);
    this.#series.set(name, last !== undefined && last.atMs >= sample.atMs ? known : [...known, sample].slice(-SAMPLES_MAX));
    const [oldest] = this.#series.keys();
    if (this.#series.size > SERIES_MAX && oldest !== undefined) this.#series.delete(oldest);
  }

  of(name: string): readonly Sample[] {
    return this.#series.get(name) ?? [];
  }
}
