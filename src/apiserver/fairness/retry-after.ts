/**
 * The Retry-After of rejected requests of one priority level: doubles while many are rejected and decrements while few are (upstream:
 * dropped_requests_tracker.go). Counts per second, and evaluates when a second ends.
 */
const RETRY_AFTER_MAX_S = 32;

interface RejectedInSecond {
  readonly second: number;
  readonly requests: number;
}

export class RetryAfter {
  /** Oldest first; never longer than RETRY_AFTER_MAX_S seconds. */
  #history: RejectedInSecond[] = [];
  #second = 0;
  #requests = 0;
  #seconds = 1;
  #raisedAtSecond = 0;

  /** The value for a client rejected now. */
  get seconds(): number {
    return this.#seconds;
  }

  rejected(nowMs: number): void {
    const second = Math.floor(nowMs / 1_000);
    if (second === this.#second) {
      this.#requests++;
      return;
    }
    this.#record();
    this.#second = second;
    this.#requests = 1;
    this.#adjust(second);
  }

  #record(): void {
    const keptSeconds = Math.min(2 * this.#seconds, RETRY_AFTER_MAX_S);
    this.#history.push({ second: this.#second, requests: this.#requests });
    this.#history = this.#history.filter(({ second }) => this.#second - second <= keptSeconds);
  }

  /** Based on the rejections of the last `seconds` whole seconds. */
  #adjust(now: number): void {
    const rejected = this.#history.reduce(
      (sum, { second, requests }) => sum + (second < now && now - second <= this.#seconds ? requests : 0),
      0,
    );
    if (now - this.#raisedAtSecond >= this.#seconds && rejected >= 3 * this.#seconds) {
      this.#seconds = Math.min(2 * this.#seconds, RETRY_AFTER_MAX_S);
      this.#raisedAtSecond = now;
    } else if (rejected < this.#seconds && this.#seconds > 1) this.#seconds--;
  }
}
