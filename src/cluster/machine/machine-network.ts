/**
 * The Pod network of `k8ts up` on the chosen container runtime. Our own containerd uses our network; another runtime keeps the machine's,
 * and gets ours if it has none. The location of the configuration is recorded first, so that it is found even if the runtime no longer
 * responds. A runtime with another cluster's network is not used: there is one per runtime, and that one is removed when the other cluster
 * stops. Networks of deleted clusters are removed.
 */
import { gatewayOf, isIpv6, type PodRanges } from "../../api/pod-ranges.ts";
import type { Clock } from "../../base/clock.ts";
import { fileExists, joinPath, readWhole, removeFile } from "../../host/files/files.ts";
import { writePrivateText } from "../../host/files/private-files.ts";
import type { RuntimeChoice } from "../../kubelet/machine/containerd/choose-runtime.ts";
import { cniBinaryDirectory } from "../../kubelet/machine/containerd/own-containerd.ts";
import { askSettings } from "../../kubelet/machine/containerd/runtime-settings.ts";
import { allowApiServerAccess, type ApiServerAccess } from "../../kubelet/machine/network/api-server-access.ts";
import { bridgeName, prepareNetwork, removeConfiguration, removeNetwork } from "../../kubelet/machine/network/bridge-network.ts";
import { choosePodCidr, type PodCidrOptions } from "../../kubelet/machine/network/pod-cidr.ts";
import { chooseNetwork, configurationsIn, type NetworkChoice, type OwnedNetwork } from "../../kubelet/machine/network/runtime-network.ts";
import type { Environment } from "../../cli/framework/command.ts";
import { findHome, type ClusterHome } from "../home/cluster-home.ts";
import type { Ipv6Network } from "../../components/network/network-component.ts";
import { foreignConfigFile, homeOfAddresses, kernelOwner, networkPaths } from "./container-paths.ts";
import { routeMetric } from "../../podnetwork/plan.ts";
import { shellQuote } from "../../cli/framework/shell-quote.ts";

export interface MachineNetworkOptions {
  readonly home: ClusterHome;
  readonly environment: Environment;
  readonly clock: Clock;
  /** Ranges that a cluster elsewhere assigned. Absent: chosen on this machine. */
  readonly podNetwork?: PodRanges | undefined;
  /** How they are chosen. Default: an IPv4 range that nothing on this machine uses. */
  readonly podRanges?: Pick<PodCidrOptions, "clusterCidrs" | "ipv6"> | undefined;
}

export interface MachineNetwork {
  /** Absent: the runtime's network is not managed by k8ts. */
  readonly podCidr?: string;
  /** Range of all nodes' podCIDRs. */
  readonly clusterCidr?: string;
  /** The node's address on the bridge. */
  readonly gateway?: string;
  /** The same of IPv6. Absent: Pods have IPv4 addresses only. */
  readonly ipv6?: Ipv6Network | undefined;
  /** True if IPv6 is the primary family. */
  readonly isIpv6First?: boolean | undefined;
  readonly bridge?: string;
  /** CNI configuration of the container runtime. */
  readonly cniConfigFile?: string;
  /** Lets Pods reach the API server. Absent: the network is not managed by k8ts. */
  allowApiServer?(access: Omit<ApiServerAccess, "bridge">): Promise<void>;
  remove(): Promise<void>;
}

/** Undefined: the network is not managed by k8ts. */
export function rangesOf({ podCidr, clusterCidr, ipv6, isIpv6First }: Partial<MachineNetwork> = {}): PodRanges | undefined {
  return podCidr === undefined || clusterCidr === undefined ? undefined : { podCidr, clusterCidr, ipv6, isIpv6First };
}

/** Cluster IPs of DNS of the families that Pods have. */
export function dnsAddressesFor({ ipv6 }: Pick<MachineNetwork, "ipv6">, addresses: readonly string[]): readonly string[] {
  return addresses.filter((address) => ipv6 !== undefined || !isIpv6(address));
}

type UsedRuntime = Pick<Extract<RuntimeChoice, { readonly is: "there" }>, "endpoint" | "isOwn">;

/** Rejects if the runtime has another cluster's network. */
export async function startNetwork({ endpoint, isOwn }: UsedRuntime, options: MachineNetworkOptions): Promise<MachineNetwork> {
  const { home } = options;
  const places = networkPaths(home);
  if (isOwn) return makeNetwork(options, { configDirectory: places.cniConfigDirectory, hasBandwidth: await hasBandwidthPlugin() });
  const { use, another, abandoned, configDirectory = places.cniConfigDirectory } = await lookAt(endpoint, options);
  if (another !== undefined) throw takenError(endpoint, await describeNetwork(another, options));
  for (const { bridge, addressDirectory } of abandoned)
    await removeNetwork({ bridge, addressDirectory: joinPath(addressDirectory, bridge), configDirectory });
  if (use === "the machine's") {
    // Otherwise the runtime would switch to ours when the machine's is removed.
    await removeForeignConfiguration(home);
    await removeConfiguration({ ...places, configDirectory });
    return { remove: () => Promise.resolve() };
  }
  await recordConfiguration(home, configDirectory);
  return makeNetwork(options, { configDirectory });
}

