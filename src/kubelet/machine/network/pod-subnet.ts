/**
 * Chooses the range of a cluster's Pod addresses: one that neither the machine's routes nor other clusters on it use, so that clusters
 * coexist and no reachable network is cut off. Pure. Ranges are IPv4, as "10.244.0.0/16".
 */

/** Candidates: upstream's tools start with 10.244.0.0/16; the others are rarely used. The services' 10.96.0.0/12 is not among them. */
const CANDIDATES = [...from(244, 255), ...from(128, 199), ...from(232, 243)].map((second) => `10.${second}.0.0/16`);

function from(first: number, last: number): readonly number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

export interface SubnetOptions {
  /** The cluster's previous range, kept if possible. */
  readonly preferred?: string;
  /** Route destinations (without those of this cluster's bridge), and ranges of other clusters. */
  readonly taken: readonly string[];
}

/** Undefined if all are in use. */
export function choosePodSubnet({ preferred, taken }: SubnetOptions): string | undefined {
  const candidates = preferred === undefined ? CANDIDATES : [preferred, ...CANDIDATES];
  return candidates.find((candidate) => !taken.some((other) => !isDefault(other) && overlap(candidate, other)));
}

/** The default route overlaps with everything and is ignored. */
function isDefault(range: string): boolean {
  return range.endsWith("/0");
}

/** Two ranges overlap if they are equal in the shorter of their prefixes. */
export function overlap(one: string, other: string): boolean {
  const [a, b] = [parsed(one), parsed(other)];
  const bits = Math.min(a.bits, b.bits);
  return bits === 0 || a.address >>> (32 - bits) === b.address >>> (32 - bits);
}

function parsed(range: string): { readonly address: number; readonly bits: number } {
  const [, a, b, c, d, bits] = (/^(\d+)\.(\d+)\.(\d+)\.(\d+)\/(\d+)$/.exec(range) ?? []).map(Number);
  if (
    a === undefined ||
    b === undefined ||
    c === undefined ||
    d === undefined ||
    bits === undefined ||
    Math.max(a, b, c, d) > 255 ||
    bits > 32
  ) {
    throw new RangeError(`Cannot read "${range}" as a range of addresses: it should be as 10.244.0.0/16`);
  }
  return { address: ((a << 24) | (b << 16) | (c << 8) | d) >>> 0, bits };
}
