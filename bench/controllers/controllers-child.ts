/** The cluster of controllers.ts in one process: each task creates a workload and resolves with the time to completion. */
import { deployments } from "../../src/api/apps/v1/deployment.ts";
import { configMaps } from "../../src/api/core/v1/config-map.ts";
import { namespaces } from "../../src/api/core/v1/namespace.ts";
import { pods } from "../../src/api/core/v1/pod.ts";
import { secrets } from "../../src/api/core/v1/secret.ts";
import type { Deployment } from "../../src/api/generated/apps/v1.ts";
import type { Pod } from "../../src/api/generated/core/v1.ts";
import type { Client, Draft, ResourceKind } from "../../src/client/client.ts";
import { createClient } from "../../src/client/rest-client.ts";
import { realClock } from "../../src/host/real-clock.ts";
import type { Cluster } from "../../src/embedded/cluster.ts";
import { startCluster } from "../../src/embedded/start-cluster.ts";
import { createMany, idleCost, timed, type IdleCost, type IdleOptions } from "../measures.ts";
import { serve } from "../serve.ts";

let cluster: Cluster;
let client: Client;
let made = 0;

interface IdlePods extends IdleOptions {
  readonly podCount: number;
}

const tasks = {
  async start(_input: null): Promise<void> {
    cluster = await startCluster();
    client = createClient(cluster.transport({ userAgent: "bench" }));
  },

  /** Like those of the ReplicaSet controller, created without it. */
  async bare({ count }: { readonly count: number }): Promise<number> {
    const namespace = await newNamespace();
    return timed(() =>
      createMany(count, (index) => client.create(pods, { ...podOf(namespace), metadata: { namespace, name: `p${index}` } })),
    );
  },

  async deployments({ count, replicas }: { readonly count: number; readonly replicas: number }): Promise<number> {
    const namespace = await newNamespace();
    await using seen = await arrivals(pods, namespace);
    return await timed(async () => {
      await Promise.all([
        seen.reached(count * replicas),
        createMany(count, (index) => client.create(deployments, deploymentOf(namespace, index, replicas))),
      ]);
    });
  },

  async garbage({ dependents }: { readonly dependents: number }): Promise<number> {
    const namespace = await newNamespace();
    const owner = await client.create(configMaps, { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace, name: "owner" } });
    const reference = { apiVersion: "v1", kind: "ConfigMap", name: "owner", uid: owner.metadata.uid ?? "" };
    await createMany(dependents, (index) =>
      client.create(secrets, {
        apiVersion: "v1",
        kind: "Secret",
        metadata: { namespace, name: `s${index}`, ownerReferences: [reference] },
      }),
    );
    await using gone = await arrivals(secrets, namespace, "DELETED");
    return await timed(async () => {
      await Promise.all([gone.reached(dependents), client.delete(configMaps, { namespace, name: "owner" })]);
    });
  },

  async namespace({ objects }: { readonly objects: number }): Promise<number> {
    const namespace = await newNamespace();
    const kinds: readonly (readonly [ResourceKind, string])[] = [
      [configMaps, "ConfigMap"],
      [secrets, "Secret"],
    ];
    await createMany(objects, (index) => {
      const [kind, name] = kinds[index % kinds.length] as (typeof kinds)[number];
      return client.create(kind, { apiVersion: "v1", kind: name, metadata: { namespace, name: `o${index}` } });
    });
    await using gone = await arrivals(namespaces, undefined, "DELETED");
    return await timed(async () => {
      await Promise.all([gone.reached(1), client.delete(namespaces, { name: namespace })]);
    });
  },

  /** Milliseconds of CPU time per second, and number of writes to the store, while idle. */
  async idle({ podCount, ...options }: IdlePods): Promise<IdleCost> {
    const namespace = await newNamespace();
    await createMany(podCount, (index) =>
      client.create(pods, { ...podOf(namespace), metadata: { namespace, name: `p${index}`, labels: { app: "idle" } } }),
    );
    await realClock.sleep(3_000); // Time for the effects of the last change to settle.
    return idleCost(client, options);
  },
};
export type ControllersTasks = typeof tasks;
serve(tasks);

async function newNamespace(): Promise<string> {
  const name = `bench-${made++}`;
  await using seen = await arrivals(
    { kind: "ServiceAccount", plural: "serviceaccounts", scope: "Namespaced", storage: { group: "", version: "v1" } },
    name,
  );
  await Promise.all([seen.reached(1), client.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name } })]);
  return name;
}

/** Counts objects that are added or deleted from now on. */
async function arrivals(
  kind: ResourceKind,
  namespace: string | undefined,
  type = "ADDED",
): Promise<AsyncDisposable & { reached(count: number): Promise<void> }> {
  let seen = 0;
  let onSeen: () => void = () => {};
  const { metadata } = await client.list(kind, namespace === undefined ? {} : { namespace });
  const where = { ...(namespace === undefined ? {} : { namespace }), resourceVersion: metadata.resourceVersion ?? "" };
  const watch = await client.watch(kind, where, {
    event(event) {
      if (event.type === type) seen++;
      onSeen();
    },
    ended() {},
  });
  return {
    reached: (count) =>
      new Promise((resolve) => {
        onSeen = () => void (seen >= count && resolve());
        onSeen();
      }),
    async [Symbol.asyncDispose]() {
      watch.stop();
    },
  };
}

function podOf(namespace: string): Draft<Pod> {
  return { apiVersion: "v1", kind: "Pod", metadata: { namespace }, spec: { containers: [{ name: "web", image: "web:1" }] } };
}

function deploymentOf(namespace: string, index: number, replicas: number): Draft<Deployment> {
  const labels = { app: `web-${index}` };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { namespace, name: `web-${index}` },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: "web", image: "web:1" }] } },
    },
  };
}
