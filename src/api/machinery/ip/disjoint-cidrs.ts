/** Ranges without those inside of others, in canonical form: several consumers refuse overlapping ranges. Texts that are no CIDR are left out. */
import { cidrContains, formatCidr, networkOf, parseSloppyCidr, type Cidr } from "./ip-address.ts";

/** Widest first. */
export function disjointCidrs(texts: readonly string[]): readonly string[] {
  const ranges = texts.flatMap((text) => parseSloppyCidr(text) ?? []).map(networkOf);
  const kept: Cidr[] = [];
  for (const range of ranges.toSorted((a, b) => a.prefixLength - b.prefixLength))
    if (!kept.some((wider) => wider.address.family === range.address.family && cidrContains(wider, range.address))) kept.push(range);
  return kept.map(formatCidr);
}
