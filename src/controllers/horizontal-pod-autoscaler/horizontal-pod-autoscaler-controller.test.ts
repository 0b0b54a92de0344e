import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { deployments } from "../../api/apps/v1/deployment.ts";
import { horizontalPodAutoscalers } from "../../api/autoscaling/horizontal-pod-autoscaler.ts";
import type { MetricSpec } from "../../api/generated/autoscaling/v2.ts";
import type { JsonObject } from "../../api/machinery/object.ts";
import { buildPod } from "../../api/testing/pod.ts";
import type { Clock } from "../../base/clock.ts";
import { MetricSet } from "../../base/metrics/metric-set.ts";
import { stub } from "../../base/testing/stub.ts";
import { everyStepMayBeTheLast } from "../../testing/every-step.ts";
import { given, type Given } from "../../testing/given.ts";
import { rounds } from "../../testing/rounds.ts";
import type { Pass } from "../runtime/controller.ts";
import { recordComputation, recordReconciliation } from "./autoscaler-metrics.ts";
import { horizontalPodAutoscalerController } from "./horizontal-pod-autoscaler-controller.ts";

const LABELS = { app: "web" };
const KEY = { namespace: "default", name: "web" };

function aDeployment(replicas: number, name = "web"): object {
  const template = { metadata: { labels: LABELS }, spec: { containers: [{ name: "c", image: "i" }] } };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name, namespace: "default" },
    spec: { replicas, selector: { matchLabels: LABELS }, template },
    status: { replicas },
  };
}

