/** The autoscaler with the built-in source of custom and external metrics: from the pages of annotated Pods to the number of replicas. */
import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { deployments } from "../../api/apps/v1/deployment.ts";
import { horizontalPodAutoscalers } from "../../api/autoscaling/horizontal-pod-autoscaler.ts";
import type { MetricSpec } from "../../api/generated/autoscaling/v2.ts";
import { buildPod } from "../../api/testing/pod.ts";
import { givenWith } from "../../testing/given.ts";
import { horizontalPodAutoscalerController } from "./horizontal-pod-autoscaler-controller.ts";

const KEY = { namespace: "default", name: "web" };
const LABELS = { app: "web" };
const PAGE = '# TYPE requests_in_flight gauge\nrequests_in_flight 20\n# TYPE jobs_waiting gauge\njobs_waiting{queue="mail"} 30\n';

/** Two Pods with the same page. */
function objects(metric: object): readonly object[] {
  const aPod = (name: string): object =>
    buildPod({
      metadata: {
        name,
        namespace: "default",
        labels: LABELS,
        annotations: { "prometheus.io/scrape": "true", "prometheus.io/port": "9090" },
      },
      spec: { nodeName: "n", containers: [{ name: "c", image: "i" }] },
      status: { phase: "Running", podIP: "10.244.0.7", podIPs: [{ ip: "10.244.0.7" }], conditions: [{ type: "Ready", status: "True" }] },
    });
  const template = { metadata: { labels: LABELS }, spec: { containers: [{ name: "c", image: "i" }] } };
  const metadata = { name: "web", namespace: "default" };
  const scaleTargetRef = { apiVersion: "apps/v1", kind: "Deployment", name: "web" };
  return [
    {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata,
      spec: { replicas: 2, selector: { matchLabels: LABELS }, template },
      status: { replicas: 2 },
    },
    { apiVersion: "v1", kind: "Service", metadata, spec: { selector: LABELS, ports: [{ port: 80 }] } },
    {
      apiVersion: "autoscaling/v2",
      kind: "HorizontalPodAutoscaler",
      metadata,
      spec: { scaleTargetRef, maxReplicas: 9, metrics: [metric] },
    },
    aPod("web-1"),
    aPod("web-2"),
  ];
}

const connector = { connect: () => Promise.resolve({ code: 200, headers: {}, body: [new TextEncoder().encode(PAGE)] }) };
const describedObject = { apiVersion: "v1", kind: "Service", name: "web" };

const ROWS: readonly [title: string, metric: MetricSpec, replicas: number, current: string | undefined][] = [
  [
    "a Pods metric averages 20 of a target of 10",
    { type: "Pods", pods: { metric: { name: "requests_in_flight" }, target: { type: "AverageValue", averageValue: "10" } } },
    4,
    "20",
  ],
  [
    "an Object metric of the Service is the sum of its Pods",
    {
      type: "Object",
      object: { describedObject, metric: { name: "requests_in_flight" }, target: { type: "AverageValue", averageValue: "14" } },
    },
    3,
    "20",
  ],
  [
    "an External metric is the sum of the selected series",
    {
      type: "External",
      external: {
        metric: { name: "jobs_waiting", selector: { matchLabels: { queue: "mail" } } },
        target: { type: "AverageValue", averageValue: "20" },
      },
    },
    3,
    "30",
  ],
];

for (const [title, metric, replicas, current] of ROWS) {
  test(`autoscaling by scraped metrics: ${title}`, async () => {
    await using cluster = await givenWith({ config: { podMetricsApis: true }, connector }, ...objects(metric));

    await cluster.reconcile(horizontalPodAutoscalerController(), "default/web");

    const { status } = await cluster.client.get(horizontalPodAutoscalers, KEY);
    const [shown] = status?.currentMetrics ?? [];
    const value = shown?.pods?.current ?? shown?.object?.current ?? shown?.external?.current;
    deepEqual([(await cluster.client.get(deployments, KEY)).spec?.replicas, value?.averageValue], [replicas, current]);
  });
}
