/** Addresses as bytes of records, and the names of reverse lookups. */
import { formatIp, parseIp, type IpAddress } from "../api/machinery/ip/ip-address.ts";

const IPV4_BYTES = 4;
const IPV6_BYTES = 16;
const IPV6_NIBBLES = 32;

/** 4 or 16 bytes; undefined if it is not an address. */
export function addressBytes(text: string): Uint8Array | undefined {
  const address = parseIp(text);
  return address === undefined ? undefined : bytesOf(address);
}

function bytesOf({ family, value }: IpAddress): Uint8Array {
  const bytes = new Uint8Array(family === 4 ? IPV4_BYTES : IPV6_BYTES);
  let rest = value;
  for (let at = bytes.length - 1; at >= 0; at--) {
    bytes[at] = Number(rest & 0xffn);
    rest >>= 8n;
  }
  return bytes;
}

/** The canonical text of an address, by which addresses are compared. */
export function canonicalAddress(text: string): string | undefined {
  const address = parseIp(text);
  return address === undefined ? undefined : formatIp(address);
}

const IPV4_SUFFIX = ".in-addr.arpa";
const IPV6_SUFFIX = ".ip6.arpa";
const DECIMAL = /^(0|[1-9]\d{0,2})$/;
const NIBBLE = /^[0-9a-f]$/;

/** The canonical address of "1.0.96.10.in-addr.arpa", or of 32 nibbles in ip6.arpa; undefined for other names. */
export function addressOfReverseName(name: string): string | undefined {
  if (name.endsWith(IPV4_SUFFIX)) {
    const labels = name.slice(0, -IPV4_SUFFIX.length).split(".");
    if (labels.length !== IPV4_BYTES || !labels.every((label) => DECIMAL.test(label))) return undefined;
    return canonicalAddress(labels.toReversed().join("."));
  }
  if (!name.endsWith(IPV6_SUFFIX)) return undefined;
  const nibbles = name.slice(0, -IPV6_SUFFIX.length).split(".");
  if (nibbles.length !== IPV6_NIBBLES || !nibbles.every((nibble) => NIBBLE.test(nibble))) return undefined;
  const digits = nibbles.toReversed().join("");
  return canonicalAddress(digits.match(/.{4}/g)?.join(":") ?? "");
}

/** "192.0.2.1", "192.0.2.1:5353", "2001:db8::1", "[2001:db8::1]:5353"; undefined if invalid. */
export function parseServerAddress(text: string, defaultPort: number): { readonly address: string; readonly port: number } | undefined {
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d{1,5}))?$/.exec(text) ?? [undefined, undefined, text, undefined];
  const address = canonicalAddress((bracketed ?? plain ?? "").replace(/%.*$/, ""));
  const number = port === undefined ? defaultPort : Number(port);
  if (address === undefined || number < 1 || number > 65_535) return undefined;
  return { address, port: number };
}
