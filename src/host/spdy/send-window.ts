/**
 * Send window of a stream. SPDY/3.1 has flow control, but the library of Kubernetes' clients and containerd ignores it: waiting for a
 * window update from it would block forever. So a window counts from the start, but blocks only after the peer has shown support, by a
 * setting or a window update.
 */
export interface WindowRules {
  /** Initial window. */
  readonly initialBytes: number;
  readonly areKept: boolean;
}

export class SendWindow {
  readonly #rules: WindowRules;
  /** Bytes sent minus window updates. */
  #usedBytes = 0;
  #isOpen = false;
  #wake: (() => void) | undefined;

  /** `rules` may change while it is used; `add` applies the change. */
  constructor(rules: WindowRules) {
    this.#rules = rules;
  }

  /** Resolves with how many of `bytes` may be sent now, at least one. For one caller at a time. */
  async take(bytes: number): Promise<number> {
    while (this.#room() <= 0) await new Promise<void>((resolve) => (this.#wake = resolve));
    const taken = Math.min(bytes, this.#room());
    this.#usedBytes += taken;
    return taken;
  }

  #room(): number {
    return this.#isOpen || !this.#rules.areKept ? Infinity : this.#rules.initialBytes - this.#usedBytes;
  }

  add(bytes: number): void {
    this.#usedBytes -= bytes;
    this.#wake?.();
  }

  /** Stops blocking: the stream is closed. */
  open(): void {
    this.#isOpen = true;
    this.#wake?.();
  }
}
