/**
 * A histogram of a value over time: the duration in each bucket (upstream: "observations at the end of every nanosecond"). Beside it a
 * plain one of observations; both cost a short scan per change and allocate nothing.
 */
const NANOSECONDS_PER_MS = 1e6;

export interface HistogramValues {
  readonly counts: readonly number[];
  readonly sum: number;
  readonly count: number;
}

export class ObservationHistogram implements HistogramValues {
  readonly counts: number[];
  sum = 0;
  count = 0;
  readonly #bounds: readonly number[];

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.counts = Array.from({ length: bounds.length + 1 }, () => 0);
  }

  observe(value: number): void {
    const bucket = bucketOf(this.#bounds, value);
    this.counts[bucket] = (this.counts[bucket] as number) + 1;
    this.sum += value;
    this.count++;
  }
}

/** Histogram of a ratio whose denominator, a limit, may change. */
export class TimingHistogram {
  readonly #bounds: readonly number[];
  readonly #counts: number[];
  #sum = 0;
  #count = 0;
  #lastMs: number;
  #numerator = 0;
  #denominator = 1;

  constructor(bounds: readonly number[], nowMs: number) {
    this.#bounds = bounds;
    this.#counts = Array.from({ length: bounds.length + 1 }, () => 0);
    this.#lastMs = nowMs;
  }

  set(numerator: number, nowMs: number): void {
    this.#observe(nowMs);
    this.#numerator = numerator;
  }

  setDenominator(denominator: number, nowMs: number): void {
    this.#observe(nowMs);
    this.#denominator = denominator;
  }

  values(nowMs: number): HistogramValues {
    this.#observe(nowMs);
    return { counts: this.#counts, sum: this.#sum, count: this.#count };
  }

  #observe(nowMs: number): void {
    const passed = Math.round((nowMs - this.#lastMs) * NANOSECONDS_PER_MS);
    this.#lastMs = nowMs;
    if (passed <= 0) return;
    const ratio = this.#numerator / this.#denominator;
    const bucket = bucketOf(this.#bounds, ratio);
    this.#counts[bucket] = (this.#counts[bucket] as number) + passed;
    this.#sum += ratio * passed;
    this.#count += passed;
  }
}

function bucketOf(bounds: readonly number[], value: number): number {
  let bucket = 0;
  while (bucket < bounds.length && value > (bounds[bucket] as number)) bucket++;
  return bucket;
}
