/**
 * Gives Services of type LoadBalancer an address that works without a cloud: addresses of nodes, or one of a configured range, which one
 * node announces on its network. The service proxy of every node serves them. A port that another Service, an Ingress, a Pod's host port or
 * a process of this machine uses is never taken over: the Service stays pending, with an event that names the user. Services with another
 * loadBalancerClass are left to its controller. (Upstream's controller of this name asks a cloud provider.)
 */
import { nodes } from "../../api/core/v1/node.ts";
import { pods } from "../../api/core/v1/pod.ts";
import { services } from "../../api/core/v1/service.ts";
import { announcerOf, withAnnouncer } from "../../api/core/v1/service/announcer.ts";
import type { LoadBalancerIngress, Node, Pod, Service, ServicePort } from "../../api/generated/core/v1.ts";
import type { Ingress } from "../../api/generated/networking.k8s.io/v1.ts";
import type { Cidr } from "../../api/machinery/ip/ip-address.ts";
import { ingresses } from "../../api/networking.k8s.io/v1/ingress.ts";
import { deepEqual } from "../../base/deep.ts";
import { defineIndex } from "../../client/informer/index.ts";
import type { Reader } from "../../client/informer/informer.ts";
import {
  after,
  defineController,
  onChange,
  watch,
  type Change,
  type Controller,
  type Outcome,
  type Pass,
  type WorkKey,
} from "../runtime/controller.ts";
import { keyOf } from "../runtime/keys.ts";
import { addressesOf, chooseAddresses, isLoadBalanced, type AddressChoice } from "./choose-addresses.ts";
import { nodePortsOf, portUserOf, usesHostPorts } from "./port-users.ts";

export interface LoadBalancerSettings {
  /** Absent: Services of type LoadBalancer stay pending, as upstream without a cloud provider. */
  readonly loadBalancer?: {
    /** --load-balancer-range. Absent: addresses of nodes. */
    readonly range?: Cidr;
    /** Describes the process that listens on this port of an address of this machine. */
    portUser?(address: string, port: ServicePort): string | undefined;
  };
}

/** There is no event for a process that frees a port. */
const PORT_RETRY_MS = 15_000;

const ALL = "all";
const balanced = defineIndex(services, (service) => (isLoadBalanced(service) || addressesOf(service).length > 0 ? [ALL] : []));
const byNodePort = defineIndex(services, nodePortsOf);
const hostPortPodsByNode = defineIndex(pods, (pod) => (usesHostPorts(pod) ? [pod.spec?.nodeName ?? ""] : []));

export function serviceLoadBalancerController({ loadBalancer }: LoadBalancerSettings = {}): Controller {
  return defineController({
    name: "service-lb-controller",
    aliases: ["service"],
    account: "service-controller",
    rules: [
      { apiGroups: [""], resources: ["services"], verbs: ["get", "list", "watch"] },
      { apiGroups: [""], resources: ["services/status"], verbs: ["patch", "update"] },
      { apiGroups: [""], resources: ["nodes", "pods"], verbs: ["list", "watch"] },
      { apiGroups: ["networking.k8s.io"], resources: ["ingresses"], verbs: ["list", "watch"] },
      { apiGroups: ["", "events.k8s.io"], resources: ["events"], verbs: ["create", "patch", "update"] },
    ],
    watches: [watch(services, keysOfService), watch(nodes, keysOfNode), watch(pods, keysOfPod), watch(ingresses, keysOfIngress)],
    // Two Services that want the same port must not be decided at the same time.
    concurrency: 1,
    reconcile: (key, pass) => (loadBalancer === undefined ? Promise.resolve(onChange) : reconcile(key, pass, loadBalancer)),
  });
}

/** A Service that frees ports wakes those that wait for them. */
function* keysOfService({ is, object, previous }: Change<Service>, read: Reader): Iterable<WorkKey> {
  if (is !== "deleted" && (isLoadBalanced(object) || hasLeftovers(object))) yield keyOf(object);
  const before = is === "deleted" ? object : previous;
  if (before === undefined || addressesOf(before).length === 0) return;
  const hasFreed = is === "deleted" || !deepEqual([before.spec, before.status], [object.spec, object.status]);
  if (!hasFreed) return;
  yield* keysOfPending(read);
}

/** Of the time when it was load-balanced. The API server removes the addresses when the type changes. */
function hasLeftovers(service: Service): boolean {
  return addressesOf(service).length > 0 || announcerOf(service) !== undefined;
}

