/** IP addresses and CIDRs. */
import {
  cidrContains,
  formatCidr,
  formatIp,
  isMapped,
  networkOf,
  parseCidr,
  parseIp,
  type Cidr,
  type IpAddress,
} from "../../api/machinery/ip/ip-address.ts";
import { quoted, textOf } from "../values/text.ts";
import { CelError, OpaqueValue, type CelResult, type CelValue } from "../values/value.ts";
import { BOOL, INT, opaqueOf, STRING, type CelType } from "../types/type.ts";
import { ipv4Problem } from "./address-problem.ts";
import { member, overload, type Library, type LibraryFunction } from "./library.ts";

export const IP: CelType = opaqueOf("net.IP");
export const CIDR: CelType = opaqueOf("net.CIDR");
const NO_SUCH_OVERLOAD = new CelError("no such overload");

class IpValue extends OpaqueValue {
  readonly type = IP;
  readonly address: IpAddress;

  constructor(address: IpAddress) {
    super();
    this.address = address;
  }

  equals(other: OpaqueValue): boolean | CelError {
    if (!(other instanceof IpValue)) return NO_SUCH_OVERLOAD;
    return other.address.family === this.address.family && other.address.value === this.address.value;
  }

  override get hasUnitEquality(): boolean {
    return true;
  }

  /** In bytes. */
  override get sizeForCost(): number {
    return this.address.family === 4 ? 4 : 16;
  }

  override toJson(): string {
    return formatIp(this.address);
  }
}

class CidrValue extends OpaqueValue {
  readonly type = CIDR;
  readonly cidr: Cidr;

  constructor(cidr: Cidr) {
    super();
    this.cidr = cidr;
  }

  equals(other: OpaqueValue): boolean | CelError {
    return other instanceof CidrValue ? formatCidr(other.cidr) === formatCidr(this.cidr) : NO_SUCH_OVERLOAD;
  }

  override get hasUnitEquality(): boolean {
    return true;
  }

  /** Bytes of the prefix. */
  override get sizeForCost(): number {
    return Math.ceil(this.cidr.prefixLength / 8);
  }

  override toJson(): string {
    return formatCidr(this.cidr);
  }
}

function addressProblem(text: string): string {
  return `ParseAddr(${quoted(text)}): ${ipv4Problem(text) ?? "unable to parse IP"}`;
}

function parseAddress(text: string): IpValue | CelError {
  const zone = text.indexOf("%");
  const address = parseIp(zone < 0 ? text : text.slice(0, zone));
  if (address === undefined)
    return new CelError(`IP Address ${quoted(text)} parse error during conversion from string: ${addressProblem(text)}`);
  if (zone >= 0) return new CelError(`IP address ${quoted(text)} with zone value is not allowed`);
  if (isMapped(address)) return new CelError(`IPv4-mapped IPv6 address ${quoted(text)} is not allowed`);
  return new IpValue(address);
}

function parseNetwork(text: string): CidrValue | CelError {
  const failure = (message: string): CelError => new CelError(`network address parse error during conversion from string: ${message}`);
  const malformed = (message: string): CelError =>
    failure(`network address parse error during conversion from string: netip.ParsePrefix(${quoted(text)}): ${message}`);
  const slash = text.lastIndexOf("/");
  if (slash < 0) return malformed("no '/'");
  const address = parseIp(text.slice(0, slash));
  const bits = text.slice(slash + 1);
  if (address === undefined) return malformed(addressProblem(text.slice(0, slash)));
  if (!/^(?:0|[1-9]\d*)$/.test(bits)) return malformed(`bad bits after slash: ${quoted(bits)}`);
  const cidr = parseCidr(text);
  if (cidr === undefined) return malformed("prefix length out of range");
  return isMapped(cidr.address) ? failure(`IPv4-mapped IPv6 address ${quoted(text)} is not allowed`) : new CidrValue(cidr);
}

function ip(value: CelValue | undefined): IpAddress {
  return (value as IpValue).address;
}

function network(value: CelValue | undefined): Cidr {
  return (value as CidrValue).cidr;
}

/** Whether the first bits of the address are these. */
function startsWith({ family, value }: IpAddress, wanted: 4 | 6, prefix: bigint, length: number): boolean {
  return family === wanted && value >> BigInt((wanted === 4 ? 32 : 128) - length) === prefix;
}

const isUnspecified = ({ value }: IpAddress): boolean => value === 0n;
const isLoopback = (address: IpAddress): boolean => startsWith(address, 4, 127n, 8) || (address.family === 6 && address.value === 1n);
const isLinkLocalMulticast = (address: IpAddress): boolean =>
  startsWith(address, 4, 0xe00000n, 24) || (address.family === 6 && ((address.value >> 112n) & 0xff0fn) === 0xff02n);
