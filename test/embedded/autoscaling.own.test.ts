/** HorizontalPodAutoscalers on simulated nodes under virtual time: from the kubelets' counters to the number of Pods. */
import { deepEqual, equal, match } from "node:assert/strict";
import { test } from "node:test";
import type { Deployment } from "../../src/api/generated/apps/v1.ts";
import type { HorizontalPodAutoscaler } from "../../src/api/generated/autoscaling/v2.ts";
import type { NodeMetrics, PodMetrics } from "../../src/api/generated/metrics.k8s.io/v1beta1.ts";
import { podMetrics } from "../../src/api/metrics.k8s.io/v1beta1/pod-metrics.ts";
import { nodeMetrics } from "../../src/api/metrics.k8s.io/v1beta1/node-metrics.ts";
import type { Cluster } from "../../src/embedded/cluster.ts";
import { startCluster } from "../../src/embedded/start-cluster.ts";

/** Each Pod requests half a core and uses what `cpu` says. */
function manifests(cpu: string, behavior: string): string {
  return `
apiVersion: apps/v1
kind: Deployment
metadata: { name: web }
spec:
  replicas: 1
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web }, annotations: { simulated.k8ts.dev/cpu: "${cpu}", simulated.k8ts.dev/memory: 64Mi } }
    spec: { containers: [{ name: web, image: "web:1", resources: { requests: { cpu: 500m } } }] }
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: { name: web }
spec:
  scaleTargetRef: { apiVersion: apps/v1, kind: Deployment, name: web }
  minReplicas: 1
  maxReplicas: 8
  metrics: [{ type: Resource, resource: { name: cpu, target: { type: Utilization, averageUtilization: 50 } } }]
  ${behavior}
`;
}

async function sizeOf(cluster: Cluster): Promise<number | undefined> {
  return (await cluster.get<Deployment>("deployment/web")).spec?.replicas;
}

/** Sizes every 30 s. */
async function sizesFor(cluster: Cluster, minutes: number): Promise<readonly (number | undefined)[]> {
  const sizes = [];
  for (let half = 0; half < minutes * 2; half++) {
    await cluster.advance("30s");
    sizes.push(await sizeOf(cluster));
  }
  return sizes;
}

test("the metrics API shows the usage of simulated Pods and nodes", async () => {
  await using cluster = await startCluster({ nodes: 1, clock: "virtual" });
  await cluster.apply(manifests("250m", ""));
  await cluster.advance("1m");

  const { items } = await cluster.client.list<PodMetrics>(podMetrics, { namespace: "default", labelSelector: "app=web" });
  const [node] = (await cluster.client.list<NodeMetrics>(nodeMetrics)).items;

  deepEqual(items[0]?.containers, [{ name: "web", usage: { cpu: "250m", memory: "64Mi" } }]);
  deepEqual(node?.usage, { cpu: "300m", memory: "320Mi" });
});

test("a load that begins and ends scales up at once and down after the stabilization window", async () => {
  await using cluster = await startCluster({ nodes: 3, clock: "virtual" });
  // 20 % of the request, from the third minute on 180 %, from the eighth on idle: by the age of each Pod.
  await cluster.apply(manifests("100m,3m:900m,8m:10m", ""));
  await cluster.advance("2m");
  equal(await sizeOf(cluster), 1);

  const rising = await sizesFor(cluster, 3);
  equal(rising.at(-1)! > 1, true, `sizes ${rising.join()}`);
  const { status } = await cluster.get<HorizontalPodAutoscaler>("hpa/web");
  equal(status?.currentMetrics?.[0]?.resource?.name, "cpu");
  deepEqual(
    status?.conditions?.map(({ type, status: value }) => `${type} ${value}`),
    ["AbleToScale True", "ScalingActive True", "ScalingLimited False"],
  );

  await cluster.advance("30m");
  equal(await sizeOf(cluster), 1);
  const events = await cluster.client.list({ kind: "Event", plural: "events", scope: "Namespaced", storage: { group: "", version: "v1" } });
  match(JSON.stringify(events.items), /New size: \d; reason: cpu resource utilization \(percentage of request\) above target/);
  match(JSON.stringify(events.items), /New size: 1; reason: All metrics below target/);
});

test("behavior limits the rate: one Pod more per minute, and one less without a window", async () => {
  await using cluster = await startCluster({ nodes: 3, clock: "virtual" });
  const one = "policies: [{ type: Pods, value: 1, periodSeconds: 60 }]";
  await cluster.apply(manifests("1,5m:0", `behavior: { scaleUp: { ${one} }, scaleDown: { stabilizationWindowSeconds: 0, ${one} } }`));

  const sizes = (await sizesFor(cluster, 4)).filter((_, index) => index % 2 === 1);

  const steps = sizes.map((size, index) => (index === 0 ? 0 : (size ?? 0) - (sizes[index - 1] ?? 0)));
  equal(Math.max(...steps), 1, `sizes ${sizes.join()}`);
  equal(sizes.at(-1)! >= 3, true, `sizes ${sizes.join()}`);
});
