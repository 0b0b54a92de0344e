/** Sizes of a client's terminal: a reader gets the newest, since intermediate sizes do not matter. */
import type { TerminalSize } from "../contracts/runtime.ts";

export class TerminalSizes implements AsyncIterable<TerminalSize> {
  #newest: TerminalSize | undefined;
  #isEnded = false;
  #wake: (() => void) | undefined;

  /** `{"Width":80,"Height":24}`. Invalid sizes are ignored. */
  take(payload: Uint8Array): void {
    const size = sizeOf(new TextDecoder().decode(payload));
    if (size === undefined || this.#isEnded) return;
    this.#newest = size;
    this.#wake?.();
  }

  end(): void {
    this.#isEnded = true;
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<TerminalSize> {
    for (;;) {
      const size = this.#newest;
      this.#newest = undefined;
      if (size !== undefined) yield size;
      else if (this.#isEnded) return;
      else await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }
}

function sizeOf(text: string): TerminalSize | undefined {
  try {
    const { Width: width, Height: height } = Object(JSON.parse(text)) as { readonly Width?: unknown; readonly Height?: unknown };
    return isExtent(width) && isExtent(height) ? { width, height } : undefined;
  } catch {
    return undefined;
  }
}

/** 16 bits, as the kernel's terminal sizes. */
function isExtent(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value < 1 << 16;
}
