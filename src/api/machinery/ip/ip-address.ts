/**
 * IP addresses and CIDRs as numbers, so that allocators can count within a range (ClusterIPs, Pod CIDRs). Parsed as Go's net/netip does: no
 * leading zeros, no zones. The lenient form with leading zeros is for fields that always allowed them. Not here: validation of fields and
 * its messages (ip-validation.ts).
 */

export interface IpAddress {
  readonly family: 4 | 6;
  readonly value: bigint;
}

/** An address and its prefix length. The address may have host bits set: see `networkOf`. */
export interface Cidr {
  readonly address: IpAddress;
  readonly prefixLength: number;
}

interface Reading {
  /** Accepts leading zeros. */
  readonly sloppy: boolean;
}

const BITS = { 4: 32, 6: 128 } as const;
/** ::ffff:0.0.0.0, the prefix of IPv4-mapped IPv6 addresses. */
const MAPPED_BASE = 0xffffn << 32n;
const GROUPS = 8;
const GROUP_DIGITS = 4;
const BYTE_MAX = 255;
const DIGIT_ZERO = 48;

export function parseIp(text: string): IpAddress | undefined {
  return readIp(text, { sloppy: false });
}

/** "010.0.0.1" is 10.0.0.1: upstream's lenient parser. */
export function parseSloppyIp(text: string): IpAddress | undefined {
  return readIp(text, { sloppy: true });
}

/** Longer than any address without leading zeros: a text of megabytes is not split into its parts. */
const TEXT_LENGTH_MAX = 100;

function readIp(text: string, reading: Reading): IpAddress | undefined {
  if (!reading.sloppy && text.length > TEXT_LENGTH_MAX) return undefined;
  const family = text.includes(":") ? 6 : 4;
  const value = family === 6 ? readIpv6(text, reading) : readIpv4(text, reading);
  return value === undefined ? undefined : { family, value };
}

function readIpv4(text: string, { sloppy }: Reading): bigint | undefined {
  let value = 0;
  let bytes = 0;
  let byte: number | undefined;
  // Parsed digit by digit for speed: NetworkPolicies and EndpointSlices have tens of thousands of addresses.
  for (let at = 0; at <= text.length; at++) {
    const digit = text.charCodeAt(at) - DIGIT_ZERO;
    if (digit >= 0 && digit <= 9) {
      if (byte === 0 && !sloppy) return undefined;
      byte = (byte ?? 0) * 10 + digit;
      if (byte > BYTE_MAX) return undefined;
    } else {
      const isEnd = at === text.length;
      if (byte === undefined || bytes === 4 || (!isEnd && text[at] !== ".")) return undefined;
      value = value * (BYTE_MAX + 1) + byte;
      bytes++;
      byte = undefined;
    }
  }
  return bytes === 4 ? BigInt(value) : undefined;
}

/** Groups of 16 bits, the last two of which may be written as an IPv4 address. "::" stands for at least one group of zeros. */
function readIpv6(text: string, reading: Reading): bigint | undefined {
  const groups: number[] = [];
  let gapAt = text.startsWith("::") ? 0 : undefined;
  for (let at = gapAt === undefined ? 0 : 2; at < text.length;) {
    const end = groupEnd(text, at, reading);
    if (end === undefined) return undefined;
    if (text[end] === ".") {
      const value = readIpv4(text.slice(at), reading);
      if (value === undefined) return undefined;
      groups.push(Number(value >> 16n), Number(value & 0xffffn));
      break;
    }
    groups.push(Number.parseInt(text.slice(at, end), 16));
    at = end + 1;
    if (end === text.length) break;
    if (text[end] !== ":" || at === text.length) return undefined;
    if (text[at] !== ":") continue;
    if (gapAt !== undefined) return undefined;
    gapAt = groups.length;
    at++;
  }
  const missing = GROUPS - groups.length;
  if (gapAt === undefined ? missing !== 0 : missing < 1) return undefined;
  if (missing > 0) groups.splice(gapAt ?? 0, 0, ...Array.from({ length: missing }, () => 0));
  return joinGroups(groups);
}

/** Returns the end of the hexadecimal digits that begin here; undefined if none exist, or too many. */
function groupEnd(text: string, start: number, { sloppy }: Reading): number | undefined {
  let end = start;
  // Leading zeros do not count where they are allowed, but at least one digit is required.
  if (sloppy) while (text[end] === "0") end++;
  const significant = end;
  while (isHexadecimal(text.charCodeAt(end))) end++;
  return end === start || end - significant > GROUP_DIGITS ? undefined : end;
}

function isHexadecimal(code: number): boolean {
  return (code >= 48 && code <= 57) || (code >= 97 && code <= 102) || (code >= 65 && code <= 70);
}

