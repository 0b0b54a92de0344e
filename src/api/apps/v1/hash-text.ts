/** Text form of hashes in names and labels of ReplicaSets and ControllerRevisions. */

/** Upstream's alphabet of generated names: no vowels, and no digits that look like them, so that no words occur. */
const LETTERS = "bcdfghjklmnpqrstvwxz2456789";

/** Upstream's SafeEncodeString of a decimal number: one letter for each digit. */
export function encodeHash(hash: number): string {
  return Array.from(hash.toString(), (digit) => LETTERS.charAt(digit.charCodeAt(0) % LETTERS.length)).join("");
}
