/** Starts the further nodes of a cluster with what its first node and API server have, whichever processes those are in. */
import { nodes } from "../../api/core/v1/node.ts";
import { parseIp } from "../../api/machinery/ip/ip-address.ts";
import { byFamily } from "../../api/pod-ranges.ts";
import type { Transport } from "../../api/machinery/transport.ts";
import { createClient } from "../../client/rest-client.ts";
import { isLoopback } from "../../config/api-server-config.ts";
import { makePrivateDirectory } from "../../host/files/files.ts";
import { kernelOwner } from "../machine/container-paths.ts";
import type { MachineNetwork } from "../machine/machine-network.ts";
import type { HeldHome } from "../home/cluster-home.ts";
import type { UpOptions } from "../up-options.ts";
import { joinArguments } from "./join-arguments.ts";
import { NodeFleet, type NodeFleetOptions } from "./node-fleet.ts";
import { readWantedNodes, segmentFile } from "./node-files.ts";
import { openSegment, removeSegment } from "./segment.ts";

export interface FleetContext extends Pick<NodeFleetOptions, "environment" | "steps" | "clock" | "log" | "signal"> {
  readonly held: HeldHome;
}

/**
 * Before this machine's network components start: they find nodes of an earlier start on the segment, not behind a tunnel. Disposing removes
 * it. Undefined: there are no further nodes.
 */
export async function prepareSegment(
  network: MachineNetwork,
  { nodes: count = 1 }: UpOptions,
  { held: { home }, clock }: FleetContext,
): Promise<AsyncDisposable | undefined> {
  const { clusterCidr, ipv6 } = network;
  if (clusterCidr === undefined) return undefined;
  if (count === 1 && (await clock.external(readWantedNodes(home))).length === 0) return undefined;
  const owner = kernelOwner(home);
  await clock.external(makePrivateDirectory(home.nodesDirectory));
  await clock.external(openSegment({ owner, clusterCidr, clusterCidrIpv6: ipv6?.clusterCidr, file: segmentFile(home) }));
  return { [Symbol.asyncDispose]: async () => void (await clock.external(removeSegment(owner))) };
}

export interface FleetParts {
  /** Absent: this machine runs no containers. */
  readonly network: MachineNetwork | undefined;
  /** Address of the API server for Pods and nodes. */
  readonly advertisedAddress: string | undefined;
  /** URL of the API server. */
  readonly url: string;
  /** CA of the cluster (PEM). */
  readonly authority: string;
  /** Of the administrator. */
  readonly transport: Transport;
}

/** Undefined: this machine cannot have further nodes, which is reported if any were requested. */
export async function startFleet(parts: FleetParts, options: UpOptions, context: FleetContext): Promise<NodeFleet | undefined> {
  const { network, url, authority, transport } = parts;
  const { held, environment, steps, clock, log, signal } = context;
  const { home } = held;
  const address = joinAddress(parts);
  const problem = problemOf(network, address);
  if (problem !== undefined || network?.clusterCidr === undefined || address === undefined) {
    const isWanted = (options.nodes ?? 1) > 1 || (await clock.external(readWantedNodes(home))).length > 0;
    if (isWanted) steps.note(`  warning: this machine has one node only: ${problem}`);
    return undefined;
  }
  const client = createClient(transport);
  const { status } = await client.get(nodes, { name: options.nodeName });
  const internal = (status?.addresses ?? []).filter(({ type }) => type === "InternalIP").map(({ address: ip }) => ip);
  const { ipv4: machineAddress, ipv6: machineIpv6Address } = byFamily(internal);
  const server = { address, port: Number(new URL(url).port) };
  return NodeFleet.start({
    ...{ home, nodeName: options.nodeName, count: options.nodes, clusterCidr: network.clusterCidr, client },
    clusterCidrIpv6: network.ipv6?.clusterCidr,
    ...{ machineAddress: machineAddress ?? address, machineIpv6Address },
    joinArguments: (tokenFile) =>
      joinArguments({ server, authority, client, networkValues: options.networkValues, pressure: options.pressure, tokenFile, clock }),
    ...{ environment, steps, clock, log, signal },
  });
}

/** Nodes join by IPv4, also where IPv6 is the primary family: the server listens on both addresses of the bridge (pod-access.ts). */
function joinAddress({ network, advertisedAddress }: FleetParts): string | undefined {
  const isBridge = advertisedAddress !== undefined && advertisedAddress === network?.ipv6?.gateway;
  return isBridge ? network?.gateway : advertisedAddress;
}

function problemOf(network: MachineNetwork | undefined, address: string | undefined): string | undefined {
  if (network === undefined) return "no containers run";
  if (network.clusterCidr === undefined)
    return "its Pod network is not managed by k8ts; use a container runtime without a network, or none";
  if (address === undefined || isLoopback(address) || parseIp(address)?.family !== 4)
    return "the API server has no IPv4 address that other nodes reach; leave out --listen and --advertise-address, or set them to one";
  return undefined;
}
