/**
 * The CNI configuration of a cluster's Pod network: one bridge per cluster and node, addresses out of the node's podCIDR, kept in the
 * cluster's own directory, and ports of the node that lead to Pods. The loopback of each Pod is added by the runtimes themselves.
 *
 * Masquerading is not the bridge plugin's here: it makes a chain and a handful of calls of iptables for every Pod, which costs more than
 * all the rest of its network; one rule for the whole bridge does the same (bridge-network.ts).
 */

export interface PodNetwork {
  /** Of the link, and of the network. */
  readonly bridge: string;
  /** "10.244.0.0/24" */
  readonly podCidr: string;
  /** Where addresses in use are written down. */
  readonly addressDirectory: string;
}

/** Understood by all plugins and runtimes of the last years; newer versions add nothing that is needed. */
const CNI_VERSION = "0.4.0";

export function cniConfiguration({ bridge, podCidr, addressDirectory }: PodNetwork): string {
  const configuration = {
    cniVersion: CNI_VERSION,
    name: bridge,
    plugins: [
      {
        type: "bridge",
        bridge,
        isGateway: true,
        // The podCIDR may be another one after a cluster was made anew.
        forceAddress: true,
        ipMasq: false,
        // So that a Pod reaches itself by the address of a service, or a port of the node.
        hairpinMode: true,
        promiscMode: false,
        ipam: { type: "host-local", ranges: [[{ subnet: podCidr }]], routes: [{ dst: "0.0.0.0/0" }], dataDir: addressDirectory },
      },
      { type: "portmap", capabilities: { portMappings: true } },
    ],
  };
  return `${JSON.stringify(configuration, undefined, 2)}\n`;
}

/** A file of this name wins over those that others wrote in the same directory: the first in the order of names is used. */
export function cniFileName(bridge: string): string {
  return `10-${bridge}.conflist`;
}
