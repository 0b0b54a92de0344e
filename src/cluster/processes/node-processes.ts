/** The processes of a node with containers: the kubelet, and the network components. What must survive their restarts is managed here. */
import { startRenewal } from "../../pki/renewal.ts";
import { tryPort } from "../../host/network/free-port.ts";
import { KUBELET_PORT } from "../../kubelet/server/kubelet-server.ts";
import { componentLog } from "../home/home-paths.ts";
import { machineOptions } from "../start-cluster.ts";
import { prepareMachine, type FoundRuntime, type PodNetworkPart, type PreparedMachine } from "../machine/prepare-machine.ts";
import { dnsServiceAddresses } from "../../components/api-server/serving-tls.ts";
import { formatFlagArguments } from "../../cli/framework/format-flags.ts";
import { networkPolicy } from "../../components/network/network-policy.ts";
import { NETWORK_STATUS } from "../../components/network/network-status-line.ts";
import { cleanUpNetworkComponents, networkFlags } from "../../components/network/start-network-components.ts";
import { detachVolumes } from "../../localpath/disk/detach-volumes.ts";
import { ownNetworkNamespace } from "../../host/network/network-namespace.ts";
import type { RecordedPart } from "../home/cluster-record.ts";
import { kernelOwner } from "../machine/container-paths.ts";
import { stopMachinePods } from "../machine/stop-machine-pods.ts";
import { STOP_GRACE_MS, STOP_PODS_ORDER } from "../../components/node/stop-pods-order.ts";
import { dnsAddressesFor } from "../machine/machine-network.ts";
import { writeNodeFiles, type NodeFilesOptions } from "./node-files.ts";
import type { SupervisedProcess } from "../../processes/supervised-process.ts";
import { pressureArguments } from "../../config/kubelet/pressure-flags.ts";
import { certificateDirectory, pkiOf, STOP_WITHIN_MS, type NodeStart } from "./process-start.ts";
import { ReportedComponents } from "./reported-components.ts";

export interface StartedNode {
  readonly node: SupervisedProcess;
  /** Network components of all processes, as they are now. */
  networkParts(): readonly RecordedPart[];
}

export async function startNode(
  { runtime, network }: { readonly runtime: FoundRuntime; readonly network: PodNetworkPart },
  start: NodeStart,
): Promise<StartedNode> {
  const { options, context, door, supervise, owner } = start;
  const { held, clock, log } = context;
  const { home } = held;
  const { nodeName } = options;
  const machine = owner.use(await prepareMachine(runtime, network, machineOptions(options, context)));
  const directory = certificateDirectory(options);
  const pki = await pkiOf(directory, clock);
  const clusterDns = dnsAddressesFor(network, dnsServiceAddresses(options.apiServer.api.serviceClusterIpRange));
  const [podDns] = clusterDns;
  // Before the kubelet: its first Pod finds Services, names and policies.
  const reported = new ReportedComponents(() => start.onChange());
  const components = await startNetwork({ machine, network, clusterDns, reported }, start);
  const files: NodeFilesOptions = {
    home,
    certificateDirectory: directory,
    nodeName,
    machine,
    pki,
    server: door.url,
    authority: door.authority,
    ...(podDns === undefined ? {} : { clusterDns: podDns }),
  };
  keepNodeFiles(files, start);
  owner.defer(async () => void (await clock.external(detachVolumes(home.volumesDirectory))));
  // Only if the kubelet could not stop them.
  owner.defer(() => stopMachinePods({ home, endpoint: machine.endpoint, clock, log }));
  const node = await supervise(`registered node ${nodeName}`, {
    ...{ name: "kubelet", logFile: componentLog(home, "kubelet"), ready: /^registered node .* listening on port \d+$/ },
    ...{ stopOrder: STOP_PODS_ORDER, stopWithinMs: STOP_GRACE_MS + STOP_WITHIN_MS },
    onLine: (line) => reported.read("kubelet", line),
    words: () => kubeletWords({ files, network }, start),
  });
  const processes: ReadonlyMap<string, SupervisedProcess> = new Map([
    ["network", components],
    ["kubelet", node],
  ]);
  return { node, networkParts: () => reported.parts(processes) };
}

