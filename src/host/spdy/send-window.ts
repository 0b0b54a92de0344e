/**
 * How much one stream may still send. SPDY/3.1 has such windows, but the library of Kubernetes' clients and of containerd sends and
 * receives without them: whoever waited for it to open one would wait forever. So a window counts from the start and holds nobody up until
 * the other side has shown that it knows them, by a setting or by opening one.
 */
export interface WindowRules {
  /** What every window starts with. */
  readonly initialBytes: number;
  readonly areKept: boolean;
}

export class SendWindow {
  readonly #rules: WindowRules;
  /** Sent minus opened. */
  #usedBytes = 0;
  #isOpen = false;
  #wake: (() => void) | undefined;

  /** `rules` may change while it is used; `add` tells of it. */
  constructor(rules: WindowRules) {
    this.#rules = rules;
  }

  /** Resolves with how much of `bytes` may go now, at least one. For one caller at a time. */
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

  /** Holds nobody up any more: the stream is over. */
  open(): void {
    this.#isOpen = true;
    this.#wake?.();
  }
}
