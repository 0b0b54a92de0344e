/** The cluster of limits.ts, in its own process: thousands of simulated nodes full of Pods, served over HTTPS, and its cost. */
import { readFile } from "node:fs/promises";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { namespaces } from "../../src/api/core/v1/namespace.ts";
import { nodes } from "../../src/api/core/v1/node.ts";
import { pods } from "../../src/api/core/v1/pod.ts";
import type { Pod } from "../../src/api/generated/core/v1.ts";
import { isReason } from "../../src/api/machinery/status-error.ts";
import { realClock } from "../../src/host/real-clock.ts";
import type { Cluster } from "../../src/embedded/cluster.ts";
import { startCluster } from "../../src/embedded/start-cluster.ts";
import { createMany } from "../measures.ts";
import { collectGarbage, serve } from "../serve.ts";
import { podOf } from "./limits-objects.ts";
import { isReady, isRunning, seen } from "./seen.ts";

/** Pods that are created and not yet Running: more would only wait in queues. */
const AHEAD_MAX = 5_000;

/** Controllers create the ServiceAccount of a namespace after it. */
const ACCOUNT_RETRY_MS = 10;

export interface Cost {
  readonly residentBytes: number;
  readonly heapBytes: number;
  /** Of one core. */
  readonly cpuPercent: number;
  /** Longest time in which the event loop did nothing else. */
  readonly longestHoldMs: number;
}

export interface FillCost {
  readonly tookMs: number;
  readonly cpuMs: number;
}

let cluster: Cluster | undefined;

const tasks = {
  /** Milliseconds until all nodes are Ready. */
  async start({ nodes: count }: { readonly nodes: number }): Promise<{ readonly readyMs: number; readonly kubeconfig: string }> {
    const beganAtMs = performance.now();
    cluster = await startCluster({ nodes: count, listen: true, api: { freezeObjects: false } });
    await seen(cluster.client, nodes, count, isReady);
    const readyMs = performance.now() - beganAtMs;
    return { readyMs, kubeconfig: await readFile(cluster.kubeconfig, "utf8") };
  },

  /** Until all Pods are Running. */
  async fill({ count, namespaceCount }: { readonly count: number; readonly namespaceCount: number }): Promise<FillCost> {
    const { client } = running();
    for (let index = 0; index < namespaceCount; index++) {
      const name = `ns-${index}`;
      await client.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name } });
    }
    const [beganAtMs, cpu] = [performance.now(), process.cpuUsage()];
    for (let from = 0; from < count; from += AHEAD_MAX) {
      const until = Math.min(count, from + AHEAD_MAX);
      await createMany(until - from, (offset) => createPod(from + offset, namespaceCount));
      await seen(client, pods, until, isRunning);
    }
    const { user, system } = process.cpuUsage(cpu);
    return { tookMs: performance.now() - beganAtMs, cpuMs: (user + system) / 1_000 };
  },

  /** Resources used until `stopMeasuring`. */
  async startMeasuring(): Promise<void> {
    collectGarbage();
    holds.enable();
    holds.reset();
    measuring = { atMs: performance.now(), cpu: process.cpuUsage() };
  },

  async stopMeasuring(): Promise<Cost> {
    const { user, system } = process.cpuUsage(measuring.cpu);
    const percent = ((user + system) / 1_000 / (performance.now() - measuring.atMs)) * 100;
    holds.disable();
    // "external" has no shared memory, in which stored bytes are.
    const { heapUsed, arrayBuffers, rss } = process.memoryUsage();
    return { residentBytes: rss, heapBytes: heapUsed + arrayBuffers, cpuPercent: percent, longestHoldMs: holds.max / 1e6 };
  },

  /** Milliseconds until a fork is there, and until a Pod runs on it. */
  async fork(): Promise<{ readonly forkMs: number; readonly runningMs: number }> {
    const beganAtMs = performance.now();
    const forked = await running().fork({ listen: false });
    const forkMs = performance.now() - beganAtMs;
    await forked.client.create(pods, podOf(0, "default", "in-fork"));
    await forked.until<Pod>("pods/in-fork", (pod) => pod !== undefined && isRunning(pod), { within: "5m" });
    const runningMs = performance.now() - beganAtMs;
    await forked.close();
    return { forkMs, runningMs };
  },
};
export type LimitsTasks = typeof tasks;
serve(tasks);

const HOLD_RESOLUTION_MS = 10;
const holds = monitorEventLoopDelay({ resolution: HOLD_RESOLUTION_MS });
let measuring = { atMs: 0, cpu: process.cpuUsage() };

function running(): Cluster {
  if (cluster === undefined) throw new Error("The task start must run first");
  return cluster;
}

async function createPod(index: number, namespaceCount: number): Promise<void> {
  const pod = podOf(index, `ns-${index % namespaceCount}`, `pod-${index}`);
  for (;;) {
    try {
      return void (await running().client.create(pods, pod));
    } catch (error) {
      // The ServiceAccount of the namespace does not exist yet.
      if (!isReason(error, "Forbidden")) throw error;
      await realClock.sleep(ACCOUNT_RETRY_MS);
    }
  }
}
