/** Cluster objects for plugins besides nodes and Pods, from the scheduler's informers. */
import { replicaSets } from "../api/apps/v1/replica-set.ts";
import { statefulSets } from "../api/apps/v1/stateful-set.ts";
import { namespaces } from "../api/core/v1/namespace.ts";
import { nodes } from "../api/core/v1/node.ts";
import { pods } from "../api/core/v1/pod.ts";
import { replicationControllers } from "../api/core/v1/replication-controller.ts";
import { services } from "../api/core/v1/service.ts";
import { podDisruptionBudgets } from "../api/policy/v1/pod-disruption-budget.ts";
import type { Informers, InformerScope } from "../client/informer/informer.ts";
import { watchDevices } from "./cluster-devices.ts";
import { watchStorage } from "./cluster-storage.ts";
import type { ClusterView } from "./framework/plugin.ts";

/** Terminated Pods use nothing and wait for nothing. */
export const UNFINISHED: InformerScope = { fieldSelector: "status.phase!=Succeeded,status.phase!=Failed" };

/** Starts the informers; resolves when all are synced. */
export async function watchCluster(informers: Informers, signal: AbortSignal): Promise<ClusterView> {
  const [ofNamespaces, ofServices, ofControllers, ofReplicaSets, ofStatefulSets, ofBudgets, ofPods, ofNodes] = [
    informers.of(namespaces),
    informers.of(services),
    informers.of(replicationControllers),
    informers.of(replicaSets),
    informers.of(statefulSets),
    informers.of(podDisruptionBudgets),
    informers.of(pods, UNFINISHED),
    informers.of(nodes),
  ] as const;
  const all = [ofNamespaces, ofServices, ofControllers, ofReplicaSets, ofStatefulSets, ofBudgets, ofPods, ofNodes];
  const synced = all.map((informer) => informer.synced(signal));
  const [storage, devices] = await Promise.all([watchStorage(informers, signal), watchDevices(informers, signal), ...synced]);
  return {
    namespace: (name) => ofNamespaces.get({ name }),
    namespaces: () => ofNamespaces.list(),
    services: (namespace) => ofServices.list(namespace),
    replicationControllers: (namespace) => ofControllers.list(namespace),
    replicaSets: (namespace) => ofReplicaSets.list(namespace),
    statefulSets: (namespace) => ofStatefulSets.list(namespace),
    podDisruptionBudgets: (namespace) => ofBudgets.list(namespace),
    pod: (namespace, name) => ofPods.get({ namespace, name }),
    node: (name) => ofNodes.get({ name }),
    storage,
    devices,
  };
}
