/**
 * A cluster for tests of kubelets: the real API server with the RBAC and admission of every cluster, in memory and under virtual time, and
 * kubelets with simulated runtimes that have the identities of their nodes. Pods are bound by hand.
 */
import type { Event, Node, Pod, PodSpec } from "../../api/generated/core/v1.ts";
import { events } from "../../api/core/v1/event.ts";
import { nodes } from "../../api/core/v1/node.ts";
import { pods } from "../../api/core/v1/pod.ts";
import { namespaces } from "../../api/core/v1/namespace.ts";
import type { Transport } from "../../api/machinery/transport.ts";
import { isReason } from "../../api/machinery/status-error.ts";
import { Disposables } from "../../base/disposables.ts";
import { silentLogger } from "../../base/logger.ts";
import { seededRandom } from "../../base/random.ts";
import type { VirtualClock } from "../../base/virtual-clock.ts";
import type { Client } from "../../client/client.ts";
import { createInformers } from "../../client/informer/informers.ts";
import { createClient } from "../../client/rest-client.ts";
import { startControlledServer, WITH_ALL_ADMISSION } from "../../testing/servers/controlled-server.ts";
import { driven } from "../../testing/driven.ts";
import { startSimulatedNodes, type SimulatedNodes, type SimulatedNodesOptions } from "../many-nodes.ts";
import { kubeletIdentity, startKubelet, type Kubelet, type KubeletOptions } from "../kubelet.ts";
import type { Runtime } from "../contracts/runtime.ts";
import { simulatedRuntime } from "../runtime/simulated/simulated-runtime.ts";
import { Simulation } from "../runtime/simulated/simulation.ts";
import { buildPod } from "../../api/testing/pod.ts";

/** Admission plugins that need more than there is here: service accounts and their tokens, a controller that removes taints. */
const DISABLED_PLUGINS = ["ServiceAccount", "StorageObjectInUseProtection", "DefaultTolerationSeconds", "TaintNodesByCondition"];

export interface World extends AsyncDisposable {
  readonly clock: VirtualClock;
  readonly client: Client;
  /** Writes of nodes so far, one line each: "update pods/status", "delete pods of uid". Without Events and Leases. */
  readonly writes: string[];
  transportFor(identity: { readonly name: string; readonly groups: readonly string[] }): Transport;
  runtime(nodeName: string): Runtime;
  /** A single kubelet, with informers of its own. */
  kubelet(nodeName: string, options?: Partial<KubeletOptions>): Promise<Kubelet>;
  fleet(count: number, options?: Partial<SimulatedNodesOptions>): Promise<SimulatedNodes>;
  /** A Pod that is bound to a node; a test sets only what it is about. */
  pod(name: string, spec?: Partial<PodSpec>, metadata?: Partial<Pod["metadata"]>): Promise<Pod>;
  /** Its current state; undefined if it does not exist. */
  get(name: string): Promise<Pod | undefined>;
  node(name: string): Promise<Node>;
  /** "Normal Pulled …": Events of all objects with this name, in order. */
  eventsOf(name: string): Promise<readonly string[]>;
}

export async function startWorld(controllers: readonly string[] = ["-*"]): Promise<World> {
  await using starting = new Disposables();
  const { admission } = WITH_ALL_ADMISSION;
  const config = admission === undefined ? {} : { admission: { ...admission, disabledPlugins: DISABLED_PLUGINS } };
  const server = starting.use(await startControlledServer(controllers, { config }));
  const { clock } = server;
  const client = createClient(server.transport());
  await ensureNamespace(client, "kube-node-lease");
  const writes: string[] = [];
  const simulation = new Simulation(clock);
  const transportFor: World["transportFor"] = (user) => counted(server.server.transport({ user, userAgent: "kubelet" }), writes);
  const common = { clock, random: seededRandom(7), log: silentLogger };
  const runtimeOf = (nodeName: string, nodeIndex = 0): Runtime => simulatedRuntime({ simulation, node: nodeName, nodeIndex });
  const owned = starting.move();
  return {
    clock,
    client,
    writes,
    transportFor,
    runtime: runtimeOf,
    async kubelet(nodeName, options = {}) {
      const transport = transportFor(kubeletIdentity(nodeName));
      const facts = factsOf(nodeName);
      const kubelet = startKubelet({ nodeName, facts, transport, runtime: runtimeOf(nodeName), ...common, ...options });
      return owned.use(await driven(clock, kubelet));
    },
    async fleet(count, options = {}) {
      const informers = owned.use(createInformers({ transport: server.transport(), ...common }));
      const runtimeFor: SimulatedNodesOptions["runtimeFor"] = ({ name, index }) => runtimeOf(name, index);
      return owned.use(await driven(clock, startSimulatedNodes({ count, transportFor, informers, runtimeFor, ...common, ...options })));
    },
    pod: (name, spec, metadata) => client.create(pods, aPod(name, spec, metadata)),
    get: (name) => client.get(pods, { namespace: "default", name }).catch(ifGone),
    node: (name) => client.get(nodes, { name }),
    async eventsOf(name) {
      const { items } = await client.list<Event>(events);
      const own = items.filter(({ involvedObject }) => involvedObject?.name === name);
      // Names end with the timestamp in hexadecimal.
      const sorted = own.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
      return sorted.map(({ type = "", reason = "", message = "" }) => `${type} ${reason} ${message}`);
    },
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  };
}

export function factsOf(nodeName: string): KubeletOptions["facts"] {
  return {
    capacity: { cpu: "4", memory: "8Gi", "ephemeral-storage": "10Gi", pods: "10" },
    addresses: [
      { type: "InternalIP", address: "192.0.2.1" },
      { type: "Hostname", address: nodeName },
    ],
    system: {
      machineID: "m",
      systemUUID: "s",
      bootID: "b",
      kernelVersion: "6.12.0",
      osImage: "test",
      operatingSystem: "linux",
      architecture: "amd64",
    },
  };
}

/** Bound to node n1 unless it says otherwise. */
export function aPod(name: string, spec: Partial<PodSpec> = {}, metadata: Partial<Pod["metadata"]> = {}): Pod {
  return buildPod({ metadata: { name, ...metadata }, spec: { nodeName: "n1", containers: [{ name: "c", image: "web:1" }], ...spec } });
}

async function ensureNamespace(client: Client, name: string): Promise<void> {
  await client.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name } }).catch((error: unknown) => {
    if (!isReason(error, "AlreadyExists")) throw error;
  });
}

function ifGone(error: unknown): undefined {
  if (!isReason(error, "NotFound")) throw error;
}

function counted(transport: Transport, writes: string[]): Transport {
  return {
    ...transport,
    watch: (request, listener) => transport.watch(request, listener),
    document: (path, options) => transport.document(path, options),
    request(request) {
      const { verb, plural, subresource, object } = request;
      const isWrite = verb !== "get" && verb !== "list" && plural !== "events" && plural !== "leases";
      const only = object?.["preconditions"] === undefined ? "" : ` of ${Object.keys(object["preconditions"] as object).join()}`;
      if (isWrite) writes.push(`${verb} ${subresource === undefined ? plural : `${plural}/${subresource}`}${only}`);
      return transport.request(request);
    },
  };
}