function* keysOfPending(read: Reader): Iterable<WorkKey> {
  for (const other of read.indexed(balanced, ALL)) if (isLoadBalanced(other) && addressesOf(other).length === 0) yield keyOf(other);
}

function* keysOfPod({ is, object, previous }: Change<Pod>, read: Reader): Iterable<WorkKey> {
  const before = is === "deleted" ? object : previous;
  if (before !== undefined && usesHostPorts(before) && (is === "deleted" || !usesHostPorts(object))) yield* keysOfPending(read);
}

function* keysOfIngress({ is, object, previous }: Change<Ingress>, read: Reader): Iterable<WorkKey> {
  if (is === "deleted" || !deepEqual(object.status, previous?.status)) yield* keysOfPending(read);
}

function* keysOfNode({ is, object, previous }: Change<Node>, read: Reader): Iterable<WorkKey> {
  const facts = ({ metadata, status }: Node) => [
    metadata.labels,
    metadata.deletionTimestamp,
    status?.addresses,
    status?.conditions?.find(({ type }) => type === "Ready")?.status,
  ];
  if (is === "updated" && previous !== undefined && deepEqual(facts(object), facts(previous))) return;
  for (const service of read.indexed(balanced, ALL)) yield keyOf(service);
}

type Settings = NonNullable<LoadBalancerSettings["loadBalancer"]>;

async function reconcile(key: WorkKey, pass: Pass, settings: Settings): Promise<Outcome> {
  const { read } = pass;
  const service = read.get(services, key);
  if (service === undefined || service.metadata.deletionTimestamp !== undefined) return onChange;
  if (!isLoadBalanced(service)) {
    // Of another class: its controller's. Otherwise the type was changed.
    if (service.spec?.type !== "LoadBalancer" && hasLeftovers(service)) await write(service, { addresses: [] }, pass);
    return onChange;
  }
  const choice = choose(service, pass, settings);
  if (choice.is === "none") {
    await write(service, { addresses: [] }, pass);
    const message = `Error syncing load balancer: failed to ensure load balancer: ${choice.why}`;
    pass.events.record(service, { type: "Warning", reason: "SyncLoadBalancerFailed", message });
    return choice.mayChange ? after(PORT_RETRY_MS) : onChange;
  }
  const wasPending = addressesOf(service).length === 0;
  await write(service, choice, pass);
  if (wasPending) pass.events.record(service, { type: "Normal", reason: "EnsuredLoadBalancer", message: "Ensured load balancer" });
  return choice.recheckMs === undefined ? onChange : after(choice.recheckMs);
}

function choose(service: Service, { read, clock }: Pass, { range, portUser }: Settings): AddressChoice {
  const isOther = ({ metadata }: Service): boolean => metadata.uid !== service.metadata.uid;
  const users = {
    nodes: read.list(nodes),
    ingresses: read.list(ingresses),
    hostPortPods: (nodeName: string) => read.indexed(hostPortPodsByNode, nodeName),
    nodePortServices: (port: string) => read.indexed(byNodePort, port).filter(isOther),
  };
  return chooseAddresses(service, {
    ...(range === undefined ? {} : { range }),
    nodes: users.nodes,
    others: read.indexed(balanced, ALL).filter(isOther),
    nowMs: clock.now(),
    portUser: (address, port) => portUserOf(address, port, users) ?? portUser?.(address, port),
  });
}

interface Chosen {
  readonly addresses: readonly string[];
  readonly announcedBy?: string;
}

async function write(service: Service, { addresses, announcedBy }: Chosen, { write: client, clock }: Pass): Promise<void> {
  const ingress = ingressOf(service, addresses);
  const isAnnounced = announcerOf(service) === announcedBy;
  if (deepEqual(service.status?.loadBalancer?.ingress ?? [], ingress) && isAnnounced) return;
  const conditions = isAnnounced ? {} : { conditions: withAnnouncer(service, { node: announcedBy, nowMs: clock.now() }) };
  const status = { ...service.status, loadBalancer: ingress.length === 0 ? {} : { ingress }, ...conditions };
  await client.updateStatus(services, { ...service, status });
}

/** With the ports, which shows later which of them the Service has. */
function ingressOf({ spec }: Service, addresses: readonly string[]): readonly LoadBalancerIngress[] {
  const ports = (spec?.ports ?? []).map(({ port, protocol = "TCP" }) => ({ port, protocol }));
  return addresses.map((ip) => ({ ip, ipMode: "VIP", ports }));
}
