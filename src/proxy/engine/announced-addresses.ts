/**
 * Load balancer addresses that this node answers for: on a link of its own, so that the kernel replies to ARP requests for them on all
 * networks of the node, and removing the link removes everything. The link is a bridge without ports, which every kernel of a node has (unlike
 * dummy links), and never up: the addresses are local all the same, and programs that list the machine's addresses do not see them. IPv4 only; addresses of IPv6 must be routed to a node. Not here: which node
 * announces an address (controllers/service-load-balancer), and where its packets go (../appliers).
 */
import type { Logger } from "../../base/logger.ts";
import { CommandError, type NetworkNamespace } from "../../host/network/network-namespace.ts";

export interface AnnouncedAddressesOptions {
  readonly owner: string;
  readonly namespace: NetworkNamespace;
  readonly log: Logger;
}

/** Names of links have at most 15 characters, an owner at most 6. */
export function announcementLink(owner: string): string {
  return `${owner}-lb`;
}

export class AnnouncedAddresses {
  readonly #options: AnnouncedAddressesOptions;
  /** False until the kernel is known to have no address of an earlier process. */
  #isEmpty = false;
  /** The last failure, which is reported once. */
  #failure = "";

  constructor(options: AnnouncedAddressesOptions) {
    this.#options = options;
  }

  /**
   * Announces exactly these addresses. Reads the kernel every time, so that addresses that were removed are added again; to be called
   * periodically. Never rejects: a failure is logged, and the next call tries again.
   */
  async update(addresses: readonly string[]): Promise<void> {
    const wanted = new Set(addresses.filter((address) => !address.includes(":")));
    if (wanted.size === 0 && this.#isEmpty) return;
    try {
      await this.#write(wanted);
      this.#isEmpty = wanted.size === 0;
      this.#failure = "";
    } catch (error) {
      const failure = error instanceof Error ? error.message : String(error);
      if (failure !== this.#failure) this.#options.log.warn("Announcing load balancer addresses failed", { addresses, error });
      this.#failure = failure;
    }
  }

  async #write(wanted: ReadonlySet<string>): Promise<void> {
    const { owner, namespace, log } = this.#options;
    const link = announcementLink(owner);
    const present = await readAddresses(link, namespace);
    if (wanted.size === 0) return present === undefined ? undefined : await removeAnnouncedAddresses(this.#options);
    const lines = [
      ...(present === undefined ? [`link add ${link} type bridge`] : []),
      ...[...wanted].filter((address) => present?.has(address) !== true).map((address) => `address replace ${address}/32 dev ${link}`),
      ...[...(present ?? [])].filter((address) => !wanted.has(address)).map((address) => `address delete ${address}/32 dev ${link}`),
    ];
    if (lines.length === 0) return;
    // Continues after a failure and reports each.
    await namespace.run("ip", ["-force", "-batch", "-"], `${lines.join("\n")}\n`);
    log.info("Announcing load balancer addresses", { addresses: [...wanted] });
  }
}

/** Idempotent; also after any end of the proxy. */
export async function removeAnnouncedAddresses({
  owner,
  namespace,
}: Pick<AnnouncedAddressesOptions, "owner" | "namespace">): Promise<void> {
  const link = announcementLink(owner);
  if ((await readAddresses(link, namespace)) !== undefined) await namespace.run("ip", ["link", "delete", link]);
}

/** Undefined: the link does not exist. A machine without the program `ip` has none. */
async function readAddresses(link: string, namespace: NetworkNamespace): Promise<ReadonlySet<string> | undefined> {
  try {
    const shown = await namespace.run("ip", ["-4", "-oneline", "address", "show", "dev", link]);
    return new Set([...shown.matchAll(/ inet ([^/\s]+)\//g)].map(([, address]) => address ?? ""));
  } catch (error) {
    if (error instanceof CommandError && (error.isMissing || error.exitCode !== undefined)) return undefined;
    throw error;
  }
}
