/**
 * Memory for bytes that are kept as long as an object on the heap, such as the stored form of an API object.
 *
 * V8 collects the whole heap each time 64 MB of ArrayBuffers were added, however large the heap is: with a heap of 500 MB half a second of
 * processor time for every 10,000 Pods written. It does not count shared memory for that, so these bytes are in shared memory, though no
 * other thread gets them. They are still freed by the garbage collector, together with the object that keeps them; the heap that such
 * objects use, which is counted, bounds what is not collected yet.
 */

/** Larger bytes are ordinary memory: a few of them would be many times as large as the objects on the heap that keep them. */
export const SHARED_BYTES_MAX = 32_768;

/** The decoder of browsers does not read shared memory; Node's does. */
const canDecodeShared = decodesSharedMemory();

export function keptBytes(length: number): Uint8Array {
  return canDecodeShared && length <= SHARED_BYTES_MAX ? new Uint8Array(new SharedArrayBuffer(length)) : new Uint8Array(length);
}

function decodesSharedMemory(): boolean {
  try {
    return new TextDecoder().decode(new Uint8Array(new SharedArrayBuffer(1))) === "\0";
  } catch {
    return false; // Not defined, or refused by the decoder.
  }
}
