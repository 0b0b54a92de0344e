/**
 * Addresses that the API server may proxy to. A user who may write the status of a Pod or Node can set any address; this prevents access to
 * the API server's own host and link.
 */
import { cidrContains, isMapped, parseCidr, parseSloppyIp, unmapIp, type Cidr } from "../../api/machinery/ip/ip-address.ts";

/** "This" network, loopback, link-local, multicast and broadcast: all that Go does not consider global unicast. */
const REFUSED: readonly Cidr[] = [
  "0.0.0.0/32",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "224.0.0.0/4",
  "255.255.255.255/32",
  "::/128",
  "::1/128",
  "fe80::/10",
  "ff00::/8",
].flatMap((text) => parseCidr(text) ?? []);

/** True for an IP address that may be called. */
export function isForwardable(text: string): boolean {
  const parsed = parseSloppyIp(text);
  if (parsed === undefined) return false;
  const address = isMapped(parsed) ? unmapIp(parsed) : parsed;
  return !REFUSED.some((range) => range.address.family === address.family && cidrContains(range, address));
}
