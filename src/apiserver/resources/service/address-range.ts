/**
 * The ranges from which Services get their addresses: those of the ServiceCIDRs that are ready, the configured one first. Until the first
 * ServiceCIDR is there, the configured one stands for it.
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
} from "../../../api/machinery/ip-address.ts";
import type { IpFamily } from "../../../api/core/v1/service/validate-cluster-ips.ts";
import type { ServiceCIDR } from "../../../api/generated/networking.k8s.io/v1.ts";
import { isInRange, type NumberRange } from "./number-range.ts";

export interface AddressRange {
  readonly family: IpFamily;
  readonly cidr: Cidr;
  /** Of the offsets that are given; 0 is the network itself. */
  readonly offsets: NumberRange;
}

/** Larger ranges are used only so far when an address is chosen: more Services than this do not fit into a cluster. */
const OFFSETS_MAX = 2 ** 31;

/** The configured ranges; throws if the text is none. */
export function configuredRanges(text: string): readonly AddressRange[] {
  return text.split(",").map((part) => {
    const cidr = parseCidr(part);
    if (cidr !== undefined) return rangeOf(cidr);
    throw new Error(`Cannot use ${JSON.stringify(part)} for the addresses of Services: it must be a range such as 10.96.0.0/12`);
  });
}

/** Those that addresses are taken from at the moment. */
export function readyRanges(objects: readonly ServiceCIDR[], configured: readonly AddressRange[]): readonly AddressRange[] {
  if (objects.length === 0) return configured;
  const ranges = objects.filter(isReady).flatMap(({ spec }) => (spec?.cidrs ?? []).flatMap(knownRange));
  const isConfigured = (range: AddressRange): boolean => configured.some((known) => isSameCidr(known.cidr, range.cidr));
  return [...ranges.filter(isConfigured), ...ranges.filter((range) => !isConfigured(range))];
}

/** One of which nobody said anything is new, and as good as ready. */
function isReady({ metadata, status }: ServiceCIDR): boolean {
  const ready = (status?.conditions ?? []).find(({ type }) => type === "Ready");
  return metadata.deletionTimestamp === undefined && (ready === undefined || ready.status === "True");
}

function knownRange(text: string): readonly AddressRange[] {
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
  // Neither the network, nor (IPv4) its broadcast address. The first is the cluster's own Service.
  const last = family === "IPv4" ? size - 2 : size - 1;
  return { family, cidr, offsets: { first: 1, last, reserved: reservedAddresses(size) } };
}

/** As upstream: a sixteenth, but at least 16 and at most 256. */
function reservedAddresses(size: number): number {
  return size <= 16 ? 0 : Math.min(256, Math.max(16, Math.floor(size / 16)));
}

/** The one way in which an address is written, so that one cannot be taken twice under two names. */
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
  // Beyond what is given by chance, everything else of a large range of IPv6 can be asked for.
  return isInRange(offsets, Number(offset)) || (family === "IPv6" && offset > BigInt(offsets.last));
}
