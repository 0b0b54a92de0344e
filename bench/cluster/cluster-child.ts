/** The clusters of cluster.ts, in a process of their own: each task starts some as a test does, and tells what that took. */
import { nodes } from "../../src/api/core/v1/node.ts";
import { pods } from "../../src/api/core/v1/pod.ts";
import type { Node, Pod } from "../../src/api/generated/core/v1.ts";
import type { KubeObject } from "../../src/api/machinery/object.ts";
import type { Client, ResourceKind } from "../../src/client/client.ts";
import { realClock } from "../../src/host/real-clock.ts";
import { startCluster, type Cluster } from "../../src/embedded/cluster.ts";
import { collectGarbage, serve } from "../serve.ts";

/** As many requests at once as an API server takes without refusing any. */
const AT_ONCE = 100;

/** Until what the last change has woken has come to rest. */
const REST_MS = 5_000;

export interface Memory {
  readonly heapBytes: number;
  readonly residentBytes: number;
  /** Timers, sockets and the like that keep the process alive. */
  readonly handles: number;
}

let large: Cluster | undefined;

const tasks = {
  /** Milliseconds of each of so many starts, one after the other, each closed before the next. */
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

  /** What the process holds after so many starts and ends, each time that so many more have passed. */
  async cycles({ count, stretches }: { readonly count: number; readonly stretches: number }): Promise<readonly Memory[]> {
    const held: Memory[] = [];
    for (let stretch = 0; stretch < stretches; stretch++) {
      await tasks.starts({ count });
      held.push(await memory());
    }
    return held;
  },

  /** Bytes per cluster of so many that live at the same time. */
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

  /** Milliseconds from nothing to so many simulated nodes that are ready. The cluster is kept for the tasks below. */
  async readyNodes({ count }: { readonly count: number }): Promise<number> {
    await large?.close();
    collectGarbage();
    const beganAtMs = performance.now();
    large = await startCluster({ nodes: count, api: { freezeObjects: false } });
    await seen(large.client, nodes, count, isReady);
    return performance.now() - beganAtMs;
  },

  /** Milliseconds from the first of so many Pods that are created to the last that runs. */
  async runningPods({ count }: { readonly count: number }): Promise<number> {
    const { client } = largeOne();
    collectGarbage();
    const beganAtMs = performance.now();
    const running = seen(client, pods, count, isRunning);
    for (let index = 0; index < count; index += AT_ONCE) {
      await Promise.all(
        Array.from({ length: Math.min(AT_ONCE, count - index) }, (_, offset) => client.create(pods, podOf(index + offset))),
      );
    }
    await running;
    return performance.now() - beganAtMs;
  },

  /** Milliseconds of processor time per second while nothing changes. */
  async idle({ seconds, stretches }: { readonly seconds: number; readonly stretches: number }): Promise<readonly number[]> {
    largeOne();
    await realClock.sleep(REST_MS);
    collectGarbage();
    const cpuMs: number[] = [];
    for (let stretch = 0; stretch < stretches; stretch++) {
      const cpu = process.cpuUsage();
      await realClock.sleep(seconds * 1_000);
      const { user, system } = process.cpuUsage(cpu);
      cpuMs.push((user + system) / 1_000 / seconds);
    }
    return cpuMs;
  },
};
export type ClusterTasks = typeof tasks;
serve(tasks);

function largeOne(): Cluster {
  if (large === undefined) throw new Error("The task readyNodes comes first");
  return large;
}

/** What is left when all that is over has had its turn. */
async function memory(): Promise<Memory> {
  await new Promise((resolve) => setImmediate(resolve));
  collectGarbage();
  const { heapUsed, external, rss } = process.memoryUsage();
  return { heapBytes: heapUsed + external, residentBytes: rss, handles: process.getActiveResourcesInfo().length };
}

/** Resolves when there are so many objects of which it is true. */
async function seen<T extends KubeObject>(
  client: Client,
  kind: ResourceKind<T>,
  count: number,
  isSo: (object: T) => boolean,
): Promise<void> {
  const found = new Set<string>();
  const { items, metadata } = await client.list(kind);
  for (const item of items) if (isSo(item)) found.add(item.metadata.uid ?? "");
  if (found.size >= count) return;
  await new Promise<void>((resolve, reject) => {
    const watching = client.watch(
      kind,
      { resourceVersion: metadata.resourceVersion ?? "" },
      {
        event(event) {
          if ((event.type !== "ADDED" && event.type !== "MODIFIED") || !isSo(event.object)) return;
          found.add(event.object.metadata.uid ?? "");
          if (found.size < count) return;
          resolve();
          void watching.then((watch) => watch.stop());
        },
        ended: () => reject(new Error(`The watch of ${kind.plural} ended when ${found.size} of ${count} were there`)),
      },
    );
    watching.catch(reject);
  });
}

function isReady({ spec, status }: Node): boolean {
  return (
    (spec?.taints ?? []).length === 0 && status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True") === true
  );
}

function isRunning({ status }: Pod): boolean {
  return status?.phase === "Running";
}

function podOf(index: number) {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { namespace: "default", name: `pod-${index}`, labels: { app: "bench" } },
    spec: { containers: [{ name: "web", image: "web:1", resources: { requests: { cpu: "100m", memory: "100Mi" } } }] },
  } as const;
}
