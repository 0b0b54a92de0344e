/** The size of a string after replace(), from the sizes of the parts. */
import { add, multiply, type Range } from "./size.ts";
import { UINT_MAX } from "../syntax/literals.ts";

interface Bound {
  readonly count: bigint;
  readonly kept: bigint;
}

export function replaced(size: Range, old: Range, replacement: Range): Range {
  const longest = longestBound(size.max, old.min, replacement.max);
  const shortest = shortestBound(size.min, old.max, replacement.min);
  const count: Range = { min: shortest.count, max: longest.count };
  return add(multiply(count, replacement), { min: shortest.kept, max: longest.kept });
}

function longestBound(size: bigint, oldMin: bigint, replacementMax: bigint): Bound {
  if (oldMin === 0n) return surrounded(size);
  if (replacementMax <= oldMin) return { count: 0n, kept: size };
  return { count: divideUp(size, oldMin), kept: 0n };
}

function shortestBound(size: bigint, oldMax: bigint, replacementMin: bigint): Bound {
  if (oldMax === 0n) return surrounded(size);
  if (oldMax <= replacementMin) return { count: 0n, kept: size };
  return { count: divideUp(size, oldMax), kept: 0n };
}

/** An empty text is found around every character. */
function surrounded(size: bigint): Bound {
  return { count: size < UINT_MAX ? size + 1n : size, kept: size };
}

/** In doubles, as upstream computes it. */
function divideUp(a: bigint, b: bigint): bigint {
  return BigInt(Math.min(Math.ceil(Number(a) / Number(b)), Number(UINT_MAX)));
}
