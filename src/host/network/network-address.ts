/** The addresses of this machine, and of others by their names. */
import { lookup } from "node:dns/promises";
import { isIPv4 } from "node:net";
import { networkInterfaces } from "node:os";

/** One at which others may reach it: of a network, not loopback, IPv4 before IPv6. Undefined if it is on no network. */
export function reachableAddress(): string | undefined {
  const addresses = Object.values(networkInterfaces()).flatMap((found) => found ?? []);
  const outside = addresses.filter(({ internal, address }) => !internal && !LINK_LOCAL.test(address));
  return (outside.find(({ family }) => family === "IPv4") ?? outside[0])?.address;
}

/** Whether an IP address is one of this machine's, loopback included. */
export function isOwnAddress(address: string): boolean {
  if (isIPv4(address) && address.startsWith("127.")) return true;
  return Object.values(networkInterfaces()).some((found) => (found ?? []).some((own) => own.address === address)) || address === "::1";
}

/** The address that a name leads to; an address leads to itself. Rejects if it leads nowhere. */
export async function resolveName(host: string): Promise<string> {
  const { address } = await lookup(host);
  return address;
}

/** Only of use on one link, and with its name. */
const LINK_LOCAL = /^(169\.254\.|fe[89ab])/i;
