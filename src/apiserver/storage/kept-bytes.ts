/**
 * Memory for bytes that are kept as long as an object on the heap, such as the stored form of an API object.
 *
 * V8 collects the whole heap each time 64 MB of ArrayBuffers were added, however large the heap is: with a heap of 500 MB half a second of
 * processor time for every 10,000 Pods written. It does not count shared memory for that, so three of four of these bytes are in shared
 * memory, though no other thread gets them. They are freed by the garbage collector like others. The fourth is counted, so that a collection
 * starts before 256 MB wait for it, whatever the objects have on the heap.
 */

/** Larger bytes are ordinary memory: allocating and collecting one costs little beside writing it. */
export const SHARED_BYTES_MAX = 32_768;

/** Bytes of shared memory for each byte of ordinary memory. */
export const SHARED_PER_COUNTED = 3;

export type AllocateBytes = (length: number) => Uint8Array;

/** Of the bytes it allocates, at most SHARED_PER_COUNTED times as many are shared as are not, at any time. */
export function keptBytesAllocator(): AllocateBytes {
  let sharedLeft = 0;
  return (length) => {
    if (length > SHARED_BYTES_MAX) return new Uint8Array(length);
    if (length <= sharedLeft) {
      sharedLeft -= length;
      return new Uint8Array(new SharedArrayBuffer(length));
    }
    sharedLeft += SHARED_PER_COUNTED * length;
    return new Uint8Array(length);
  };
}

/** One for the process, whose memory it is about. Where the decoder refuses shared memory, as in browsers, all of it is ordinary. */
export const keptBytes: AllocateBytes = decodesSharedMemory() ? keptBytesAllocator() : (length) => new Uint8Array(length);

function decodesSharedMemory(): boolean {
  try {
    return new TextDecoder().decode(new Uint8Array(new SharedArrayBuffer(1))) === "\0";
  } catch {
    return false; // Not defined, or refused by the decoder.
  }
}
