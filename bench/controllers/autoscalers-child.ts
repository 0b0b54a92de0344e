/** The cluster of autoscalers.ts in one process: Deployments of one simulated Pod each, whose CPU usage is exactly on target. */
import { deployments } from "../../src/api/apps/v1/deployment.ts";
import { horizontalPodAutoscalers } from "../../src/api/autoscaling/horizontal-pod-autoscaler.ts";
import { pods } from "../../src/api/core/v1/pod.ts";
import type { Client } from "../../src/client/client.ts";
import { createClient } from "../../src/client/rest-client.ts";
import type { Cluster } from "../../src/embedded/cluster.ts";
import { startCluster } from "../../src/embedded/start-cluster.ts";
import { realClock } from "../../src/host/real-clock.ts";
import { createMany, idleCost, timed, type IdleCost, type IdleOptions } from "../measures.ts";
import { serve } from "../serve.ts";

/** Simulated nodes, 110 Pods each. */
const KUBELETS = 5;
const POLL_MS = 50;

let cluster: Cluster;
let client: Client;

interface Targets {
  readonly targets: number;
}

const tasks = {
  async start({ targets }: Targets): Promise<void> {
    cluster = await startCluster({ nodes: KUBELETS });
    client = createClient(cluster.transport({ userAgent: "bench" }));
    await createMany(targets, (index) => {
      const name = `web-${index}`;
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
    return timed(async () => {
      await createMany(targets, (index) => client.create(horizontalPodAutoscalers, anAutoscaler(`web-${index}`)));
      await becomes(async () => {
        const { items } = await client.list(horizontalPodAutoscalers);
        return items.every(({ status }) => (status?.currentMetrics ?? []).length > 0);
      });
    });
  },

  /** Milliseconds of CPU time per second, and number of writes to the store, without changes. */
  async idle(options: IdleOptions): Promise<IdleCost> {
    await realClock.sleep(options.seconds * 1_000); // Time for the effects of the last change to settle.
    return idleCost(client, options);
  },
};
export type AutoscalerTasks = typeof tasks;
serve(tasks);

function anAutoscaler(name: string) {
  return {
    apiVersion: "autoscaling/v2",
    kind: "HorizontalPodAutoscaler",
    metadata: { namespace: "default", name },
    spec: {
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name },
      maxReplicas: 3,
      metrics: [{ type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 50 } } }],
    },
  } as const;
}

async function becomes(is: () => Promise<boolean>): Promise<void> {
  while (!(await is())) await realClock.sleep(POLL_MS);
}
