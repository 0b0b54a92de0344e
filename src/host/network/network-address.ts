/** Addresses of this machine, and name resolution. */
import { createSocket } from "node:dgram";
import { lookup } from "node:dns/promises";
import { isIPv4 } from "node:net";
import { networkInterfaces } from "node:os";

/** An address at which other machines may reach it: not loopback, IPv4 before IPv6. Undefined if it is on no network. */
export function reachableAddress(): string | undefined {
  const addresses = Object.values(networkInterfaces()).flatMap((found) => found ?? []);
  const outside = addresses.filter(({ internal, address }) => !internal && !LINK_LOCAL.test(address));
  return (outside.find(({ family }) => family === "IPv4") ?? outside[0])?.address;
}

/** An IPv6 address of the link that has this IPv4 address, at which other machines may reach it. Undefined if it has none. */
export function ipv6AddressBeside(address: string): string | undefined {
  const link = Object.values(networkInterfaces()).find((found) => found?.some((one) => one.address === address));
  return link?.find((one) => one.family === "IPv6" && !LINK_LOCAL.test(one.address))?.address;
}

/** All addresses of this machine, loopback included; those of a link only are left out. */
export function localAddresses(): readonly string[] {
  const addresses = Object.values(networkInterfaces()).flatMap((found) => found ?? []);
  return addresses.map(({ address }) => address).filter((address) => !LINK_LOCAL.test(address));
}

/** This machine's address on the route to another: the source address that the kernel chooses. No packet is sent. Undefined: no route. */
export async function sourceAddressTo({ address, port }: { readonly address: string; readonly port: number }): Promise<string | undefined> {
  const socket = createSocket(isIPv4(address) ? "udp4" : "udp6");
  try {
    return await new Promise<string | undefined>((resolve) => {
      socket.once("error", () => resolve(undefined));
      socket.connect(port, address, () => resolve(socket.address().address));
    });
  } finally {
    socket.close();
  }
}

/** True if an IP address belongs to this machine, loopback included. */
export function isOwnAddress(address: string): boolean {
  if (isIPv4(address) && address.startsWith("127.")) return true;
  return Object.values(networkInterfaces()).some((found) => (found ?? []).some((own) => own.address === address)) || address === "::1";
}

/** Resolves a name to an address; an address resolves to itself. Rejects if it does not resolve. */
export async function resolveName(host: string): Promise<string> {
  const { address } = await lookup(host);
  return address;
}

/** Link-local: valid on one link only, and with its name. */
const LINK_LOCAL = /^(169\.254\.|fe[89ab])/i;
