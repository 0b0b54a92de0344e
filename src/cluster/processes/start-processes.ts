/**
 * Starts `k8ts up --processes`: API server, controllers, scheduler and kubelet, or all simulated nodes, each as a separate process that
 * this one supervises. They are the commands that a user could run, with the kubeconfigs of the cluster's home. Container runtime, network
 * and the kubelet's files are managed here, so that they survive a restart of the kubelet.
 *
 * On a store that only this cluster uses, controllers and scheduler run without leader election and are active immediately after each
 * start; the lock of the home guarantees a single instance. On etcd there may be others, and leader election is used.
 */
import type { Transport } from "../../api/machinery/transport.ts";
import { Disposables } from "../../base/disposables.ts";
import { httpsTransport, type HttpsTransport } from "../../client/https/https-transport.ts";
import { advertisedAddress } from "../../components/api-server/secure-serving.ts";
import type { ServingConfig } from "../../config/api-server-config.ts";
import { describeStore } from "../../components/control-plane.ts";
import { podAccessProblem, withPodAccess } from "../pod-access.ts";
import {
  chooseRuntime,
  K8TS_AGENT,
  machineOptions,
  openNodeSegment,
  recordedNode,
  renewNodes,
  startFurtherNodes,
  tryMarkControlPlane,
  type RuntimeChoice,
  type StartClusterContext,
  type StartedCluster,
} from "../start-cluster.ts";
import type { UpOptions } from "../up-options.ts";
import { readSchedulerConfig, SCHEDULER_CONFIG_FLAG } from "../../config/scheduler-config.ts";
import { preparePodNetwork, type PodNetworkPart } from "../machine/prepare-machine.ts";
import type { RecordedPart } from "../home/cluster-record.ts";
import { CLUSTER_DOMAIN } from "../machine/cluster-domain.ts";
import { createJoiningPermissions } from "../../client/create-joining-permissions.ts";
import { createClient } from "../../client/rest-client.ts";
import { tryPublishClusterNetwork } from "../publish-cluster-network.ts";
import { readDoor } from "./read-door.ts";
import { SupervisedProcess, type SupervisedProcessOptions } from "../../processes/supervised-process.ts";
import { apiServerPart, controllersPart, schedulerPart, urlOf } from "./control-plane-processes.ts";
import { startNode, type StartedNode } from "./node-processes.ts";
import { STOP_WITHIN_MS, type NodeStart } from "./process-start.ts";
import { processOf } from "./reported-components.ts";
import { firstSimulated, startNodes } from "./simulated-nodes-process.ts";

type Processes = NonNullable<UpOptions["processes"]>;

export async function startProcesses(
  options: UpOptions & { readonly processes: Processes },
  context: StartClusterContext,
): Promise<StartedCluster> {
  const { clock, steps, signal } = context;
  await using starting = new Disposables();
  const listeners: (() => void)[] = [];
  const common = {
    stopWithinMs: STOP_WITHIN_MS,
    report: (line: string) => steps.note(line),
    onRestarted: () => listeners.forEach((listener) => listener()),
    signal,
    clock,
  };
  const supervise = async (step: string, part: Omit<SupervisedProcessOptions, keyof typeof common> & Partial<typeof common>) =>
    starting.use(await steps.step(step, () => clock.external(SupervisedProcess.start({ ...common, ...part }))));
  const { profiles } = await clock.external(readSchedulerConfig(options.scheduler, SCHEDULER_CONFIG_FLAG));
  const { runtime, simulated, because } = await chooseRuntime(options, context);
  const { network, serving } = await prepareNetwork(runtime, { options, context, owner: starting });
  const server = await supervise(
    "started API server",
    await apiServerPart({ ...options, apiServer: { ...options.apiServer, serving } }, context),
  );
  const door = await clock.external(readDoor(urlOf(server.readyLine), options.apiServer.serving.kubeconfig ?? ""));
  const nodeStart = { options, context, door, supervise, onChange: common.onRestarted, owner: starting };
  if (network !== undefined) await allowApiServer(network, { serving, url: door.url });
  // The network components of a node read objects as that node.
  await asAdministrator(nodeStart, async (transport) => {
    const client = createClient(transport);
    await createJoiningPermissions(client);
    if (network !== undefined) await renewNodes(client, network, { options, context });
  });
  const started = runtime === undefined || network === undefined ? undefined : await startNode({ runtime, network }, nodeStart);
  const nodes = simulated === 0 ? undefined : await startNodes(simulated, nodeStart);
  const firstNode = started === undefined ? firstSimulated(simulated, nodeStart) : options.nodeName;
  await asAdministrator(nodeStart, async (transport) => {
    if (firstNode !== undefined) await tryMarkControlPlane(transport, firstNode, steps);
    const { serviceClusterIpRange } = options.apiServer.api;
    const published = { serviceClusterIpRange, network, clusterDomain: CLUSTER_DOMAIN };
    await tryPublishClusterNetwork(transport, published, steps);
  });
  const controllers = await supervise("started controllers", controllersPart(options, context, network));
  const scheduler = await supervise("started scheduler", schedulerPart(options, context));
  const reached = {
    network,
    transport: starting.use(administratorTransport(nodeStart)),
    ...door,
    advertisedAddress: advertisedAddress(serving),
  };
  const fleet = await startFurtherNodes(reached, options, context);
  if (fleet !== undefined) starting.use(fleet);
  fleet?.onChange(common.onRestarted);
  const owned = starting.move();
  const describedScheduler = profiles.map(({ schedulerName }) => schedulerName).join(", ");
  const parts = [
    { name: "store", description: describeStore(options.store) },
    { name: "API server", description: door.url, process: server },
    { name: "controllers", description: "running", process: controllers },
    { name: "scheduler", description: describedScheduler, process: scheduler },
  ];
  return {
    get list() {
      return [...parts.map(listed), ...listedNode(started, options, runtime), ...listedSimulated(nodes, simulated), ...(fleet?.list ?? [])];
    },
    door,
    ...(runtime === undefined ? {} : { node: recordedNode(options.nodeName, runtime) }),
    ...(because === undefined ? {} : { simulatedBecause: because }),
    onChange: (listener) => void listeners.push(listener),
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  };
}