/** Two groups at a time: still exact in a number. */
function joinGroups(groups: readonly number[]): bigint {
  let value = 0n;
  for (let at = 0; at < GROUPS; at += 2) value = (value << 32n) | BigInt((groups[at] ?? 0) * 0x10000 + (groups[at + 1] ?? 0));
  return value;
}

function withoutLeadingZeros(digits: string): string {
  if (!digits.startsWith("0")) return digits;
  return digits.replace(/^0+(?=[0-9a-fA-F])/, "");
}

/** RFC 5952: lower case, and "::" for the longest run of at least two zero groups. */
export function formatIp(address: IpAddress): string {
  if (address.family === 4) return formatIpv4(address.value);
  if (isMapped(address)) return `::ffff:${formatIpv4(address.value & 0xffffffffn)}`;
  const digits = address.value.toString(16).padStart(4 * GROUPS, "0");
  const groups = Array.from({ length: GROUPS }, (_, index) => digits.slice(4 * index, 4 * index + 4).replace(/^0{1,3}/, ""));
  const zeros = longestZeroRun(groups);
  if (zeros.length < 2) return groups.join(":");
  return `${groups.slice(0, zeros.start).join(":")}::${groups.slice(zeros.start + zeros.length).join(":")}`;
}

function formatIpv4(value: bigint): string {
  const number = Number(value);
  return [24, 16, 8, 0].map((shift) => (number >>> shift) & BYTE_MAX).join(".");
}

/** The first of the longest runs. */
function longestZeroRun(groups: readonly string[]): { start: number; length: number } {
  let longest = { start: 0, length: 0 };
  for (let start = 0; start < groups.length; start++) {
    let end = start;
    while (groups[end] === "0") end++;
    if (end - start > longest.length) longest = { start, length: end - start };
  }
  return longest;
}

/** True for an IPv4-mapped IPv6 address. */
export function isMapped({ family, value }: IpAddress): boolean {
  return family === 6 && value >> 32n === MAPPED_BASE >> 32n;
}

/** Returns the IPv4 address of an IPv4-mapped one; other addresses unchanged. */
export function unmapIp(address: IpAddress): IpAddress {
  return isMapped(address) ? { family: 4, value: address.value & 0xffffffffn } : address;
}

/** The address at an offset from this one; undefined beyond the last address of the family. */
export function addToIp({ family, value }: IpAddress, offset: number | bigint): IpAddress | undefined {
  const sum = value + BigInt(offset);
  return sum < 0n || sum >= 1n << BigInt(BITS[family]) ? undefined : { family, value: sum };
}

export function compareIps(a: IpAddress, b: IpAddress): number {
  if (a.family !== b.family) return a.family - b.family;
  return a.value < b.value ? -1 : a.value > b.value ? 1 : 0;
}

export function parseCidr(text: string): Cidr | undefined {
  return readCidr(text, { sloppy: false });
}

export function parseSloppyCidr(text: string): Cidr | undefined {
  return readCidr(text, { sloppy: true });
}

function readCidr(text: string, reading: Reading): Cidr | undefined {
  const slash = text.indexOf("/");
  if (slash < 0) return undefined;
  const address = readIp(text.slice(0, slash), reading);
  const tail = text.slice(slash + 1);
  const digits = reading.sloppy ? withoutLeadingZeros(tail) : tail;
  if (address === undefined || !/^(?:0|[1-9][0-9]{0,2})$/.test(digits)) return undefined;
  const prefixLength = Number(digits);
  return prefixLength > BITS[address.family] ? undefined : { address, prefixLength };
}

export function formatCidr({ address, prefixLength }: Cidr): string {
  return `${formatIp(address)}/${prefixLength}`;
}

/** The CIDR with host bits cleared. */
export function networkOf({ address, prefixLength }: Cidr): Cidr {
  const free = BigInt(BITS[address.family] - prefixLength);
  return { address: { family: address.family, value: (address.value >> free) << free }, prefixLength };
}

/** Number of addresses in the CIDR. */
export function cidrSize({ address, prefixLength }: Cidr): bigint {
  return 1n << BigInt(BITS[address.family] - prefixLength);
}

export function lastAddressOf(cidr: Cidr): IpAddress {
  const { address } = networkOf(cidr);
  return { family: address.family, value: address.value + cidrSize(cidr) - 1n };
}

export function cidrContains(cidr: Cidr, address: IpAddress): boolean {
  return offsetIn(cidr, address) !== undefined;
}

/** Offset of an address from the first one of the CIDR; undefined if it is outside. */
export function offsetIn(cidr: Cidr, address: IpAddress): bigint | undefined {
  if (cidr.address.family !== address.family) return undefined;
  const offset = address.value - networkOf(cidr).address.value;
  return offset < 0n || offset >= cidrSize(cidr) ? undefined : offset;
}

export function cidrsOverlap(a: Cidr, b: Cidr): boolean {
  return cidrContains(a, networkOf(b).address) || cidrContains(b, networkOf(a).address);
}
