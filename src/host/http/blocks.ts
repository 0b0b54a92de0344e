/**
 * Sends a large body: small chunks are combined into blocks of one size, and each is sent when the previous one was accepted, so that a
 * slow reader costs one block and a list of ten thousand objects does not become ten thousand writes.
 */
import type { Writable } from "node:stream";
import { joined } from "./body.ts";

/** Chunks of at least the block size stay unchanged. */
export function* blocksOf(pieces: readonly Uint8Array[], blockBytes: number): Generator<Uint8Array, void> {
  let waiting: Uint8Array[] = [];
  let waitingBytes = 0;
  for (const piece of pieces) {
    if (waitingBytes > 0 && waitingBytes + piece.length > blockBytes) {
      yield joined(waiting);
      waiting = [];
      waitingBytes = 0;
    }
    waiting.push(piece);
    waitingBytes += piece.length;
  }
  if (waitingBytes > 0) yield joined(waiting);
}

/** Writes all blocks and ends `out`; stops when it is destroyed. `onBlock` is called with each. */
export function sendBlocks(out: Writable, blocks: Iterator<Uint8Array, void>, onBlock: () => void): void {
  const more = () => {
    while (!out.destroyed) {
      const { done, value } = blocks.next();
      if (done === true) {
        out.end();
        return;
      }
      onBlock();
      if (!out.write(value)) {
        out.once("drain", more);
        return;
      }
    }
  };
  more();
}
