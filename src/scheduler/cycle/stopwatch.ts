/** Measures how long the extension points of a cycle take: a clock reading per point, none per node or plugin. */

/** Upstream's names. */
export type ExtensionPoint = "PreFilter" | "Filter" | "PostFilter" | "Score" | "Reserve" | "PreBind" | "Bind" | "PostBind";

export type PointStatus = "Success" | "Unschedulable" | "Error";

export interface PointObserver {
  extensionPoint(point: ExtensionPoint, labels: { readonly status: PointStatus; readonly profile: string }, seconds: number): void;
}

export class Stopwatch {
  readonly #monotonic: () => number;
  readonly #observer: PointObserver;
  #startedMs = 0;
  #profile = "";

  /** `monotonic`: the clock's. */
  constructor(monotonic: () => number, observer: PointObserver) {
    this.#monotonic = monotonic;
    this.#observer = observer;
  }

  /** The next point begins now. */
  start(profile: string): void {
    this.#profile = profile;
    this.#startedMs = this.#monotonic();
  }

  /** The point has ended, and the next one begins. */
  lap(point: ExtensionPoint, status: PointStatus = "Success"): void {
    const nowMs = this.#monotonic();
    this.#observer.extensionPoint(point, { status, profile: this.#profile }, (nowMs - this.#startedMs) / 1_000);
    this.#startedMs = nowMs;
  }
}
