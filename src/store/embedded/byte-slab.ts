/**
 * Memory for many small pieces of bytes that are made and dropped together, as those of one list: they share large blocks,
 * since a block each costs more than filling it. Whoever keeps one piece keeps its block, so it is for lists and not for
 * single values, which use Node's own small pool.
 */
const BLOCK_BYTES = 262_144;

/** Larger pieces get memory of their own, so that at most an eighth of a block is wasted. */
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