function anAutoscaler(spec: JsonObject = {}, name = "web"): object {
  return {
    apiVersion: "autoscaling/v2",
    kind: "HorizontalPodAutoscaler",
    metadata: { name, namespace: "default" },
    spec: { scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" }, minReplicas: 2, maxReplicas: 5, ...spec },
  };
}

function aPod(name: string): object {
  const spec = { nodeName: "n", containers: [{ name: "c", image: "i" }] };
  return buildPod({ metadata: { name, namespace: "default", labels: LABELS }, spec, status: { phase: "Running" } });
}

async function conditionsOf({ client }: Given, name = "web"): Promise<readonly string[]> {
  const { status } = await client.get(horizontalPodAutoscalers, { namespace: "default", name });
  return (status?.conditions ?? []).map(({ type, status: value, reason }) => `${type} ${value} ${reason}`);
}

async function sizeOf({ client }: Given): Promise<number | undefined> {
  return (await client.get(deployments, KEY)).spec?.replicas;
}

test("a target out of bounds is scaled at once, with an event and a condition", async () => {
  await using cluster = await given(aDeployment(9), anAutoscaler());
  const controller = horizontalPodAutoscalerController();

  const outcome = await cluster.reconcile(controller, "default/web");

  deepEqual(outcome, { again: "after", delayMs: 15_000 });
  equal(await sizeOf(cluster), 5);
  deepEqual(await conditionsOf(cluster), ["AbleToScale True SucceededRescale"]);
  deepEqual(cluster.events, [
    "Normal SuccessfulRescale HorizontalPodAutoscaler/web New size: 5; reason: Current number of replicas above Spec.MaxReplicas",
  ]);
  const { status } = await cluster.client.get(horizontalPodAutoscalers, KEY);
  deepEqual([status?.currentReplicas, status?.desiredReplicas, status?.lastScaleTime], [9, 5, "2026-01-01T00:00:00Z"]);
});

test("a target of zero replicas is left alone", async () => {
  await using cluster = await given(aDeployment(0), anAutoscaler());

  await cluster.reconcile(horizontalPodAutoscalerController(), "default/web");

  deepEqual(await conditionsOf(cluster), ["AbleToScale True SucceededGetScale", "ScalingActive False ScalingDisabled"]);
  equal(await sizeOf(cluster), 0);
});

test("a missing target and an unknown kind are reported", async () => {
  await using cluster = await given(
    anAutoscaler(),
    anAutoscaler({ scaleTargetRef: { apiVersion: "example.com/v1", kind: "Widget", name: "w" } }, "widget"),
  );
  const controller = horizontalPodAutoscalerController();

  await cluster.reconcile(controller, "default/web");
  await cluster.reconcile(controller, "default/widget");

  deepEqual(await conditionsOf(cluster), ["AbleToScale False FailedGetScale"]);
  deepEqual(cluster.events, [
    'Warning FailedGetScale HorizontalPodAutoscaler/web deployments.apps "web" not found',
    'Warning FailedGetScale HorizontalPodAutoscaler/widget no matches for kind "Widget" in group "example.com"',
  ]);
});

test("two autoscalers of the same Pods do nothing but say so", async () => {
  await using cluster = await given(aDeployment(2), aPod("a"), aPod("b"), anAutoscaler(), anAutoscaler({}, "web-2"));
  const controller = horizontalPodAutoscalerController();

  await cluster.reconcile(controller, "default/web-2");
  await cluster.reconcile(controller, "default/web");

  deepEqual(await conditionsOf(cluster), ["AbleToScale True SucceededGetScale", "ScalingActive False AmbiguousSelector"]);
  equal(
    cluster.events.some((line) =>
      line.endsWith("pods by selector app=web are controlled by multiple HPAs: [{web default} {web-2 default}]"),
    ),
    true,
  );
});

/** Without kubelets and adapters no metric has a value. */
const failures: readonly [metric: MetricSpec, reason: string, message: string][] = [
  [
    { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 50 } } },
    "FailedGetResourceMetric",
    "failed to get cpu utilization: unable to get metrics for resource cpu: no metrics returned from resource metrics API",
  ],
  [
    {
      type: "ContainerResource",
      containerResource: { name: "memory", container: "c", target: { type: "AverageValue", averageValue: "1Gi" } },
    },
    "FailedGetContainerResourceMetric",
    "failed to get memory usage: unable to get metrics for resource memory: no metrics returned from resource metrics API",
  ],
  [
    { type: "Pods", pods: { metric: { name: "rate" }, target: { type: "AverageValue", averageValue: "10" } } },
    "FailedGetPodsMetric",
    "unable to get metric rate: unable to fetch metrics from custom metrics API: no custom metrics API (custom.metrics.k8s.io) registered",
  ],
  [
    {
      type: "Object",
      object: {
        describedObject: { apiVersion: "v1", kind: "Service", name: "web" },
        metric: { name: "rate" },
        target: { type: "Value", value: "10" },
      },
    },
    "FailedGetObjectMetric",
    "unable to get metric rate on Service default/web: unable to fetch metrics from custom metrics API: no custom metrics API (custom.metrics.k8s.io) registered",
  ],
  [
    { type: "External", external: { metric: { name: "queue" }, target: { type: "AverageValue", averageValue: "10" } } },
    "FailedGetExternalMetric",
    "failed to get queue external metric: unable to get external metric default/queue/nil: unable to fetch metrics from external metrics API: the server could not find the requested resource (get queue.external.metrics.k8s.io)",
  ],
];
for (const [metric, reason, message] of failures) {
  test(`a ${metric.type} metric without a value is reported in upstream's words and nothing is scaled`, async () => {
    await using cluster = await given(aDeployment(3), aPod("a"), anAutoscaler({ metrics: [metric] as never }));

    await cluster.reconcile(horizontalPodAutoscalerController(), "default/web");

    deepEqual(await conditionsOf(cluster), ["AbleToScale True SucceededGetScale", `ScalingActive False ${reason}`]);
    deepEqual(cluster.events[0], `Warning ${reason} HorizontalPodAutoscaler/web ${message}`);
    equal(await sizeOf(cluster), 3);
  });
}

test("the desired number stays as it was while metrics fail: that of the last decision, 0 before the first one", async () => {
  await using cluster = await given(aDeployment(3), aPod("a"), anAutoscaler());
  const controller = horizontalPodAutoscalerController();
  const shown = async () => {
    await cluster.reconcile(controller, "default/web");
    const { status } = await cluster.client.get(horizontalPodAutoscalers, KEY);
    return [status?.currentReplicas, status?.desiredReplicas];
  };
  const resize = (replicas: number) => cluster.client.patch(deployments, KEY, { type: "merge", value: { spec: { replicas } } });

  deepEqual(await shown(), [3, 0]);
  await resize(9);
  deepEqual(await shown(), [9, 5]);
  await resize(4);
  deepEqual(await shown(), [4, 5]);
});

