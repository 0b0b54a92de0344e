/** The cluster of storage.ts in one process: simulated nodes, whose class `standard` provisions volumes without files. */
import { daemonSets } from "../../src/api/apps/v1/daemon-set.ts";
import { persistentVolumeClaims } from "../../src/api/core/v1/persistent-volume-claim.ts";
import { pods } from "../../src/api/core/v1/pod.ts";
import type { DaemonSet } from "../../src/api/generated/apps/v1.ts";
import type { PersistentVolumeClaim, Pod, Volume } from "../../src/api/generated/core/v1.ts";
import type { Client } from "../../src/client/client.ts";
import { createClient } from "../../src/client/rest-client.ts";
import type { Cluster } from "../../src/embedded/cluster.ts";
import { startCluster } from "../../src/embedded/start-cluster.ts";
import { collectGarbage, serve } from "../serve.ts";
import { timed } from "../measures.ts";

const WITHIN = { within: "15m" };
const CLAIM_SPEC = {
  storageClassName: "standard",
  accessModes: ["ReadWriteOnce" as const],
  resources: { requests: { storage: "1Gi" } },
};
const CONTAINERS = [{ name: "web", image: "web:1" }];

let cluster: Cluster;
let client: Client;
let made = 0;

/** Milliseconds of each sample. */
interface ClaimTimes {
  /** A Pod without volumes, until it runs. */
  readonly plain: readonly number[];
  /** From the creation of a claim and its Pod until the claim is bound, and until the Pod runs. */
  readonly bound: readonly number[];
  readonly running: readonly number[];
}

const tasks = {
  async start({ nodes }: { readonly nodes: number }): Promise<void> {
    cluster = await startCluster({ nodes });
    client = createClient(cluster.transport({ userAgent: "bench" }));
  },

  async claims({ count }: { readonly count: number }): Promise<ClaimTimes> {
    const times = { plain: [] as number[], bound: [] as number[], running: [] as number[] };
    collectGarbage();
    for (let index = 0; index < count; index++) {
      times.plain.push(await plainPod());
      const { bound, running } = await podWithClaim();
      times.bound.push(bound);
      times.running.push(running);
    }
    return times;
  },

  /** Milliseconds until all Pods of a new DaemonSet are ready. It is deleted with its claims. */
  async daemonSet({ count, hasClaims }: { readonly count: number; readonly hasClaims: boolean }): Promise<number> {
    const name = `agent-${made++}`;
    const labels = { app: name };
    const volumes: readonly Volume[] = [{ name: "data", ephemeral: { volumeClaimTemplate: { spec: CLAIM_SPEC } } }];
    const pod = { containers: CONTAINERS, terminationGracePeriodSeconds: 0, ...(hasClaims ? { volumes } : {}) };
    const spec = { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: pod } };
    const took = await timed(async () => {
      await client.create(daemonSets, { apiVersion: "apps/v1", kind: "DaemonSet", metadata: { namespace: "default", name }, spec });
      await cluster.until<DaemonSet>(`daemonsets/${name}`, (set) => set?.status?.numberReady === count, WITHIN);
    });
    await client.delete(daemonSets, { namespace: "default", name }, { propagationPolicy: "Foreground" });
    await cluster.until<DaemonSet>(`daemonsets/${name}`, (set) => set === undefined, WITHIN);
    return took;
  },
};
export type StorageTasks = typeof tasks;
serve(tasks);

async function plainPod(): Promise<number> {
  const name = `plain-${made++}`;
  const beganAtMs = performance.now();
  await createPod(name);
  return await untilRunning(name, beganAtMs);
}

async function podWithClaim(): Promise<{ readonly bound: number; readonly running: number }> {
  const name = `claimed-${made++}`;
  const beganAtMs = performance.now();
  await client.create(persistentVolumeClaims, {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { namespace: "default", name },
    spec: CLAIM_SPEC,
  });
  await createPod(name, [{ name: "data", persistentVolumeClaim: { claimName: name } }]);
  const bound = cluster
    .until<PersistentVolumeClaim>(`persistentvolumeclaims/${name}`, (claim) => claim?.status?.phase === "Bound", WITHIN)
    .then(() => performance.now() - beganAtMs);
  const running = await untilRunning(name, beganAtMs);
  return { bound: await bound, running };
}

async function createPod(name: string, volumes?: readonly Volume[]): Promise<void> {
  const spec = { containers: CONTAINERS, ...(volumes && { volumes }) };
  await client.create(pods, { apiVersion: "v1", kind: "Pod", metadata: { namespace: "default", name }, spec });
}

/** The Pod is deleted afterwards, without waiting, so that the nodes do not fill up. */
async function untilRunning(name: string, beganAtMs: number): Promise<number> {
  await cluster.until<Pod>(`pods/${name}`, (pod) => pod?.status?.phase === "Running", WITHIN);
  const took = performance.now() - beganAtMs;
  await client.delete(pods, { namespace: "default", name }, { gracePeriodSeconds: 0 });
  return took;
}
