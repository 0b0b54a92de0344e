/**
 * Sends a large body in blocks of one size, each when the previous one was accepted, so that a slow reader costs one block and a list of ten
 * thousand objects does not become ten thousand writes. The pieces of the body are copied into one buffer, which is used again for the next
 * block: allocating 50 MB per list would start a collection of the whole heap for each.
 */
import type { Writable } from "node:stream";
import { totalBytes } from "./body.ts";

/** Combines pieces to blocks of `blockBytes`, the last one shorter, each in the buffer that it is given. */
export class Blocks {
  readonly #pieces: readonly Uint8Array[];
  #index = 0;
  /** Bytes of the current piece that were copied. */
  #offset = 0;

  constructor(pieces: readonly Uint8Array[]) {
    this.#pieces = pieces;
  }

  /** Fills the buffer as far as there are bytes, and returns the filled part; undefined at the end. */
  next(buffer: Uint8Array): Uint8Array | undefined {
    let length = 0;
    while (this.#index < this.#pieces.length && length < buffer.length) {
      const piece = this.#pieces[this.#index] as Uint8Array;
      const offset = this.#offset;
      const bytes = Math.min(piece.length - offset, buffer.length - length);
      buffer.set(bytes === piece.length ? piece : piece.subarray(offset, offset + bytes), length);
      length += bytes;
      this.#offset += bytes;
      if (this.#offset === piece.length) {
        this.#index += 1;
        this.#offset = 0;
      }
    }
    return length === 0 ? undefined : buffer.subarray(0, length);
  }
}

/** For a reader that keeps what it was given: each block in a buffer of its own. */
export function* blocksOf(pieces: readonly Uint8Array[], blockBytes: number): Generator<Uint8Array, void> {
  const blocks = new Blocks(pieces);
  for (let restBytes = totalBytes(pieces); restBytes > 0; restBytes -= blockBytes) {
    yield blocks.next(Buffer.allocUnsafeSlow(Math.min(blockBytes, restBytes))) as Uint8Array;
  }
}

export interface SendOptions {
  readonly blockBytes: number;
  /** Called with each block. */
  onBlock(): void;
}

/** Writes all pieces and ends `out`; stops when it is destroyed. */
export function sendBlocks(out: Writable, pieces: readonly Uint8Array[], options: SendOptions): void {
  const blocks = new Blocks(pieces);
  const buffer = Buffer.allocUnsafeSlow(Math.min(options.blockBytes, totalBytes(pieces)));
  // The buffer is free as soon as the write before is over, and not before: "drain" would be too early for a last small block.
  const more = (error?: Error | null) => {
    if (out.destroyed || (error !== undefined && error !== null)) return;
    const block = blocks.next(buffer);
    if (block === undefined) {
      out.end();
      return;
    }
    options.onBlock();
    out.write(block, more);
  };
  more();
}