test("metrics show the autoscalers, their last decisions, and which reconciliations failed", async () => {
  const unknown = { scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "none" } };
  await using cluster = await given(aDeployment(9), aPod("a"), anAutoscaler(), anAutoscaler(unknown, "lost"));
  const controller = horizontalPodAutoscalerController();
  const shown = () =>
    cluster.metrics.families().flatMap(({ name, type, samples }) => {
      const [, short = ""] = /^horizontal_pod_autoscaler_controller_(.*)$/.exec(name) ?? [];
      return type === "histogram"
        ? []
        : samples.map((sample) => [short, ...Object.values(sample.labels), "value" in sample && sample.value]);
    });

  for (const name of ["web", "web", "lost"]) await cluster.reconcile(controller, `default/${name}`);
  deepEqual(shown(), [
    ["desired_replicas", "default", "web", 5],
    ["metric_computation_total", "none", "internal", "Resource", 1],
    ["num_horizontal_pod_autoscalers", 2],
    ["reconciliations_total", "scale_down", "none", 1],
    ["reconciliations_total", "none", "internal", 2],
  ]);

  await cluster.client.delete(horizontalPodAutoscalers, KEY);
  await cluster.settled();
  await cluster.reconcile(controller, "default/web");
  deepEqual(
    shown().filter(([name]) => name === "desired_replicas" || name === "num_horizontal_pod_autoscalers"),
    [["num_horizontal_pod_autoscalers", 1]],
  );
});

test("an error of the object itself is counted as such", () => {
  const metrics = new MetricSet();
  const pass = stub<Pass>({ metrics, clock: stub<Clock>({ monotonic: () => 0 }) });

  recordReconciliation({ current: 0, desired: 0, error: "spec" }, 0, pass);
  const failure = { reason: "InvalidMetricSourceType", message: "m", context: "c" };
  recordComputation({ is: "failed", failure }, { type: "Odd", current: 1, startedMs: 0 }, pass);

  deepEqual(
    metrics.families().map(({ samples }) => samples.map(({ labels }) => labels["error"])),
    [["spec"], ["spec"], ["spec"], ["spec"]],
  );
});

test("a running autoscaler writes nothing as long as nothing changes, and stops with its object", async () => {
  await using cluster = await given(aDeployment(3), aPod("a"), anAutoscaler());
  await cluster.run(horizontalPodAutoscalerController());
  await cluster.clock.advance(20_000);
  const before = cluster.actions.length;

  await cluster.clock.advance(120_000);

  equal(cluster.actions.length, before);
  await cluster.client.delete(horizontalPodAutoscalers, KEY);
  await cluster.clock.advance(1_000);
  const events = cluster.events.length;
  await cluster.clock.advance(120_000);
  equal(cluster.events.length, events);
});

test("an autoscaler brings its target back into its bounds after a crash at any step", async () => {
  await everyStepMayBeTheLast(
    {
      objects: [aDeployment(9), aPod("a"), anAutoscaler()],
      controllers: () => [horizontalPodAutoscalerController()],
      steps: [
        async ({ client }) =>
          void (await client.patch(horizontalPodAutoscalers, KEY, { type: "merge", value: { spec: { maxReplicas: 3 } } })),
        async ({ client }) =>
          void (await client.patch(horizontalPodAutoscalers, KEY, { type: "merge", value: { spec: { minReplicas: 6, maxReplicas: 8 } } })),
        // Its desired number is that of its last decision that was written, and all metrics fail here: a target of 0 is a decision without them.
        async ({ client }) => {
          equal((await client.get(deployments, KEY)).spec?.replicas, 6);
          await client.patch(deployments, KEY, { type: "merge", value: { spec: { replicas: 0 } } });
        },
      ],
      restMs: 40_000,
    },
    { disturbedRuns: rounds({ quick: 2, full: 30 }) },
  );
});
