/**
 * Address pool of the Pods of one node. A Pod gets the lowest free address of the node's range: the allocation follows from the addresses
 * in use, and a restarted driver that claims the addresses of its Pods continues as if it had never stopped.
 */
import { addToIp, cidrSize, formatIp, networkOf, parseCidr, type Cidr } from "../../../api/machinery/ip/ip-address.ts";
import { RuntimeError } from "../../contracts/runtime.ts";

/** The first address is the network's and the second is the node's own. */
const FIRST_OFFSET = 2;

/** Ranges of IPv6 are too large to count, and no node has that many Pods. */
const OFFSETS_MAX = 2 ** 20;

/** Base of the ranges of nodes without a podCIDR: 10.128.0.0/9, apart from the usual ranges of Services. */
const DEFAULT_RANGE = [10, 128] as const;
const DEFAULT_NODES_MAX = 2 ** 15;

/** 256 addresses for the node with this index. After 32,768 nodes the ranges repeat. */
export function defaultPodCidr(nodeIndex: number): string {
  const index = nodeIndex % DEFAULT_NODES_MAX;
  return `${DEFAULT_RANGE[0]}.${DEFAULT_RANGE[1] + (index >> 8)}.${index & 0xff}.0/24`;
}

interface Range {
  readonly cidr: Cidr;
  /** The first offset beyond the range. */
  readonly endOffset: number;
  /** No lower offset is free. */
  firstFree: number;
}

export class Addresses {
  readonly #taken = new Set<string>();
  readonly #ranges = new Map<string, Range>();

  /**
   * Allocates one address of each range; the caller owns them until it releases them. Throws a RuntimeError if a range is full, and
   * allocates none then.
   */
  take(podCidrs: readonly string[]): readonly string[] {
    const ips = podCidrs.map((podCidr) => this.#lowestFree(podCidr));
    for (const ip of ips) this.#taken.add(ip);
    return ips;
  }

  /** Claims addresses that a Pod already has. `false`: another Pod has one of them, and none was claimed. */
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
    throw new RuntimeError("CannotRun", `Cannot allocate an address for a Pod: all ${size} of ${podCidr} are in use`);
  }

  #rangeOf(podCidr: string): Range {
    const known = this.#ranges.get(podCidr);
    if (known !== undefined) return known;
    const parsed = parseCidr(podCidr);
    if (parsed === undefined) {
      throw new RuntimeError(
        "CannotRun",
        `Cannot allocate an address for a Pod: the node's range is "${podCidr}" and should be one such as 10.128.0.0/24`,
      );
    }
    const cidr = networkOf(parsed);
    const size = Number(cidrSize(cidr));
    // The last one of IPv4 is the broadcast address.
    const range = { cidr, endOffset: Math.min(cidr.address.family === 4 ? size - 1 : size, OFFSETS_MAX), firstFree: FIRST_OFFSET };
    this.#ranges.set(podCidr, range);
    return range;
  }
}
