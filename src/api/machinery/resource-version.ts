/**
 * Compares resourceVersions. To a client they are decimal numbers of any length (upstream guarantees that since 1.35), kept as text: a
 * JavaScript number would lose digits above 2^53. Only versions of one resource of one cluster are comparable.
 */

/** True for a decimal number of at least 1 without leading zeros. "" and "0" have a meaning in requests only. */
export function isResourceVersion(text: string | undefined): text is string {
  // A server may send any JSON: a number would match the pattern but not compare.
  return typeof text === "string" && /^[1-9]\d*$/.test(text);
}

/** Negative if `a` is older, positive if it is newer. "" is older than every version. */
export function compareResourceVersions(a: string, b: string): number {
  if (a.length !== b.length) return a.length - b.length;
  return a < b ? -1 : a > b ? 1 : 0;
}
