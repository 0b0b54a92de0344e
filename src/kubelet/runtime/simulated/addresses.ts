/**
 * The addresses of the Pods of one node. A Pod gets the lowest address of the node's range that nobody has: so it follows from who has
 * which, and a driver that starts anew and claims what its Pods have goes on as if it had never been away.
 */
import { addToIp, cidrSize, formatIp, networkOf, parseCidr, type Cidr } from "../../../api/machinery/ip-address.ts";
import { RuntimeError } from "../../contracts/runtime.ts";

/** The first address names the network and the second is the node's own in it. */
const FIRST_OFFSET = 2;

/** Ranges of IPv6 are larger than can be counted, and no node has that many Pods. */
const OFFSETS_MAX = 2 ** 20;

/** Where the ranges of nodes lie that have no podCIDR: 10.128.0.0/9, apart from the usual ranges of Services. */
const DEFAULT_RANGE = [10, 128] as const;
const DEFAULT_NODES_MAX = 2 ** 15;

/** 256 addresses for the node of this number. After 32,768 nodes they begin again. */
export function defaultPodCidr(nodeIndex: number): string {
  const index = nodeIndex % DEFAULT_NODES_MAX;
  return `${DEFAULT_RANGE[0]}.${DEFAULT_RANGE[1] + (index >> 8)}.${index & 0xff}.0/24`;
}

interface Range {
  readonly cidr: Cidr;
  /** The first offset that is none any more. */
  readonly endOffset: number;
  /** None below it is free. */
  firstFree: number;
}

export class Addresses {
  readonly #taken = new Set<string>();
  readonly #ranges = new Map<string, Range>();

  /** One of each range; they are the caller's until it releases them. Throws a RuntimeError if a range is full, and takes none then. */
  take(podCidrs: readonly string[]): readonly string[] {
    const ips = podCidrs.map((podCidr) => this.#lowestFree(podCidr));
    for (const ip of ips) this.#taken.add(ip);
    return ips;
  }

  /** Takes addresses that a Pod has already. `false`: another one has one of them, and none was taken. */
  claim(ips: readonly string[]): boolean {
    if (ips.some((ip) => this.#taken.has(ip))) return false;
    for (const ip of ips) this.#taken.add(ip);
    return true;
  }

  release(ips: readonly string[]): void {
    if (ips.length === 0) return;
    for (const ip of ips) this.#taken.delete(ip);
    for (const range of this.#ranges.values()) range.firstFree = FIRST_OFFSET;
  }

  #lowestFree(podCidr: string): string {
    const range = this.#rangeOf(podCidr);
    for (; range.firstFree < range.endOffset; range.firstFree++) {
      const address = addToIp(range.cidr.address, range.firstFree);
      const ip = address && formatIp(address);
      if (ip !== undefined && !this.#taken.has(ip)) return ip;
    }
    const size = Math.max(0, range.endOffset - FIRST_OFFSET);
    throw new RuntimeError("CannotRun", `Cannot get an address for a Pod: all ${size} of ${podCidr} are in use`);
  }

  #rangeOf(podCidr: string): Range {
    const known = this.#ranges.get(podCidr);
    if (known !== undefined) return known;
    const parsed = parseCidr(podCidr);
    if (parsed === undefined) {
      throw new RuntimeError(
        "CannotRun",
        `Cannot get an address for a Pod: the node's range is "${podCidr}" and should be one such as 10.128.0.0/24`,
      );
    }
    const cidr = networkOf(parsed);
    const size = Number(cidrSize(cidr));
    // The last one of IPv4 means everybody in the network.
    const range = { cidr, endOffset: Math.min(cidr.address.family === 4 ? size - 1 : size, OFFSETS_MAX), firstFree: FIRST_OFFSET };
    this.#ranges.set(podCidr, range);
    return range;
  }
}
