/**
 * Which addresses the API server calls for others. Whoever may write a Pod's or Node's status may write any address into it; this keeps
 * them from reaching what listens on the API server's own machine and link.
 */
import { cidrContains, isMapped, parseCidr, parseSloppyIp, unmapIp, type Cidr } from "../../api/machinery/ip-address.ts";

/** "This" network, loopback, link-local, multicast and broadcast: all that Go does not call global unicast. */
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

/** Whether the text is an IP address, and one that may be called. */
export function isForwardable(text: string): boolean {
  const parsed = parseSloppyIp(text);
  if (parsed === undefined) return false;
  const address = isMapped(parsed) ? unmapIp(parsed) : parsed;
  return !REFUSED.some((range) => range.address.family === address.family && cidrContains(range, address));
}
