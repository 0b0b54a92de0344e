/**
 * The ranges of Service addresses: those of all ready ServiceCIDRs, the configured one first. Until the first ServiceCIDR exists the
 * configured range is used.
 */
import {
  addToIp,
  cidrSize,
  formatIp,
  networkOf,
  offsetIn,
  parseCidr,
  parseIp,
  parseSloppyCidr,
  type Cidr,
} from "../../../api/machinery/ip/ip-address.ts";
import type { IpFamily } from "../../../api/core/v1/service/validate-cluster-ips.ts";
import type { ServiceCIDR } from "../../../api/generated/networking.k8s.io/v1.ts";
import { isInRange, type NumberRange } from "./number-range.ts";

export interface AddressRange {
  readonly family: IpFamily;
  readonly cidr: Cidr;
  /** Offsets that can be allocated; 0 is the network address. */
  readonly offsets: NumberRange;
}

/** Random allocation uses only this much of larger ranges: a cluster has fewer Services. */
const OFFSETS_MAX = 2 ** 31;

/** Parses the configured ranges; throws if they are invalid. */
export function configuredRanges(text: string): readonly AddressRange[] {
  return text.split(",").map((part) => {
    const cidr = parseCidr(part);
    if (cidr !== undefined) return rangeOf(cidr);
    throw new Error(`Invalid Service IP range ${JSON.stringify(part)}: must be a CIDR such as 10.96.0.0/12`);
  });
}

/** The ranges available for allocation now. */
export function readyRanges(objects: readonly ServiceCIDR[], configured: readonly AddressRange[]): readonly AddressRange[] {
  if (objects.length === 0) return configured;
  const ranges = objects.filter(isReady).flatMap(({ spec }) => (spec?.cidrs ?? []).flatMap(parsedRange));
  const isConfigured = (range: AddressRange): boolean => configured.some((known) => isSameCidr(known.cidr, range.cidr));
  return [...ranges.filter(isConfigured), ...ranges.filter((range) => !isConfigured(range))];
}

/** A ServiceCIDR without conditions is new and counts as ready. */
function isReady({ metadata, status }: ServiceCIDR): boolean {
  const ready = (status?.conditions ?? []).find(({ type }) => type === "Ready");
  return metadata.deletionTimestamp === undefined && (ready === undefined || ready.status === "True");
}

function parsedRange(text: string): readonly AddressRange[] {
  const cidr = parseSloppyCidr(text);
  return cidr === undefined ? [] : [rangeOf(cidr)];
}

function isSameCidr(a: Cidr, b: Cidr): boolean {
  return a.prefixLength === b.prefixLength && a.address.family === b.address.family && a.address.value === b.address.value;
}

function rangeOf(parsed: Cidr): AddressRange {
  const cidr = networkOf(parsed);
  const size = Number(cidrSize(cidr) > BigInt(OFFSETS_MAX) ? BigInt(OFFSETS_MAX) : cidrSize(cidr));
  const family = cidr.address.family === 4 ? "IPv4" : "IPv6";
  // Excludes the network and (IPv4) broadcast address. The first is the kubernetes Service's.
  const last = family === "IPv4" ? size - 2 : size - 1;
  return { family, cidr, offsets: { first: 1, last, reserved: reservedAddresses(size) } };
}

/** As upstream: a sixteenth, but at least 16 and at most 256. */
function reservedAddresses(size: number): number {
  return size <= 16 ? 0 : Math.min(256, Math.max(16, Math.floor(size / 16)));
}

/** Canonical form, so that an address cannot be allocated twice in two spellings. */
export function canonicalAddress(address: string): string {
  const ip = parseIp(address);
  return ip === undefined ? address : formatIp(ip);
}

export function addressAt({ cidr }: AddressRange, offset: number): string {
  const address = addToIp(cidr.address, offset);
  return address === undefined ? "" : formatIp(address);
}

export function containsAddress({ cidr, family, offsets }: AddressRange, address: string): boolean {
  const ip = parseIp(address);
  const offset = ip === undefined ? undefined : offsetIn(cidr, ip);
  if (offset === undefined) return false;
  // Addresses of a large IPv6 range beyond the random part can still be requested explicitly.
  return isInRange(offsets, Number(offset)) || (family === "IPv6" && offset > BigInt(offsets.last));
}
