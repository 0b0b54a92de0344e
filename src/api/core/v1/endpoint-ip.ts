/**
 * Validates addresses that traffic is sent to: loopback, link-local and unspecified ones could expose services of the node that were never
 * meant to be reachable. For endpoints, and for a Service's external IPs.
 */
import { invalid, type FieldError } from "../../machinery/field-error.ts";
import { lastAddressOf, networkOf, parseCidr, parseSloppyIp, unmapIp, type IpAddress } from "../../machinery/ip/ip-address.ts";

/** Inclusive range. */
interface Range {
  readonly first: IpAddress;
  readonly last: IpAddress;
}

const LOOPBACK = ranges("127.0.0.0/8", "::1/128");
const LINK_LOCAL = ranges("169.254.0.0/16", "fe80::/10");
const LINK_LOCAL_MULTICAST = ranges("224.0.0.0/24");

export function* validateEndpointIp(text: string, field: string): Iterable<FieldError> {
  const parsed = parseSloppyIp(text);
  if (parsed === undefined) {
    yield invalid(field, text, "must be a valid IP address");
    return;
  }
  const address = unmapIp(parsed);
  if (address.value === 0n) yield invalid(field, text, `may not be unspecified (${text})`);
  if (isIn(LOOPBACK, address)) yield invalid(field, text, "may not be in the loopback range (127.0.0.0/8, ::1/128)");
  if (isIn(LINK_LOCAL, address)) yield invalid(field, text, "may not be in the link-local range (169.254.0.0/16, fe80::/10)");
  if (isIn(LINK_LOCAL_MULTICAST, address) || isLinkLocalMulticastV6(address)) {
    yield invalid(field, text, "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)");
  }
}

/** Computed once, since an EndpointSlice may have tens of thousands of addresses. */
function ranges(...texts: readonly string[]): readonly Range[] {
  const cidrs = texts.map(parseCidr).filter((cidr) => cidr !== undefined);
  return cidrs.map((cidr) => ({ first: networkOf(cidr).address, last: lastAddressOf(cidr) }));
}

function isIn(among: readonly Range[], { family, value }: IpAddress): boolean {
  return among.some(({ first, last }) => family === first.family && value >= first.value && value <= last.value);
}

/** ffX2::/16 with any flags X. */
function isLinkLocalMulticastV6({ family, value }: IpAddress): boolean {
  return family === 6 && ((value >> 112n) & 0xff0fn) === 0xff02n;
}
