/**
 * Starts a node of a cluster that runs elsewhere: credentials, container runtime, Pod network, network components, kubelet. Everything is
 * in the network namespace of this process. Disposing of it stops its Pods and removes the network, as `k8ts up` does; after a kill the next
 * start takes over.
 */
import { configMaps } from "../../api/core/v1/config-map.ts";
import { CLUSTER_NETWORK, type ClusterNetworkSettings } from "../../api/node-joining.ts";
import { parseIp } from "../../api/machinery/ip/ip-address.ts";
import { isReason } from "../../api/machinery/status-error.ts";
import type { Transport } from "../../api/machinery/transport.ts";
import { Disposables } from "../../base/disposables.ts";
import type { Client } from "../../client/client.ts";
import { httpsTransport, type HttpsTransport } from "../../client/https/https-transport.ts";
import { createClient } from "../../client/rest-client.ts";
import type { NodeContext } from "../../components/control-plane.ts";
import { isServerThere } from "../../config/await-server.ts";
import { reachableAddress, resolveName, sourceAddressTo } from "../../host/network/network-address.ts";
import { isInMachineNamespace } from "../../host/network/network-namespace.ts";
import { realRandom } from "../../host/real-random.ts";
import type { RecordedNode, RecordedPart } from "../home/cluster-record.ts";
import { startMachineNode } from "../machine/machine-node.ts";
import { findRuntime, nodeIpsOf, preparePodNetwork, type FoundRuntime, type MachineOptions } from "../machine/prepare-machine.ts";
import type { RunningHome, StartedInHome } from "../run-home.ts";
import { recordedNode, stopOldPods } from "../start-cluster.ts";
import { servingCertificate, startCertificateUpkeep } from "./certificate-upkeep.ts";
import { connectionOf, type StoredJoin } from "./join-files.ts";
import type { JoinOptions } from "./join-options.ts";
import { getNode, nodePodRanges } from "./node-pod-cidr.ts";
import { nodeCredentials, type JoinContext } from "./node-credentials.ts";

export interface JoinedNode extends StartedInHome {
  readonly list: readonly RecordedPart[];
  readonly node: RecordedNode;
  readonly server: string;
  readonly kubeletPort: number;
}

export async function startJoinedNode(options: JoinOptions, running: RunningHome): Promise<JoinedNode> {
  const { held, steps, log, io } = running;
  const context: JoinContext = { home: held.home, steps, clock: io.clock, log, signal: io.signal };
  await using unused = new Disposables();
  const runtime = await runtimeOf(options, running);
  if (runtime.stop !== undefined && !runtime.wasAdopted) unused.defer(runtime.stop);
  await using starting = new Disposables();
  const join = await nodeCredentials(options, context);
  const transports = starting.use(nodeTransports(join, context));
  const client = createClient(transports.of("kubelet")).with({ signal: io.signal, fieldManager: "kubelet" });
  await awaitServer(join, client, running);
  const settings = await clusterNetwork(client);
  const target = await addressOf(join.server);
  const nodeIps = options.nodeIps.length > 0 ? options.nodeIps : [await ownAddress(target)];
  const onWaiting = (message: string): void => steps.note(`  ${message}`);
  const podNetwork = await nodePodRanges({
    client,
    nodeName: join.nodeName,
    podCidrs: options.podCidrs,
    clusterCidrs: settings.clusterCidr?.split(",") ?? [],
    timeoutMs: options.timeoutMs,
    onWaiting,
    ...context,
  });
  const machine: MachineOptions = {
    ...machineOptions({ ...options, nodeName: join.nodeName }, running),
    nodeIps,
    podNetwork,
    scope: "node",
  };
  const network = starting.use(await preparePodNetwork(runtime, machine));
  const serving = { nodeName: join.nodeName, nodeIps: nodeIpsOf(network, nodeIps), isRequested: options.rotatesServingCertificate };
  const certificate = await io.clock.external(servingCertificate(serving, context));
  const random = realRandom();
  const nodeContext: NodeContext = {
    // Components share the node's certificate: RBAC grants nodes what they need (decision 0033).
    transportFor: (_identity, userAgent) => transports.of(userAgent),
    ...apiServerAccess(target),
    clusterDns: settings.clusterDns === undefined ? [] : [settings.clusterDns],
    ...(settings.clusterDomain === undefined ? {} : { clusterDomain: settings.clusterDomain }),
    pki: { authority: join.authority, makeNodeServingCertificate: () => certificate },
    signal: io.signal,
    ...{ clock: io.clock, random: random.derive("node"), log: log.with({ part: "kubelet" }) },
  };
  const node = starting.use(await startMachineNode({ runtime, network }, machine, nodeContext));
  unused.move();
  starting.use(
    await startCertificateUpkeep(
      {
        ...serving,
        ...{ join, random },
        client: createClient(transports.of("kubelet")),
        useServing: (pair) => node.useServingCertificate(pair),
      },
      context,
    ),
  );
  const owned = starting.move();
  return {
    get list() {
      return [{ name: "node", description: node.description }, ...node.parts];
    },
    onChange: (listener) => node.onChange?.(listener),
    node: recordedNode(join.nodeName, runtime),
    server: join.server,
    kubeletPort: node.kubeletPort,
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  };
}