/** Certificates and the files with them are renewed in time, as long as the node runs. */
function keepNodeFiles(files: NodeFilesOptions, { context: { clock, log }, owner }: NodeStart): void {
  const renew = async (): Promise<boolean> => {
    await files.pki.renew(clock.now());
    await clock.external(writeNodeFiles(files, clock.now()));
    return false;
  };
  const renewal = startRenewal({ renew, isShared: true, onRenewed: () => undefined, clock, log });
  owner.defer(() => renewal.stop());
}

async function kubeletWords(
  { files, network }: { readonly files: NodeFilesOptions; readonly network: PodNetworkPart },
  { options, context: { clock } }: NodeStart,
): Promise<readonly string[]> {
  const { home, machine, nodeName } = files;
  const { kubeconfig, configuration } = await clock.external(writeNodeFiles(files, clock.now()));
  return [
    ...["kubelet", `--kubeconfig=${kubeconfig}`, `--config=${configuration}`, `--hostname-override=${nodeName}`],
    `--network-policy-owner=${kernelOwner(home)}`,
    ...(network.bridge === undefined ? [] : [`--pod-bridge=${network.bridge}`]),
    `--node-ip=${machine.nodeIps.join(",")}`,
    `--root-dir=${home.kubeletDirectory}`,
    ...pressureArguments(options.pressure),
    `--local-path-dir=${home.volumesDirectory}`,
    `--port=${await kubeletPort()}`,
  ];
}

interface NodeNetworkStart {
  readonly machine: PreparedMachine;
  readonly network: PodNetworkPart;
  readonly clusterDns: readonly string[];
  readonly reported: ReportedComponents;
}

/** Service proxy, DNS and so on, in a process of their own; the kubelet waits for network policies, so they are in its process. Its rules stay while it restarts, and are removed after the Pods were stopped. */
async function startNetwork({ machine, network, clusterDns, reported }: NodeNetworkStart, start: NodeStart): Promise<SupervisedProcess> {
  const { options, context, door, supervise, owner } = start;
  const { home } = context.held;
  const kernel = { owner: kernelOwner(home), namespace: ownNetworkNamespace, log: context.log };
  owner.defer(() => context.clock.external(cleanUpNetworkComponents(kernel)));
  const { bridge, gateway, podCidr, clusterCidr, ipv6, cniConfigFile } = network;
  const listed = (...values: readonly (string | undefined)[]) => values.filter((value) => value !== undefined).join(",") || undefined;
  const known = {
    ...{ kubeconfig: door.kubeconfig, "node-name": options.nodeName, "node-ip": machine.nodeIps.join(","), owner: kernel.owner },
    ...{ bridge, gateway: listed(gateway, ipv6?.gateway), "pod-cidr": listed(podCidr, ipv6?.podCidr) },
    ...{ "cluster-cidr": listed(clusterCidr, ipv6?.clusterCidr), "cluster-dns": listed(...clusterDns) },
    "cni-config": cniConfigFile,
    "network-dir": home.networkDirectory,
  };
  const words = Object.entries(known).flatMap(([name, value]) => (value === undefined ? [] : [`--${name}=${value}`]));
  return supervise("started network", {
    name: "network",
    logFile: componentLog(home, "network"),
    ready: NETWORK_STATUS,
    onLine: (line) => reported.read("network", line),
    words: () => [
      "network",
      ...words,
      `--without=${networkPolicy.name}`,
      ...formatFlagArguments(networkFlags("cluster"), options.networkValues),
    ],
  });
}

/** If another kubelet has the default port, any other will do: it is published in the Node. */
async function kubeletPort(): Promise<number> {
  return tryPort({ host: "0.0.0.0", port: KUBELET_PORT }).then(
    () => KUBELET_PORT,
    () => 0,
  );
}
