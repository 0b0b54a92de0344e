/** The clusters of cluster.ts, in their own process: each task starts some as a test does, and returns the cost. */
import { nodes } from "../../src/api/core/v1/node.ts";
import { pods } from "../../src/api/core/v1/pod.ts";
import { realClock } from "../../src/host/real-clock.ts";
import type { Cluster } from "../../src/embedded/cluster.ts";
import { startCluster } from "../../src/embedded/start-cluster.ts";
import { createMany, idleCpuMs, type IdleOptions } from "../measures.ts";
import { collectGarbage, serve } from "../serve.ts";
import { isReady, isRunning, seen } from "./seen.ts";

/** Time for the effects of the last change to settle. */
const REST_MS = 5_000;

export interface Memory {
  readonly heapBytes: number;
  readonly residentBytes: number;
  /** Active handles (timers, sockets) that keep the process alive. */
  readonly handles: number;
}

let large: Cluster | undefined;

const tasks = {
  /** Milliseconds per start of `count` clusters, one after the other, each closed before the next. */
  async starts({ count }: { readonly count: number }): Promise<readonly number[]> {
    const tookMs: number[] = [];
    for (let index = 0; index < count; index++) {
      const beganAtMs = performance.now();
      const cluster = await startCluster();
      tookMs.push(performance.now() - beganAtMs);
      await cluster.close();
    }
    return tookMs;
  },

  /** Resources that the process holds after every `step` starts and stops. */
  async cycles({ count, stretches }: { readonly count: number; readonly stretches: number }): Promise<readonly Memory[]> {
    const held: Memory[] = [];
    for (let stretch = 0; stretch < stretches; stretch++) {
      await tasks.starts({ count });
      held.push(await memory());
    }
    return held;
  },

  /** Bytes per cluster of `count` concurrent ones. */
  async live({ count }: { readonly count: number }): Promise<Omit<Memory, "handles">> {
    await tasks.starts({ count: 1 });
    const before = await memory();
    const clusters: Cluster[] = [];
    for (let index = 0; index < count; index++) clusters.push(await startCluster());
    const after = await memory();
    for (const cluster of clusters) await cluster.close();
    return {
      heapBytes: (after.heapBytes - before.heapBytes) / count,
      residentBytes: (after.residentBytes - before.residentBytes) / count,
    };
  },

  /** Milliseconds until `count` simulated nodes are Ready. The cluster is kept for the tasks below. */
  async readyNodes({ count }: { readonly count: number }): Promise<number> {
    await large?.close();
    collectGarbage();
    const beganAtMs = performance.now();
    large = await startCluster({ nodes: count, api: { freezeObjects: false } });
    await seen(large.client, nodes, count, isReady);
    return performance.now() - beganAtMs;
  },

  /** Milliseconds from the creation of the first of `count` Pods until the last one is Running. */
  async runningPods({ count }: { readonly count: number }): Promise<number> {
    const { client } = largeOne();
    collectGarbage();
    const beganAtMs = performance.now();
    const running = seen(client, pods, count, isRunning);
    await createMany(count, (index) => client.create(pods, podOf(index)));
    await running;
    return performance.now() - beganAtMs;
  },

  /** Milliseconds of CPU time per second while idle. */
  async idle(options: IdleOptions): Promise<readonly number[]> {
    largeOne();
    await realClock.sleep(REST_MS);
    return idleCpuMs(options);
  },
};
export type ClusterTasks = typeof tasks;
serve(tasks);

function largeOne(): Cluster {
  if (large === undefined) throw new Error("The task readyNodes must run first");
  return large;
}

/** Memory after pending callbacks have run and garbage is collected. */
async function memory(): Promise<Memory> {
  await new Promise((resolve) => setImmediate(resolve));
  collectGarbage();
  // "external" has no shared memory, in which stored bytes are.
  const { heapUsed, arrayBuffers, rss } = process.memoryUsage();
  return { heapBytes: heapUsed + arrayBuffers, residentBytes: rss, handles: process.getActiveResourcesInfo().length };
}

function podOf(index: number) {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { namespace: "default", name: `pod-${index}`, labels: { app: "bench" } },
    spec: { containers: [{ name: "web", image: "web:1", resources: { requests: { cpu: "100m", memory: "100Mi" } } }] },
  } as const;
}
