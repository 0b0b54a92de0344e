/**
 * The CNI configuration of a cluster's Pod network: one bridge per cluster and node, addresses of the node's podCIDR, allocated in the
 * cluster's own directory, hostPorts, and bandwidth limits. Runtimes add the loopback of each Pod themselves.
 *
 * Masquerading is not done by the bridge plugin: it creates a chain and runs iptables several times per Pod, which costs more than the rest
 * of its network; one rule for the whole bridge suffices (bridge-network.ts).
 */
import { isIpv6, nodeCidrsOf, type PodRanges } from "../../../api/pod-ranges.ts";

export interface PodNetwork extends Omit<PodRanges, "clusterCidr"> {
  /** Name of the link and of the network. */
  readonly bridge: string;
  /** "10.244.0.0/16": range of all nodes' podCIDRs. Default: this node's. */
  readonly clusterCidr?: string;
  /** Directory of allocated addresses. */
  readonly addressDirectory: string;
  /** True if the bandwidth plugin is installed: annotations of Pods limit their traffic. */
  readonly hasBandwidth?: boolean;
}

/** Supported by all plugins and runtimes of the last years; newer versions add nothing needed here. */
const CNI_VERSION = "0.4.0";

export function cniConfiguration({ bridge, addressDirectory, hasBandwidth = false, ...ranges }: PodNetwork): string {
  const podCidrs = nodeCidrsOf(ranges);
  const configuration = {
    cniVersion: CNI_VERSION,
    name: bridge,
    plugins: [
      {
        type: "bridge",
        bridge,
        isGateway: true,
        // The podCIDR may change after a cluster is recreated.
        forceAddress: true,
        ipMasq: false,
        // Lets a Pod reach itself by a Service's cluster IP or a hostPort.
        hairpinMode: true,
        promiscMode: false,
        ipam: {
          type: "host-local",
          ranges: podCidrs.map((subnet) => [{ subnet }]),
          routes: podCidrs.map((podCidr) => ({ dst: isIpv6(podCidr) ? "::/0" : "0.0.0.0/0" })),
          dataDir: addressDirectory,
        },
      },
      { type: "portmap", capabilities: { portMappings: true } },
      // For kubernetes.io/ingress-bandwidth and egress-bandwidth; does nothing for Pods without.
      ...(hasBandwidth ? [{ type: "bandwidth", capabilities: { bandwidth: true } }] : []),
    ],
  };
  return `${JSON.stringify(configuration, undefined, 2)}\n`;
}

/** Takes precedence over other files in the directory: runtimes use the first by name. */
export function cniFileName(bridge: string): string {
  return `10-${bridge}.conflist`;
}
