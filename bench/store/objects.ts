/** Keys and values as an API server would write them: the same for every subject, and cheap to create. */

const NAMESPACES = 50;

/** Number of distinct values; always writing the same bytes would favour caches. */
const VALUES = 64;

/** A bijection of 32 bits with no visible order: names of Pods end with random letters, so they do not arrive in key order. */
const SCRAMBLE = 0x9e37_79b1;

/** The unique key of the Pod with this number, which is below 2^32. */
export function podKey(number: number): string {
  return `/pods/ns-${number % NAMESPACES}/web-${(Math.imul(number, SCRAMBLE) >>> 0).toString(36)}`;
}

/** A unique value in its own buffer. */
export function podBytes(number: number, sizeBytes: number): Uint8Array {
  const start = `{"kind":"Pod","metadata":{"name":"web-${number}"},"spec":"`;
  return new TextEncoder().encode(`${start}${"x".repeat(sizeBytes - start.length - 2)}"}`);
}

/** Cycles through precomputed values. */
export function podValues(sizeBytes: number): (number: number) => Uint8Array {
  const values = Array.from({ length: VALUES }, (_, number) => podBytes(number, sizeBytes));
  return (number) => values[number % VALUES] as Uint8Array;
}
