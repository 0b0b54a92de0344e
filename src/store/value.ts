/** Constructors of stored values: from existing bytes, or from an object whose bytes may never be needed. */
import type { Value } from "./store.ts";

export function bytesValue(bytes: Uint8Array, memo?: unknown): Value {
  return new BytesValue(bytes, memo);
}

export interface LazyValueOptions {
  /** Returned to the writer. Frozen: it is shared. */
  readonly memo: unknown;
  /** Encodes the bytes; called at most once. */
  readonly makeBytes: () => Uint8Array;
  /** The exact length of the result of `makeBytes`, without encoding (base/json-size.ts). */
  readonly sizeBytes: () => number;
}

export function lazyValue(options: LazyValueOptions): Value {
  return new LazyValue(options);
}

class BytesValue implements Value {
  readonly memo: unknown;
  readonly #bytes: Uint8Array;

  constructor(bytes: Uint8Array, memo: unknown) {
    this.#bytes = bytes;
    this.memo = memo;
  }

  bytes(): Uint8Array {
    return this.#bytes;
  }

  sizeBytes(): number {
    return this.#bytes.length;
  }
}

class LazyValue implements Value {
  readonly memo: unknown;
  #bytes: Uint8Array | undefined;
  #options: LazyValueOptions | undefined;

  constructor(options: LazyValueOptions) {
    this.memo = options.memo;
    this.#options = options;
  }

  bytes(): Uint8Array {
    if (this.#bytes === undefined && this.#options !== undefined) {
      this.#bytes = this.#options.makeBytes();
      this.#options = undefined; // The encoder may retain more than the memo does.
    }
    return this.#bytes as Uint8Array;
  }

  sizeBytes(): number {
    return this.#bytes?.length ?? this.#options?.sizeBytes() ?? 0;
  }
}

export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  for (let index = 0; index < a.length; index++) if (a[index] !== b[index]) return false;
  return true;
}
