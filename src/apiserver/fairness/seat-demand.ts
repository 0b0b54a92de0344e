/**
 * Seat demand of a priority level: executing and waiting seats, integrated over time. Every adjustment period yields average, deviation and
 * high watermark, and a smoothed envelope that rises immediately and falls slowly (upstream: half-life of 5 minutes).
 */
/** Upstream's decay of the smoothed demand per adjustment period. */
const SMOOTHING_COEFFICIENT = 0.977;

export interface DemandStatistics {
  readonly average: number;
  readonly deviation: number;
  readonly highWatermark: number;
  readonly smoothed: number;
}

const NO_DEMAND: DemandStatistics = { average: 0, deviation: 0, highWatermark: 0, smoothed: 0 };

export class SeatDemand {
  #lastMs: number;
  #seats = 0;
  #elapsedMs = 0;
  #integral = 0;
  #integralOfSquares = 0;
  #max = 0;
  #statistics = NO_DEMAND;

  constructor(nowMs: number) {
    this.#lastMs = nowMs;
  }

  /** Values of the last completed period. */
  get statistics(): DemandStatistics {
    return this.#statistics;
  }

  get seats(): number {
    return this.#seats;
  }

  /** Hot path (called per request): must not allocate. */
  set(seats: number, nowMs: number): void {
    this.#integrate(nowMs);
    this.#seats = seats;
    if (seats > this.#max) this.#max = seats;
  }

  /** Ends a period now. */
  endPeriod(nowMs: number): void {
    this.#integrate(nowMs);
    const before = this.#statistics;
    const highWatermark = Math.round(this.#max);
    if (this.#elapsedMs <= 0) this.#statistics = { ...before, highWatermark };
    else {
      const average = this.#integral / this.#elapsedMs;
      const variance = this.#integralOfSquares / this.#elapsedMs - average * average;
      const deviation = variance > 0 ? Math.sqrt(variance) : 0;
      this.#statistics = { average, deviation, highWatermark, smoothed: smoothedDemand(before.smoothed, average + deviation) };
    }
    this.#elapsedMs = 0;
    this.#integral = 0;
    this.#integralOfSquares = 0;
    this.#max = this.#seats;
  }

  /** The same for `count` whole periods without changes; the last of them ends now. */
  endUnchangedPeriods(count: number, nowMs: number): void {
    if (count <= 0) return;
    const { smoothed } = this.#statistics;
    const excess = Math.max(0, smoothed - this.#seats) * SMOOTHING_COEFFICIENT ** (count - 1);
    this.#statistics = { ...this.#statistics, smoothed: this.#seats + excess };
    this.endPeriod(nowMs);
  }

  #integrate(nowMs: number): void {
    const passedMs = nowMs - this.#lastMs;
    this.#lastMs = nowMs;
    this.#elapsedMs += passedMs;
    this.#integral += this.#seats * passedMs;
    this.#integralOfSquares += this.#seats * this.#seats * passedMs;
  }
}

/** Rises to the envelope (average plus deviation) immediately and decays towards it. */
export function smoothedDemand(before: number, envelope: number): number {
  return Math.max(envelope, SMOOTHING_COEFFICIENT * before + (1 - SMOOTHING_COEFFICIENT) * envelope);
}