const isLinkLocalUnicast = (address: IpAddress): boolean => startsWith(address, 4, 0xa9fen, 16) || startsWith(address, 6, 0x3fan, 10);
const isMulticast = (address: IpAddress): boolean => startsWith(address, 4, 0xen, 4) || startsWith(address, 6, 0xffn, 8);
const isBroadcast = ({ family, value }: IpAddress): boolean => family === 4 && value === 0xffff_ffffn;

function isGlobalUnicast(address: IpAddress): boolean {
  return ![isUnspecified, isLoopback, isMulticast, isLinkLocalUnicast, isBroadcast].some((test) => test(address));
}

function ipTest(name: string, id: string, test: (address: IpAddress) => boolean): LibraryFunction {
  return { name, overloads: [member(id, [IP], BOOL, ([value]) => test(ip(value)))] };
}

/** For a text that is no address, upstream answers that it found no overload. */
function contained<T>(parsed: T | CelError, test: (value: T) => boolean): CelResult {
  return parsed instanceof CelError ? NO_SUCH_OVERLOAD : test(parsed);
}

function isCanonical(text: string): CelResult {
  const parsed = parseAddress(text);
  return parsed instanceof CelError ? parsed : formatIp(parsed.address) === text;
}

function containsNetwork(outer: Cidr, inner: Cidr): boolean {
  return (
    outer.prefixLength <= inner.prefixLength &&
    outer.address.family === inner.address.family &&
    cidrContains(outer, networkOf(inner).address)
  );
}

export const addresses: Library = {
  types: [IP, CIDR],
  functions: [
    {
      name: "ip",
      overloads: [
        overload("string_to_ip", [STRING], IP, ([text]) => parseAddress(textOf(text))),
        member("cidr_ip", [CIDR], IP, ([value]) => new IpValue(network(value).address)),
      ],
    },
    { name: "family", overloads: [member("ip_family", [IP], INT, ([value]) => BigInt(ip(value).family))] },
    {
      name: "ip.isCanonical",
      overloads: [overload("ip_is_canonical", [STRING], BOOL, ([text]) => isCanonical(textOf(text)))],
    },
    ipTest("isUnspecified", "ip_is_unspecified", isUnspecified),
    ipTest("isLoopback", "ip_is_loopback", isLoopback),
    ipTest("isLinkLocalMulticast", "ip_is_link_local_multicast", isLinkLocalMulticast),
    ipTest("isLinkLocalUnicast", "ip_is_link_local_unicast", isLinkLocalUnicast),
    ipTest("isGlobalUnicast", "ip_is_global_unicast", isGlobalUnicast),
    { name: "isIP", overloads: [overload("is_ip", [STRING], BOOL, ([text]) => !(parseAddress(textOf(text)) instanceof CelError))] },
    { name: "cidr", overloads: [overload("string_to_cidr", [STRING], CIDR, ([text]) => parseNetwork(textOf(text)))] },
    {
      name: "containsIP",
      overloads: [
        member("cidr_contains_ip_string", [CIDR, STRING], BOOL, ([value, text]) =>
          contained(parseAddress(textOf(text)), ({ address }) => cidrContains(network(value), address)),
        ),
        member("cidr_contains_ip_ip", [CIDR, IP], BOOL, ([value, address]) => cidrContains(network(value), ip(address))),
      ],
    },
    {
      name: "containsCIDR",
      overloads: [
        member("cidr_contains_cidr_string", [CIDR, STRING], BOOL, ([value, text]) =>
          contained(parseNetwork(textOf(text)), ({ cidr }) => containsNetwork(network(value), cidr)),
        ),
        member("cidr_contains_cidr", [CIDR, CIDR], BOOL, ([value, other]) => containsNetwork(network(value), network(other))),
      ],
    },
    { name: "prefixLength", overloads: [member("cidr_prefix_length", [CIDR], INT, ([value]) => BigInt(network(value).prefixLength))] },
    { name: "masked", overloads: [member("cidr_masked", [CIDR], CIDR, ([value]) => new CidrValue(networkOf(network(value))))] },
    { name: "isCIDR", overloads: [overload("is_cidr", [STRING], BOOL, ([text]) => !(parseNetwork(textOf(text)) instanceof CelError))] },
    {
      name: "string",
      overloads: [
        overload("ip_to_string", [IP], STRING, ([value]) => formatIp(ip(value))),
        overload("cidr_to_string", [CIDR], STRING, ([value]) => formatCidr(network(value))),
      ],
    },
  ],
};
