/** The cluster of sets.ts in one process: a StatefulSet on simulated nodes, then a DaemonSet on many nodes without kubelets. */
import { daemonSets } from "../../src/api/apps/v1/daemon-set.ts";
import { statefulSets } from "../../src/api/apps/v1/stateful-set.ts";
import { nodes } from "../../src/api/core/v1/node.ts";
import type { DaemonSet, StatefulSet } from "../../src/api/generated/apps/v1.ts";
import type { KubeObject } from "../../src/api/machinery/object.ts";
import type { Client, ResourceKind } from "../../src/client/client.ts";
import { createClient } from "../../src/client/rest-client.ts";
import type { Cluster, ClusterOptions } from "../../src/embedded/cluster.ts";
import { startCluster } from "../../src/embedded/start-cluster.ts";
import { realClock } from "../../src/host/real-clock.ts";
import { createMany, idleCost, timed, writesSince, type IdleCost, type IdleOptions } from "../measures.ts";
import { serve } from "../serve.ts";

/** Simulated nodes for the Pods of the StatefulSet, 110 each. */
const KUBELETS = 2;

/** 5,000 nodes that are new to all other controllers take several seconds. */
const SETTLED_WITHIN_S = 60;

let cluster: Cluster | undefined;
let client: Client;
let made = 0;

const tasks = {
  /** Another cluster replaces the last one. */
  async start(options: Pick<ClusterOptions, "controllers" | "scheduler">): Promise<void> {
    await cluster?.close();
    cluster = await startCluster({ nodes: KUBELETS, ...options });
    client = createClient(cluster.transport({ userAgent: "bench" }));
  },

  /** Milliseconds until all Pods of a new StatefulSet are ready; it is deleted again. */
  async statefulSet({ replicas, policy }: { readonly replicas: number; readonly policy: "OrderedReady" | "Parallel" }): Promise<number> {
    const name = `set-${made++}`;
    const labels = { app: name };
    const spec = {
      replicas,
      serviceName: name,
      podManagementPolicy: policy,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: "web", image: "web:1" }], terminationGracePeriodSeconds: 0 } },
    };
    const takenMs = await timed(async () => {
      await client.create(statefulSets, { apiVersion: "apps/v1", kind: "StatefulSet", metadata: { namespace: "default", name }, spec });
      await becomes<StatefulSet>(statefulSets, name, (set) => set?.status?.readyReplicas === replicas);
    });
    await client.delete(statefulSets, { namespace: "default", name }, { propagationPolicy: "Foreground" });
    await becomes(statefulSets, name, (set) => set === undefined);
    return takenMs;
  },

  async addNodes({ count }: { readonly count: number }): Promise<void> {
    await createMany(count, (index) =>
      client.create(nodes, { apiVersion: "v1", kind: "Node", metadata: { name: `many-${index}`, labels: { of: "many" } } }),
    );
  },

  /** Milliseconds until a new DaemonSet has a Pod for every one of these nodes. It stays. */
  async daemonSet({ count }: { readonly count: number }): Promise<number> {
    const labels = { app: "agent" };
    const tolerations = [{ operator: "Exists" as const }];
    const pod = { nodeSelector: { of: "many" }, tolerations, containers: [{ name: "agent", image: "agent:1" }] };
    const spec = { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: pod } };
    return await timed(async () => {
      await client.create(daemonSets, {
        apiVersion: "apps/v1",
        kind: "DaemonSet",
        metadata: { namespace: "default", name: "agent" },
        spec,
      });
      await becomes<DaemonSet>(daemonSets, "agent", (set) => set?.status?.currentNumberScheduled === count);
    });
  },

  /** Milliseconds until a label that one node loses and regains is followed. */
  async relabel(_input: null): Promise<number> {
    const { desiredNumberScheduled: all = 0 } = (await client.get(daemonSets, { namespace: "default", name: "agent" })).status ?? {};
    const label = (of: string) => client.patch(nodes, { name: "many-0" }, { type: "merge", value: { metadata: { labels: { of } } } });
    return await timed(async () => {
      await label("few");
      await becomes<DaemonSet>(daemonSets, "agent", (set) => set?.status?.desiredNumberScheduled === all - 1);
      await label("many");
      await becomes<DaemonSet>(daemonSets, "agent", (set) => set?.status?.currentNumberScheduled === all);
    });
  },

  /** Milliseconds of CPU time per second, and number of writes to the store, without changes. */
  async idle(options: IdleOptions): Promise<IdleCost> {
    await settled();
    return idleCost(client, options);
  },
};
export type SetsTasks = typeof tasks;
serve(tasks);

function becomes<T extends KubeObject>(kind: ResourceKind<T>, name: string, is: (object: T | undefined) => boolean): Promise<unknown> {
  return runningCluster().until<T>(`${kind.plural}/${name}`, is, { within: "10m" });
}

function runningCluster(): Cluster {
  if (cluster === undefined) throw new Error("Cannot measure: no cluster was started");
  return cluster;
}

/** Resolves when the effects of the last change have ended, in any component. */
async function settled(): Promise<void> {
  for (let second = 0; second < SETTLED_WITHIN_S; second++) {
    const since = new Date().toISOString();
    await realClock.sleep(1_000);
    if ((await writesSince(client, since)) === 0) return;
  }
  throw new Error(`The cluster still writes ${SETTLED_WITHIN_S} s after the last change`);
}