/** Before the API server, which listens on the Pod network for Pods. */
async function prepareNetwork(
  runtime: RuntimeChoice["runtime"],
  { options, context, owner }: { readonly options: UpOptions; readonly context: StartClusterContext; readonly owner: Disposables },
) {
  if (runtime === undefined) return { network: undefined, serving: options.apiServer.serving };
  // A container runtime started for this is stopped if the rest of the start fails. One that was running before has Pods.
  if (runtime.stop !== undefined && !runtime.wasAdopted) owner.defer(runtime.stop);
  const network = owner.use(await preparePodNetwork(runtime, machineOptions(options, context)));
  await openNodeSegment(network, { options, context, owner });
  const serving = withPodAccess(options.apiServer.serving, network);
  const problem = podAccessProblem(serving);
  if (problem !== undefined) context.steps.note(`  warning: ${problem}`);
  return { network, serving };
}

/** A part as shown, with the number of its process as long as it runs. */
function listed({
  process: supervised,
  ...part
}: Pick<RecordedPart, "name" | "description"> & { readonly process?: SupervisedProcess }): RecordedPart {
  return supervised === undefined ? part : { ...part, ...processOf(supervised) };
}

function listedNode(started: StartedNode | undefined, { nodeName }: UpOptions, runtime: RuntimeChoice["runtime"]): readonly RecordedPart[] {
  if (started === undefined || runtime === undefined) return [];
  const description = `${nodeName} (${runtime.name} ${runtime.version})`;
  return [listed({ name: "node", description, process: started.node }), ...started.networkParts()];
}

function listedSimulated(nodes: SupervisedProcess | undefined, count: number): readonly RecordedPart[] {
  return nodes === undefined ? [] : [listed({ name: "nodes", description: `${count} simulated`, process: nodes })];
}

async function asAdministrator(start: NodeStart, work: (transport: Transport) => Promise<void>): Promise<void> {
  await using transport = administratorTransport(start);
  await start.context.clock.external(work(transport));
}

function administratorTransport({ door, context: { clock, log } }: NodeStart): HttpsTransport {
  const connection = {
    ...{ server: door.url, namespace: "default", authority: { text: door.authority } },
    credentials: { certificate: { certificate: { text: door.admin.certificate }, key: { text: door.admin.key } } },
  };
  return httpsTransport(connection, { clock, log, userAgent: K8TS_AGENT });
}

async function allowApiServer(
  network: PodNetworkPart,
  { serving, url }: { readonly serving: ServingConfig; readonly url: string },
): Promise<void> {
  const address = advertisedAddress(serving);
  if (address === undefined) return;
  await network.allowApiServer?.({ target: { address, port: Number(new URL(url).port) } });
}
