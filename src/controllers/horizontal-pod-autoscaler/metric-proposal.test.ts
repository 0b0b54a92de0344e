import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import type { HorizontalPodAutoscaler, MetricSpec } from "../../api/generated/autoscaling/v2.ts";
import { buildPod } from "../../api/testing/pod.ts";
import { stub } from "../../base/testing/stub.ts";
import type { Client, ListOptions, ObjectKey, ReadOptions, ResourceKind } from "../../client/client.ts";
import { proposalOf, type MetricContext } from "./metric-proposal.ts";
import { ScaleTargets } from "./scale-target.ts";
import { DEFAULT_SETTINGS } from "./settings.ts";

const NOW_MS = Date.UTC(2026, 0, 1);
const TIMESTAMP = "2026-01-01T00:00:00Z";

/** An adapter in which every metric of a Pod is 30, of an object 50, and of everything else 7 and 8. */
function adapter(requests: string[]): Client {
  return stub<Client>({
    get({ plural, storage }: ResourceKind, { namespace, name }: ObjectKey, options: ReadOptions = {}) {
      const { subresource, labelSelector = "", metricLabelSelector = "" } = options;
      requests.push(
        `${storage.group}/${storage.version} ${namespace} ${plural} ${name} ${subresource} ${labelSelector} ${metricLabelSelector}`,
      );
      const names = name === "*" ? ["a", "b"] : [name];
      const value = name === "*" ? "30" : "50";
      return Promise.resolve({ items: names.map((one) => ({ describedObject: { name: one }, timestamp: TIMESTAMP, value })) });
    },
    list({ plural, storage }: ResourceKind, { namespace, labelSelector = "" }: ListOptions = {}) {
      requests.push(`${storage.group}/${storage.version} ${namespace} ${plural} ${labelSelector}`);
      return Promise.resolve({ items: [{ value: "7" }, { value: "8" }] });
    },
    document(path: string) {
      const resources = [{ name: "services", kind: "Service", namespaced: true, verbs: [] }];
      return Promise.resolve(path === "/api/v1" ? { resources } : {});
    },
  });
}

function contextOf(client: Client): MetricContext {
  const pods = ["a", "b"].map((name) =>
    buildPod({
      metadata: { name, namespace: "shop" },
      status: { phase: "Running", conditions: [{ type: "Ready", status: "True", lastTransitionTime: TIMESTAMP }] },
    }),
  );
  const autoscaler = stub<HorizontalPodAutoscaler>({
    metadata: { name: "web", namespace: "shop" },
    spec: { scaleTargetRef: { kind: "Deployment", name: "web" }, maxReplicas: 10 },
  });
  const replicas = { specReplicas: 2, statusReplicas: 2 };
  return {
    client,
    targets: new ScaleTargets(),
    autoscaler,
    ...replicas,
    selector: "app=web",
    pods,
    settings: DEFAULT_SETTINGS,
    nowMs: NOW_MS,
  };
}

const SERVICE = { apiVersion: "v1", kind: "Service", name: "front" };

const rows: readonly [metric: MetricSpec, request: string, replicas: number, name: string, current: object][] = [
  [
    {
      type: "Pods",
      pods: { metric: { name: "rate", selector: { matchLabels: { verb: "GET" } } }, target: { type: "AverageValue", averageValue: "10" } },
    },
    "custom.metrics.k8s.io/v1beta2 shop pods * rate app=web verb=GET",
    6,
    "pods metric rate",
    { averageValue: "30" },
  ],
  [
    { type: "Object", object: { describedObject: SERVICE, metric: { name: "rate" }, target: { type: "Value", value: "25" } } },
    "custom.metrics.k8s.io/v1beta2 shop services front rate  ",
    4,
    "Service metric rate",
    { value: "50" },
  ],
  [
    {
      type: "Object",
      object: { describedObject: SERVICE, metric: { name: "rate" }, target: { type: "AverageValue", averageValue: "10" } },
    },
    "custom.metrics.k8s.io/v1beta2 shop services front rate  ",
    5,
    "external metric rate(nil)",
    { averageValue: "25" },
  ],
  [
    {
      type: "External",
      external: { metric: { name: "queue", selector: { matchLabels: { topic: "a" } } }, target: { type: "Value", value: "5" } },
    },
    "external.metrics.k8s.io/v1beta1 shop queue topic=a",
    6,
    "external metric queue(&LabelSelector{MatchLabels:map[string]string{topic: a,},MatchExpressions:[]LabelSelectorRequirement{},})",
    { value: "15" },
  ],
  [
    { type: "External", external: { metric: { name: "queue" }, target: { type: "AverageValue", averageValue: "5" } } },
    "external.metrics.k8s.io/v1beta1 shop queue ",
    3,
    "external metric queue(nil)",
    { averageValue: "7500m" },
  ],
];
for (const [metric, request, replicas, name, current] of rows) {
  test(`a ${metric.type} metric of an adapter is read and proposes ${replicas} replicas`, async () => {
    const requests: string[] = [];

    const result = await proposalOf(metric, contextOf(adapter(requests)));

    const { status, ...proposal } = result.is === "proposed" ? result.proposal : { status: undefined, ...result };
    deepEqual(requests, [request]);
    deepEqual(proposal, { replicas, name });
    deepEqual((status?.pods ?? status?.object ?? status?.external)?.current, current);
  });
}
