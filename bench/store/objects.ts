/** Keys and values as an API server would write them: the same for every subject, and made fast enough not to be what is measured. */

const NAMESPACES = 50;

/** Different values; writing always the same bytes would be kinder to caches than life is. */
const VALUES = 64;

/** A bijection of 32 bits with no visible order: names of Pods end with random letters, so they do not come in the order of keys. */
const SCRAMBLE = 0x9e37_79b1;

/** The key of the pod with this number, which is below 2^32; each has its own. */
export function podKey(number: number): string {
  return `/pods/ns-${number % NAMESPACES}/web-${(Math.imul(number, SCRAMBLE) >>> 0).toString(36)}`;
}

/** A value of its own, in memory of its own. */
export function podBytes(number: number, sizeBytes: number): Uint8Array {
  const start = `{"kind":"Pod","metadata":{"name":"web-${number}"},"spec":"`;
  return new TextEncoder().encode(`${start}${"x".repeat(sizeBytes - start.length - 2)}"}`);
}

/** Gives the next of a few values that were made before. */
export function podValues(sizeBytes: number): (number: number) => Uint8Array {
  const values = Array.from({ length: VALUES }, (_, number) => podBytes(number, sizeBytes));
  return (number) => values[number % VALUES] as Uint8Array;
}
