/**
 * Gives Services of type LoadBalancer an address that works without a cloud: addresses of nodes, or one of a configured range. The service
 * proxy of every node serves them. A port that another Service or a process of this machine uses is never taken over: the Service stays
 * pending, with an event that names the user. Services with another loadBalancerClass are left to its controller. (Upstream's controller of
 * this name asks a cloud provider.)
 */
import { nodes } from "../../api/core/v1/node.ts";
import { services } from "../../api/core/v1/service.ts";
import type { LoadBalancerStatus, Node, Service, ServicePort } from "../../api/generated/core/v1.ts";
import type { Cidr } from "../../api/machinery/ip-address.ts";
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
import { addressesOf, chooseAddresses, isLoadBalanced } from "./choose-addresses.ts";

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

export function serviceLoadBalancerController({ loadBalancer }: LoadBalancerSettings = {}): Controller {
  return defineController({
    name: "service-lb-controller",
    aliases: ["service"],
    account: "service-controller",
    rules: [
      { apiGroups: [""], resources: ["services"], verbs: ["get", "list", "watch"] },
      { apiGroups: [""], resources: ["services/status"], verbs: ["patch", "update"] },
      { apiGroups: [""], resources: ["nodes"], verbs: ["list", "watch"] },
      { apiGroups: ["", "events.k8s.io"], resources: ["events"], verbs: ["create", "patch", "update"] },
    ],
    watches: [watch(services, keysOfService), watch(nodes, keysOfNode)],
    // Two Services that want the same port must not be decided at the same time.
    concurrency: 1,
    reconcile: (key, pass) => (loadBalancer === undefined ? Promise.resolve(onChange) : reconcile(key, pass, loadBalancer)),
  });
}

/** A Service that frees ports wakes those that wait for them. */
function* keysOfService({ is, object, previous }: Change<Service>, read: Reader): Iterable<WorkKey> {
  if (is !== "deleted" && (isLoadBalanced(object) || addressesOf(object).length > 0)) yield keyOf(object);
  const before = is === "deleted" ? object : previous;
  if (before === undefined || addressesOf(before).length === 0) return;
  const hasFreed = is === "deleted" || !deepEqual([before.spec, before.status], [object.spec, object.status]);
  if (!hasFreed) return;
  for (const other of read.indexed(balanced, ALL)) if (isLoadBalanced(other) && addressesOf(other).length === 0) yield keyOf(other);
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

async function reconcile(key: WorkKey, pass: Pass, settings: NonNullable<LoadBalancerSettings["loadBalancer"]>): Promise<Outcome> {
  const { read } = pass;
  const service = read.get(services, key);
  if (service === undefined || service.metadata.deletionTimestamp !== undefined) return onChange;
  if (!isLoadBalanced(service)) {
    // Of another class: its controller's. Otherwise the type was changed.
    if (service.spec?.type !== "LoadBalancer" && addressesOf(service).length > 0) await write(service, {}, pass);
    return onChange;
  }
  const others = read.indexed(balanced, ALL).filter(({ metadata }) => metadata.uid !== service.metadata.uid);
  const choice = chooseAddresses(service, { ...settings, nodes: read.list(nodes), others });
  if (choice.is === "none") {
    await write(service, {}, pass);
    const message = `Error syncing load balancer: failed to ensure load balancer: ${choice.why}`;
    pass.events.record(service, { type: "Warning", reason: "SyncLoadBalancerFailed", message });
    return choice.mayChange ? after(PORT_RETRY_MS) : onChange;
  }
  const wasPending = addressesOf(service).length === 0;
  await write(service, { ingress: choice.addresses.map((ip) => ({ ip, ipMode: "VIP" })) }, pass);
  if (wasPending) pass.events.record(service, { type: "Normal", reason: "EnsuredLoadBalancer", message: "Ensured load balancer" });
  return onChange;
}

async function write(service: Service, loadBalancer: LoadBalancerStatus, { write: client }: Pass): Promise<void> {
  const before = addressesOf(service);
  const now = loadBalancer.ingress?.map(({ ip }) => ip) ?? [];
  if (deepEqual(before, now)) return;
  await client.updateStatus(services, { ...service, status: { ...service.status, loadBalancer } });
}