/** A runtime with another cluster's network. */
export interface TakenRuntime {
  readonly has: string;
  /** The command that removes it. */
  readonly stop: string;
}

/** For a runtime that k8ts did not start. Undefined: it can be used. */
export async function takenBy(endpoint: string, options: MachineNetworkOptions): Promise<TakenRuntime | undefined> {
  const { another } = await lookAt(endpoint, options);
  return another === undefined ? undefined : describeNetwork(another, options);
}

export function takenError(endpoint: string, { has, stop }: TakenRuntime): Error {
  return new Error(
    `Cannot use the container runtime at ${endpoint}: it can have only one Pod network, and has ${has}; remove that with "${stop}", or choose another endpoint`,
  );
}

/** Removes the cluster's configuration from a runtime that k8ts does not manage. Resolves with the directory, if it was there. */
export async function removeForeignConfiguration(home: ClusterHome): Promise<string | undefined> {
  const note = foreignConfigFile(home);
  if (!(await fileExists(note))) return undefined;
  const configDirectory = new TextDecoder().decode(await readWhole(note)).trim();
  const wasThere = await removeConfiguration({ ...networkPaths(home), configDirectory });
  await removeFile(note);
  return wasThere ? configDirectory : undefined;
}

/** Of the directory that our own containerd uses; other runtimes may have another. */
function hasBandwidthPlugin(): Promise<boolean> {
  return fileExists(joinPath(cniBinaryDirectory(), "bandwidth"));
}

async function makeNetwork(
  { home, podNetwork, podRanges }: MachineNetworkOptions,
  chosen: { readonly configDirectory: string; readonly hasBandwidth?: boolean },
): Promise<MachineNetwork> {
  const network = { ...networkPaths(home), ...chosen };
  const isOwnRoute: PodCidrOptions["isOwnRoute"] = ({ metric }) => metric === routeMetric(kernelOwner(home));
  const place = { file: joinPath(home.cniDirectory, "pod-cidr"), bridge: network.bridge, isOwnRoute };
  const ranges = podNetwork ?? (await choosePodCidr({ ...place, ...podRanges }));
  const { ipv6 } = ranges;
  const { configFile: cniConfigFile } = await prepareNetwork({ ...network, ...ranges });
  return {
    ...ranges,
    gateway: gatewayOf(ranges.podCidr),
    ipv6: ipv6 === undefined ? undefined : { ...ipv6, gateway: gatewayOf(ipv6.podCidr) },
    bridge: network.bridge,
    cniConfigFile,
    async allowApiServer(access) {
      // Pods without IPv6 do not reach it there.
      if (ipv6 === undefined && isIpv6(access.target.address)) return;
      await allowApiServerAccess({ ...access, bridge: network.bridge });
    },
    async remove() {
      await removeNetwork(network);
      await removeFile(foreignConfigFile(home));
    },
  };
}

/** Removes the configuration of an earlier start in another directory: only one location is recorded. */
async function recordConfiguration(home: ClusterHome, configDirectory: string): Promise<void> {
  await removeForeignConfiguration(home);
  await writePrivateText(foreignConfigFile(home), `${configDirectory}\n`);
}

async function lookAt(
  endpoint: string,
  options: MachineNetworkOptions,
): Promise<NetworkChoice & { readonly configDirectory: string | undefined }> {
  const { networkTrouble: trouble, cniConfigDirectory: configDirectory } = await askSettings(endpoint, options.clock);
  const found = configDirectory === undefined ? [] : await configurationsIn(configDirectory);
  const { bridge } = networkPaths(options.home);
  const strangers = found.flatMap(({ network }) => (network === undefined || network.bridge === bridge ? [] : [network]));
  const others: string[] = [];
  for (const network of strangers) if ((await clusterOf(network, options)) !== undefined) others.push(network.bridge);
  return { ...chooseNetwork(found, { bridge, isReady: trouble === undefined, others }), configDirectory };
}

type Named = Pick<ClusterHome, "directory"> & Partial<Pick<ClusterHome, "name" | "commandArguments">>;

/** The cluster of a network. Undefined: deleted. One that is not accessible exists. */
async function clusterOf({ bridge, addressDirectory }: OwnedNetwork, { environment }: MachineNetworkOptions): Promise<Named | undefined> {
  const directory = homeOfAddresses(addressDirectory);
  if (directory === undefined) return undefined;
  try {
    const home = await findHome({ directory }, environment);
    return home !== undefined && bridgeName(home) === bridge ? home : undefined;
  } catch {
    return { directory };
  }
}

/** "the Pod network of the cluster "second" in /data/second", and the command that removes it. */
async function describeNetwork(network: OwnedNetwork, options: MachineNetworkOptions): Promise<TakenRuntime> {
  const found = await clusterOf(network, options);
  const { directory, name, commandArguments } = found ?? { directory: network.addressDirectory };
  return {
    has: `the Pod network of the cluster ${name === undefined ? "" : `"${name}" `}in ${directory}`,
    stop: `k8ts down${commandArguments ?? ` --data-dir ${shellQuote(directory)}`}`,
  };
}
