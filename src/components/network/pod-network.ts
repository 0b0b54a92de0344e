/** The Pod network of a node as a network component. First of all: the others' packets need its routes. */
import { KUBE_PROXY } from "../../api/identities.ts";
import { parseIp } from "../../api/machinery/ip/ip-address.ts";
import { Disposables } from "../../base/disposables.ts";
import type { FlagSet } from "../../cli/framework/flags.ts";
import { createInformers } from "../../client/informer/informers.ts";
import { readWhole } from "../../host/files/files.ts";
import { writePrivateText } from "../../host/files/private-files.ts";
import { withPodMtu } from "../../podnetwork/pod-mtu.ts";
import { PodNetwork, removePodNetwork } from "../../podnetwork/pod-network.ts";
import { defineNetworkComponent, type NetworkContext, type NodeNetwork } from "./network-component.ts";

/** Not the registered one (4789) nor Linux's (8472), which other network programs of a machine may filter or decode. */
const VXLAN_PORT = 8_477;

const flags = {
  "pod-network": {
    type: "choice",
    of: ["auto", "vxlan", "none"],
    default: "auto",
    doc: "How Pods of other nodes are reached: auto (routes to nodes on the same network segment, vxlan to others), vxlan (always), or none (managed by other means).",
  },
  "vxlan-port": {
    type: "number",
    min: 1,
    max: 65_535,
    default: VXLAN_PORT,
    placeholder: "PORT",
    doc: "UDP port of vxlan packets between nodes. The same on all nodes of a cluster.",
  },
} as const satisfies FlagSet;

export const podNetwork = defineNetworkComponent({
  name: "pod-network",
  scope: "node",
  flags,
  async start(context: NetworkContext<typeof flags>) {
    const { network, values, clock, random, log } = context;
    const known = managed(network);
    const mode = values["pod-network"];
    if (known === undefined) return nothing("managed by the container runtime");
    if (mode === "none" || (mode !== "auto" && mode !== "vxlan")) return nothing("not managed by k8ts (--pod-network=none)");
    await using starting = new Disposables();
    const transport = context.transportFor(KUBE_PROXY, "k8ts-pod-network");
    const informers = starting.use(createInformers({ transport, clock, random, log }));
    let onChange = (): void => {};
    const running = starting.use(
      await PodNetwork.start({
        ...network,
        ...known,
        ...{ mode, vxlanPort: values["vxlan-port"], informers, clock, log },
        onDescriptionChange: () => onChange(),
        onPodMtu: (mtu) => writeMtu(network.cniConfigFile, mtu),
      }),
    );
    const owned = starting.move();
    return {
      get description() {
        return running.description;
      },
      onDescriptionChange: (listener) => void (onChange = listener),
      [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
    };
  },
  cleanUp: removePodNetwork,
});

function nothing(description: string) {
  return { description, [Symbol.asyncDispose]: () => Promise.resolve() };
}

/** Nodes reach each other by IPv4. */
function managed({ bridge, gateway, podCidr, clusterCidr, ipv6, nodeIps }: NodeNetwork) {
  const address = nodeIps.find((ip) => parseIp(ip)?.family === 4);
  if (bridge === undefined || gateway === undefined || podCidr === undefined || clusterCidr === undefined || address === undefined)
    return undefined;
  const ipv6Address = nodeIps.find((ip) => parseIp(ip)?.family === 6);
  return { bridge, gateway, podCidr, clusterCidr, address, ipv6: ipv6 === undefined ? undefined : { ...ipv6, address: ipv6Address } };
}

/** Pods that are started from now on have it. The container runtime watches the file. */
async function writeMtu(file: string | undefined, mtu: number): Promise<void> {
  if (file === undefined) return;
  const changed = withPodMtu(new TextDecoder().decode(await readWhole(file)), mtu);
  if (changed !== undefined) await writePrivateText(file, changed);
}
