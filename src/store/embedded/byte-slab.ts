/**
 * Slab allocator for many small byte arrays that are allocated and dropped together, such as those of one list: they share large blocks,
 * since one block each costs more than filling it. Retaining one slice retains its block, so it is for lists and not for single values,
 * which use Node's own pool.
 */
const BLOCK_BYTES = 262_144;

/** Larger slices get their own memory, so that at most an eighth of a block is wasted. */
const SHARED_PIECE_BYTES_MAX = BLOCK_BYTES / 8;

export type Allocate = (sizeBytes: number) => Buffer;

export function slabAllocator(): Allocate {
  let block = Buffer.alloc(0);
  let used = 0;
  return (sizeBytes) => {
    if (sizeBytes > SHARED_PIECE_BYTES_MAX) return Buffer.allocUnsafeSlow(sizeBytes);
    if (used + sizeBytes > block.length) {
      block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
      used = 0;
    }
    used += sizeBytes;
    return block.subarray(used - sizeBytes, used);
  };
}
