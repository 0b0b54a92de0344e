/**
 * Routes packets between the Pods of a bridge, for kernels without br_netfilter: the bridge forwards neither their IPv4 packets nor their
 * ARP requests to each other, and answers the latter itself (proxy_arp_pvlan). So every packet goes to the node, passes the rules of IP, and
 * returns on the bridge. One small table of the family bridge, without conntrack, which few kernels have there.
 */
import type { NftTable } from "../../host/network/nftables/nft-table.ts";
import { CommandError } from "../../host/network/network-namespace.ts";
import { NftWriter } from "../../host/network/nftables/nft-writer.ts";
import type { BridgedPacketsWay } from "./bridged-packets.ts";

const LAYOUT = "layout-1";

/** No delay of answers: it is meant for proxies on a segment with the real host. Redirects would name a host that is not reachable. */
const sysctls = (bridge: string): string => `echo 1 > /proc/sys/net/ipv4/conf/${bridge}/proxy_arp_pvlan
echo 0 > /proc/sys/net/ipv4/conf/${bridge}/send_redirects
echo 0 > /proc/sys/net/ipv4/neigh/${bridge}/proxy_delay
`;

export const routedPorts: BridgedPacketsWay = {
  name: "routing between ports",
  open({ owner, namespace, bridge, podCidrs }) {
    const writer = new NftWriter(namespace);
    return {
      async ensure() {
        const [podCidr, ...others] = podCidrs;
        // Neighbour discovery has no counterpart of proxy_arp_pvlan.
        if (podCidr === undefined || others.length > 0 || podCidr.includes(":")) throw new Error("it is possible with IPv4 Pods only");
        // Answers first: Pods would not find each other without.
        await namespace.run("sh", ["-es"], sysctls(bridge));
        await writer.apply(portsTable(owner, podCidr));
      },
      isIntact: () => writer.isIntact(),
    };
  },
  async cleanUp({ owner, namespace }) {
    try {
      await namespace.run("nft", ["delete", "table", "bridge", tableName(owner)]);
    } catch (error) {
      // Also on machines without nft, or whose kernel has no such tables.
      if (!(error instanceof CommandError)) throw error;
    }
  },
};

function tableName(owner: string): string {
  return `k8ts-${owner}-policy`;
}

function portsTable(owner: string, podCidr: string): NftTable {
  return {
    family: "bridge",
    name: tableName(owner),
    layout: LAYOUT,
    baseChains: new Map([["forward", { declaration: "type filter hook forward priority filter; policy accept;" }]]),
    chains: new Map([
      [
        "forward",
        [`ip saddr ${podCidr} ip daddr ${podCidr} drop`, `arp saddr ip ${podCidr} arp daddr ip ${podCidr} drop`, `jump ${LAYOUT}`],
      ],
      [LAYOUT, []],
    ]),
    sets: new Map(),
  };
}
