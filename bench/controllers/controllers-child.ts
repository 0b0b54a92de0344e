/** The cluster of controllers.ts, all in one process: each task makes something and resolves with how long it took until all was done. */
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
import { startCluster, type Cluster } from "../../src/embedded/cluster.ts";
import { collectGarbage, serve } from "../serve.ts";

/** As many requests at once as an API server takes without refusing any. */
const AT_ONCE = 100;

let cluster: Cluster;
let client: Client;
let made = 0;
let idleSince = "";

interface IdleOptions {
  readonly podCount: number;
  /** Several: that the collector of garbage comes once after so many objects were made is not what is asked for. */
  readonly stretches: number;
  readonly seconds: number;
}

const tasks = {
  async start(_input: null): Promise<void> {
    cluster = await startCluster();
    client = createClient(cluster.transport({ userAgent: "bench" }));
  },

  /** As the ReplicaSet controller would make them, without one. */
  async bare({ count }: { readonly count: number }): Promise<number> {
    const namespace = await newNamespace();
    return timed(() =>
      makeMany(count, (index) => client.create(pods, { ...podOf(namespace), metadata: { namespace, name: `p${index}` } })),
    );
  },

  async deployments({ count, replicas }: { readonly count: number; readonly replicas: number }): Promise<number> {
    const namespace = await newNamespace();
    await using seen = await arrivals(pods, namespace);
    return await timed(async () => {
      await Promise.all([
        seen.reached(count * replicas),
        makeMany(count, (index) => client.create(deployments, deploymentOf(namespace, index, replicas))),
      ]);
    });
  },

  async garbage({ dependents }: { readonly dependents: number }): Promise<number> {
    const namespace = await newNamespace();
    const owner = await client.create(configMaps, { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace, name: "owner" } });
    const reference = { apiVersion: "v1", kind: "ConfigMap", name: "owner", uid: owner.metadata.uid ?? "" };
    await makeMany(dependents, (index) =>
      client.create(secrets, {
        apiVersion: "v1",
        kind: "Secret",
        metadata: { namespace, name: `s${index}`, ownerReferences: [reference] },
      }),
    );
    await using gone = await arrivals(secrets, namespace, "DELETED");
    collectGarbage();
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
    await makeMany(objects, (index) => {
      const [kind, name] = kinds[index % kinds.length] as (typeof kinds)[number];
      return client.create(kind, { apiVersion: "v1", kind: name, metadata: { namespace, name: `o${index}` } });
    });
    await using gone = await arrivals(namespaces, undefined, "DELETED");
    collectGarbage();
    return await timed(async () => {
      await Promise.all([gone.reached(1), client.delete(namespaces, { name: namespace })]);
    });
  },

  /** Milliseconds of processor time per second, and how often the store was written, while nothing changes. */
  async idle({ podCount, stretches, seconds }: IdleOptions): Promise<{ readonly cpuMs: readonly number[]; readonly writes: number }> {
    const namespace = await newNamespace();
    await makeMany(podCount, (index) =>
      client.create(pods, { ...podOf(namespace), metadata: { namespace, name: `p${index}`, labels: { app: "idle" } } }),
    );
    await realClock.sleep(3_000); // Until what the last change has woken has come to rest.
    collectGarbage();
    idleSince = new Date().toISOString();
    const cpuMs: number[] = [];
    for (let stretch = 0; stretch < stretches; stretch++) {
      const cpu = process.cpuUsage();
      await realClock.sleep(seconds * 1_000);
      const { user, system } = process.cpuUsage(cpu);
      cpuMs.push((user + system) / 1_000 / seconds);
    }
    return { cpuMs, writes: await writesSoFar() };
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

async function timed(work: () => Promise<unknown>): Promise<number> {
  collectGarbage();
  const start = performance.now();
  await work();
  return performance.now() - start;
}

async function makeMany(count: number, makeOne: (index: number) => Promise<unknown>): Promise<void> {
  for (let index = 0; index < count; index += AT_ONCE) {
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, count - index) }, (_, offset) => makeOne(index + offset)));
  }
}

/** Without leases and events, which are written by the clock: the server's own record leaves them out. */
async function writesSoFar(): Promise<number> {
  const { items } = (await client.document("/debug/k8ts/causes")) as { readonly items: readonly { readonly time: string }[] };
  return items.filter(({ time }) => time > idleSince).length;
}

/** Counts what comes or goes from now on. */
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
