/**
 * Which of two resourceVersions is newer. To a client they are decimal numbers of any length (upstream promises that since 1.35), held
 * as text: a number of JavaScript would lose digits above 2^53. Versions of one resource of one cluster compare; others say nothing.
 */

/** Whether it is one: a decimal number from 1 on, as it is written. "" and "0" are words of requests, not versions of anything. */
export function isResourceVersion(text: string | undefined): text is string {
  // Whatever a server sends: a number would pass the test, and not compare.
  return typeof text === "string" && /^[1-9]\d*$/.test(text);
}

/** Below 0 if `a` is older, above 0 if it is newer. "" is older than every version: nothing is known yet. */
export function compareResourceVersions(a: string, b: string): number {
  if (a.length !== b.length) return a.length - b.length;
  return a < b ? -1 : a > b ? 1 : 0;
}
