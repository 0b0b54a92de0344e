/** The cluster of autoscalers.ts in one process: Deployments of one simulated Pod each, whose CPU usage is exactly on target. */
import { deployments } from "../../src/api/apps/v1/deployment.ts";
import { horizontalPodAutoscalers } from "../../src/api/autoscaling/horizontal-pod-autoscaler.ts";
import { pods } from "../../src/api/core/v1/pod.ts";
import type { Client } from "../../src/client/client.ts";
import { createClient } from "../../src/client/rest-client.ts";
import type { Cluster } from "../../src/embedded/cluster.ts";
import { startCluster } from "../../src/embedded/start-cluster.ts";
import { realClock } from "../../src/host/real-clock.ts";
import { collectGarbage, serve } from "../serve.ts";

/** Concurrency that an API server accepts without rejecting requests. */
const CONCURRENCY = 100;
/** Simulated nodes, 110 Pods each. */
const KUBELETS = 5;
const POLL_MS = 50;

let cluster: Cluster;
let client: Client;

interface Targets {
  readonly targets: number;
}

interface IdleOptions {
  readonly stretches: number;
  readonly seconds: number;
}

const tasks = {
  async start({ targets }: Targets): Promise<void> {
    cluster = await startCluster({ nodes: KUBELETS });
    client = createClient(cluster.transport({ userAgent: "bench" }));
    await inBatches(targets, (name) => {
      const labels = { app: name };
      const annotations = { "simulated.k8ts.dev/cpu": "10m" };
      const containers = [{ name: "web", image: "web:1", resources: { requests: { cpu: "20m" } } }];
      const spec = { selector: { matchLabels: labels }, template: { metadata: { labels, annotations }, spec: { containers } } };
      return client.create(deployments, { apiVersion: "apps/v1", kind: "Deployment", metadata: { namespace: "default", name }, spec });
    });
    await becomes(async () => (await client.list(pods)).items.filter(({ status }) => status?.phase === "Running").length === targets);
  },

  /** Milliseconds until every new autoscaler shows the usage of its Pods. */
  async autoscale({ targets }: Targets): Promise<number> {
    collectGarbage();
    const start = performance.now();
    await inBatches(targets, (name) =>
      client.create(horizontalPodAutoscalers, {
        apiVersion: "autoscaling/v2",
        kind: "HorizontalPodAutoscaler",
        metadata: { namespace: "default", name },
        spec: {
          scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name },
          maxReplicas: 3,
          metrics: [{ type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 50 } } }],
        },
      }),
    );
    await becomes(async () => {
      const { items } = await client.list(horizontalPodAutoscalers);
      return items.every(({ status }) => (status?.currentMetrics ?? []).length > 0);
    });
    return performance.now() - start;
  },

  /** Milliseconds of CPU time per second, and number of writes to the store, without changes. */
  async idle({ stretches, seconds }: IdleOptions): Promise<{ readonly cpuMs: readonly number[]; readonly writes: number }> {
    await realClock.sleep(seconds * 1_000); // Time for the effects of the last change to settle.
    collectGarbage();
    const since = new Date().toISOString();
    const cpuMs: number[] = [];
    for (let stretch = 0; stretch < stretches; stretch++) {
      const cpu = process.cpuUsage();
      await realClock.sleep(seconds * 1_000);
      const { user, system } = process.cpuUsage(cpu);
      cpuMs.push((user + system) / 1_000 / seconds);
    }
    return { cpuMs, writes: await writesSince(since) };
  },
};
export type AutoscalerTasks = typeof tasks;
serve(tasks);

async function inBatches(count: number, create: (name: string) => Promise<unknown>): Promise<void> {
  for (let index = 0; index < count; index += CONCURRENCY) {
    const names = Array.from({ length: Math.min(CONCURRENCY, count - index) }, (_, offset) => `web-${index + offset}`);
    await Promise.all(names.map(create));
  }
}

async function becomes(is: () => Promise<boolean>): Promise<void> {
  while (!(await is())) await realClock.sleep(POLL_MS);
}

/** Excludes leases and events, which are written periodically: the server's own record omits them. */
async function writesSince(since: string): Promise<number> {
  const { items } = (await client.document("/debug/k8ts/causes")) as { readonly items: readonly { readonly time: string }[] };
  return items.filter(({ time }) => time > since).length;
}
