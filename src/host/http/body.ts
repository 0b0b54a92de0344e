/** Reads a request's body into one array of bytes, with at most the limit in memory. */
import type { Readable } from "node:stream";

export interface BodyOptions {
  readonly bytesMax: number;
  readonly tooLarge: () => Error;
  /** Reason of the client's disconnect, if it happens before the end. */
  readonly disconnectReason: () => unknown;
  /** Receives a function that stops reading: received bytes are dropped, and the body rejects with the reason. */
  readonly onStart: (stop: (reason: unknown) => void) => void;
}

const NOTHING = new Uint8Array();

/** Stops reading over the limit; received bytes are dropped. */
export function readBody(source: Readable, { bytesMax, tooLarge, disconnectReason, onStart }: BodyOptions): Promise<Uint8Array> {
  if (source.readableEnded) return Promise.resolve(NOTHING);
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let sizeBytes = 0;
    const finish = (settle: () => void) => {
      source.off("data", onData).off("end", onEnd).off("close", onClose);
      settle();
    };
    const stop = (reason: unknown) => {
      source.pause();
      finish(() => reject(reason));
    };
    const onData = (chunk: Buffer) => {
      sizeBytes += chunk.length;
      chunks.push(chunk);
      if (sizeBytes > bytesMax) stop(tooLarge());
    };
    const onEnd = () => finish(() => resolve(joined(chunks)));
    const onClose = () => finish(() => reject(disconnectReason()));
    onStart(stop);
    if (source.destroyed) onClose();
    else source.on("data", onData).on("end", onEnd).on("close", onClose);
  });
}

/** A single chunk itself, or a copy of all. */
export function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const [only = NOTHING] = pieces;
  return pieces.length <= 1 ? only : Buffer.concat(pieces);
}

export function totalBytes(pieces: readonly Uint8Array[]): number {
  let total = 0;
  for (const piece of pieces) total += piece.length;
  return total;
}
