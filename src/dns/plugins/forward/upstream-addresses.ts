/** The servers to forward to: those that are configured, or the nameservers of resolv.conf, without this server itself. Pure. */
import { parseServerAddress } from "../../addresses.ts";
import type { DatagramPeer } from "../../../host/network/datagrams.ts";

export const DNS_PORT = 53;

/** More are never reached in the time that clients wait. */
const UPSTREAMS_MAX = 8;

export interface UpstreamAddresses {
  readonly peers: readonly DatagramPeer[];
  /** Entries that are not used, with the reason. */
  readonly problems: readonly string[];
}

/** Addresses that this server is reached at. */
export interface OwnAddresses {
  readonly addresses: readonly string[];
  readonly port: number;
}

/** The values of the "nameserver" lines. */
export function nameserversOf(resolvConf: string): readonly string[] {
  return resolvConf.split("\n").flatMap((line) => {
    const [word, value] = line.trim().split(/\s+/);
    return word === "nameserver" && value !== undefined ? [value] : [];
  });
}

export function upstreamAddresses(texts: readonly string[], own: OwnAddresses): UpstreamAddresses {
  const peers = new Map<string, DatagramPeer>();
  const problems: string[] = [];
  for (const text of texts) {
    const peer = parseServerAddress(text, DNS_PORT);
    if (peer === undefined) problems.push(`${JSON.stringify(text)} is not an address such as 192.0.2.1 or 192.0.2.1:5353`);
    else if (isOwn(peer, own)) problems.push(`${text} is this server itself`);
    else if (peers.size >= UPSTREAMS_MAX) problems.push(`${text} is one more than the maximum of ${UPSTREAMS_MAX}`);
    else peers.set(`${peer.address} ${peer.port}`, peer);
  }
  return { peers: [...peers.values()], problems };
}

function isOwn({ address, port }: DatagramPeer, own: OwnAddresses): boolean {
  if (own.addresses.includes(address)) return port === own.port || port === DNS_PORT;
  return port === own.port && own.addresses.some((each) => each === "0.0.0.0" || each === "::") && isLoopback(address);
}

function isLoopback(address: string): boolean {
  return address.startsWith("127.") || address === "::1";
}
