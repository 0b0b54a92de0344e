/**
 * Which addresses a cluster's Pods get: a range that neither the machine's routes nor other clusters on it use, so that named clusters live
 * side by side and nothing that the machine reaches today is cut off. Pure. Ranges are IPv4, as "10.244.0.0/16".
 */

/** Upstream's tools begin with 10.244.0.0/16; the others follow where few networks are. The services' 10.96.0.0/12 is not among them. */
const CANDIDATES = [...from(244, 255), ...from(128, 199), ...from(232, 243)].map((second) => `10.${second}.0.0/16`);

function from(first: number, last: number): readonly number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

export interface SubnetOptions {
  /** What this cluster had before; it keeps it if it can. */
  readonly preferred?: string;
  /** Destinations of routes (without those of this cluster's own bridge), and what other clusters have. */
  readonly taken: readonly string[];
}

/** Undefined if all are taken. */
export function choosePodSubnet({ preferred, taken }: SubnetOptions): string | undefined {
  const candidates = preferred === undefined ? CANDIDATES : [preferred, ...CANDIDATES];
  return candidates.find((candidate) => !taken.some((other) => !isDefault(other) && overlap(candidate, other)));
}

/** The way to everything else overlaps with all there is, and means nothing. */
function isDefault(range: string): boolean {
  return range.endsWith("/0");
}

/** Two ranges overlap if they are the same as far as the shorter of their prefixes goes. */
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