function machineOptions(
  { nodeName, runtimeEndpoint, networkValues, pressure }: JoinOptions,
  { held, steps, log, io }: RunningHome,
): MachineOptions {
  return {
    ...{ home: held.home, nodeName, networkValues, pressure, environment: io.environment, steps, clock: io.clock, log },
    ...(runtimeEndpoint === undefined ? {} : { runtimeEndpoint }),
    // The machine's runtimes would connect Pods to another network namespace than this node's.
    ...(isInMachineNamespace() ? {} : { sockets: [] }),
  };
}

/** A node without containers would be of no use. */
async function runtimeOf(options: JoinOptions, running: RunningHome): Promise<FoundRuntime> {
  const { held, steps, log, io } = running;
  const { clock } = io;
  const find = () => clock.external(findRuntime(machineOptions(options, running)));
  const choice = await steps.step("detected container runtime", find);
  const context = { held, environment: io.environment, steps, clock, log, signal: io.signal };
  await stopOldPods(context, choice.is === "there" ? choice.endpoint : undefined);
  if (choice.is === "none") throw new Error(`Cannot join: this machine cannot run containers: ${choice.why}`);
  return choice;
}

interface NodeTransports extends AsyncDisposable {
  /** One per user agent, with the node's certificate. */
  of(userAgent: string): Transport;
}

function nodeTransports({ server }: StoredJoin, { home, clock, log }: JoinContext): NodeTransports {
  const owned = new Disposables();
  const known = new Map<string, HttpsTransport>();
  return {
    of(userAgent) {
      const found = known.get(userAgent) ?? owned.use(httpsTransport(connectionOf(home, server), { clock, log, userAgent }));
      known.set(userAgent, found);
      return found;
    },
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  };
}

/** A cluster that is being restarted is waited for; it is cancelled by a signal. */
async function awaitServer({ server, nodeName }: StoredJoin, client: Client, { io }: RunningHome): Promise<void> {
  const isThere = await isServerThere({ server, source: "the last k8ts join", query: () => getNode(client, nodeName) }, io);
  if (!isThere) io.signal.throwIfAborted();
}

/** Settings that `k8ts up` published; a cluster of other origin has none. */
async function clusterNetwork(client: Client): Promise<ClusterNetworkSettings> {
  const found = await client.get(configMaps, CLUSTER_NETWORK).catch((error: unknown) => {
    if (isReason(error, "NotFound") || isReason(error, "Forbidden")) return undefined;
    throw error;
  });
  const { clusterCidr, kubernetesServiceIp, clusterDns, clusterDomain } = found?.data ?? {};
  return {
    ...(clusterCidr === undefined ? {} : { clusterCidr }),
    ...(kubernetesServiceIp === undefined ? {} : { kubernetesServiceIp }),
    ...(clusterDns === undefined ? {} : { clusterDns }),
    ...(clusterDomain === undefined ? {} : { clusterDomain }),
  };
}

interface ServerAddress {
  readonly address: string;
  readonly port: number;
}

async function addressOf(server: string): Promise<ServerAddress> {
  const { hostname, port } = new URL(server);
  return { address: await resolveName(hostname.replace(/^\[(.*)\]$/, "$1")), port: Number(port) };
}

/** On the route to the server; if that is this machine itself, one that others can reach. */
async function ownAddress(target: ServerAddress): Promise<string> {
  const source = await sourceAddressTo(target);
  const isLocal = source === undefined || source === "::1" || source.startsWith("127.");
  return (isLocal ? reachableAddress() : source) ?? source ?? "127.0.0.1";
}

function apiServerAccess(target: ServerAddress): Pick<NodeContext, "apiServer"> {
  return parseIp(target.address)?.family !== 4 || target.address.startsWith("127.") ? {} : { apiServer: { target } };
}
