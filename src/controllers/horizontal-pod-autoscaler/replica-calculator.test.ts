import { deepEqual, equal, throws } from "node:assert/strict";
import { test } from "node:test";
import type { Pod } from "../../api/generated/core/v1.ts";
import { formatTime } from "../../api/machinery/time.ts";
import { buildPod } from "../../api/testing/pod.ts";
import { milliOf } from "./metric-readings.ts";
import {
  averageReplicas,
  requestsOf,
  sharedValueReplicas,
  utilizationReplicas,
  valueReplicas,
  type PodMetricInput,
} from "./replica-calculator.ts";
import { DEFAULT_SETTINGS } from "./settings.ts";

const NOW_MS = Date.UTC(2026, 0, 1);
const TOLERANCES = { scaleUp: 0.1, scaleDown: 0.1 };

interface PodState {
  readonly phase?: NonNullable<Pod["status"]>["phase"];
  readonly ready?: string;
  /** Age of the Pod and of its last change of readiness. */
  readonly startedS?: number;
  readonly changedS?: number;
  readonly isDeleted?: true;
}

const OLD: PodState = { startedS: 3_600, changedS: 3_600 };

function podsOf(states: readonly PodState[]): readonly Pod[] {
  return states.map(({ phase = "Running", ready = "True", startedS = 3_600, changedS = 3_600, isDeleted }, index) =>
    buildPod({
      metadata: {
        name: `p${index}`,
        namespace: "default",
        ...(isDeleted === undefined ? {} : { deletionTimestamp: formatTime(NOW_MS) }),
      },
      spec: { containers: [{ name: "c", image: "i", resources: { requests: { cpu: "1" } } }] },
      status: {
        phase,
        startTime: formatTime(NOW_MS - startedS * 1_000),
        conditions: [{ type: "Ready", status: ready, lastTransitionTime: formatTime(NOW_MS - changedS * 1_000) }],
      },
    }),
  );
}

/** Values in thousandths; undefined: no sample. */
function inputOf(states: readonly PodState[], values: readonly (number | undefined)[], resource = "cpu"): PodMetricInput {
  const samples = values.flatMap((value, index) =>
    value === undefined ? [] : [[`p${index}`, { atMs: NOW_MS, windowMs: 30_000, value }] as const],
  );
  return {
    currentReplicas: states.length,
    pods: podsOf(states),
    samples: new Map(samples),
    tolerances: TOLERANCES,
    rules: { ...DEFAULT_SETTINGS, resource, nowMs: NOW_MS },
  };
}

function byUtilization(input: PodMetricInput, target: number): readonly [replicas: number, utilization: number, average: number] {
  const readRequests = () => requestsOf(input.pods, { resource: "cpu", container: "", amountOf: milliOf });
  const { replicas, utilization, average } = utilizationReplicas(input, readRequests, target);
  return [replicas, utilization, average];
}

const YOUNG: PodState = { startedS: 60, changedS: 60 };
const STARTING: PodState = { startedS: 60, changedS: 60, ready: "False" };
const JUST_READY: PodState = { startedS: 60, changedS: 10 };
const NEVER_READY: PodState = { startedS: 3_600, changedS: 3_590, ready: "False" };
const NO_LONGER_READY: PodState = { startedS: 3_600, changedS: 100, ready: "False" };
const PENDING: PodState = { phase: "Pending", ready: "False" };

const utilizations: readonly [
  title: string,
  states: readonly PodState[],
  values: readonly (number | undefined)[],
  target: number,
  expected: readonly [number, number, number],
][] = [
  ["scales up", [OLD, OLD, OLD], [300, 500, 700], 30, [5, 50, 500]],
  ["scales down", [OLD, OLD, OLD, OLD, OLD], [100, 300, 500, 250, 250], 50, [3, 28, 280]],
  ["stays within the tolerance", [OLD, OLD, OLD], [1_010, 1_030, 1_020], 100, [3, 102, 1_020]],
  ["stays at the edge of the tolerance", [OLD], [110], 10, [1, 11, 110]],
  ["Pods that started recently count if they are ready", [YOUNG, YOUNG], [900, 900], 30, [6, 90, 900]],
  ["a starting Pod dampens a scale-up", [STARTING, OLD, OLD], [100, 500, 700], 30, [4, 60, 600]],
  ["a Pod that has just become ready is not counted yet", [JUST_READY, OLD, OLD], [100, 500, 700], 30, [4, 60, 600]],
  ["a Pod that was never ready is not counted", [NEVER_READY, OLD, OLD], [100, 500, 700], 30, [4, 60, 600]],
  ["a Pod that is no longer ready counts", [NO_LONGER_READY, OLD, OLD], [300, 500, 700], 30, [5, 50, 500]],
  ["a pending Pod does not dampen a scale-down", [PENDING, OLD, OLD], [undefined, 100, 100], 50, [1, 10, 100]],
  ["pending Pods that would cover the need prevent a scale-up", [PENDING, PENDING, OLD], [undefined, undefined, 900], 300, [1, 90, 900]],
  ["a deleted Pod is ignored", [{ ...OLD, isDeleted: true }, OLD], [900, 600], 30, [2, 60, 600]],
  ["a failed Pod is ignored", [{ ...OLD, phase: "Failed" }, OLD], [900, 600], 30, [2, 60, 600]],
  ["a Pod without a sample counts as idle when scaling up", [OLD, OLD, OLD], [undefined, 300, 500], 20, [4, 40, 400]],
  ["a Pod without a sample counts as full when scaling down", [OLD, OLD, OLD, OLD], [100, 300, 100, undefined], 50, [3, 16, 166]],
  ["a Pod without a sample never reverses the direction", [OLD, OLD], [undefined, 450], 50, [2, 45, 450]],
];
for (const [title, states, values, target, expected] of utilizations) {
  test(`utilization: ${title}`, () => deepEqual(byUtilization(inputOf(states, values), target), expected));
}

test("average value: memory has no rules for starting Pods", () => {
  deepEqual(averageReplicas(inputOf([STARTING, OLD], [2_000, 4_000], "memory"), 1_000), { replicas: 6, average: 3_000 });
});

test("average value: a Pod without a sample counts as on target when scaling down", () => {
  deepEqual(averageReplicas(inputOf([OLD, OLD, OLD], [100, 100, undefined], ""), 1_000), { replicas: 2, average: 100 });
});

test("what cannot be computed is an error with upstream's message", () => {
  const request = { resource: "cpu", container: "", amountOf: milliOf };
  const [pod] = podsOf([OLD]);
  const without = { ...pod!, spec: { containers: [{ name: "c", image: "i" }] } };

  throws(() => averageReplicas(inputOf([], []), 1), /^MetricError: no pods returned by selector while calculating replica count$/);
  throws(
    () => averageReplicas(inputOf([PENDING], [undefined]), 1),
    /^MetricError: did not receive metrics for targeted pods \(pods might be unready\)$/,
  );
  const starting = inputOf([STARTING], [500]);
  throws(
    () => byUtilization({ ...starting, pods: starting.pods.map((one) => ({ ...one, spec: without.spec })) }, 50),
    /^MetricError: did not receive metrics for targeted pods \(pods might be unready\)$/,
    "that no sample counts is reported before a missing request",
  );
  throws(() => requestsOf([without], request), /^MetricError: missing request for cpu in container c of Pod p0$/);
  throws(() => requestsOf([pod!], { ...request, container: "x" }), /^MetricError: container x not found in Pod p0$/);
});

test("requests are those of main containers and sidecars, or of the Pod if it has its own", () => {
  const container = (name: string, cpu: string) => ({ name, image: "i", resources: { requests: { cpu } } });
  const [pod] = podsOf([OLD]);
  const spec = {
    containers: [container("a", "100m"), container("b", "200m")],
    initContainers: [container("init", "5"), { ...container("sidecar", "50m"), restartPolicy: "Always" }],
  };
  const requestOf = (one: Pod, name = "") => requestsOf([one], { resource: "cpu", container: name, amountOf: milliOf }).get("p0");

  equal(requestOf({ ...pod!, spec }), 350);
  equal(requestOf({ ...pod!, spec }, "sidecar"), 50);
  equal(requestOf({ ...pod!, spec: { ...spec, resources: { requests: { cpu: "2" } } } }), 2_000);
});

test("an object metric scales the ready Pods by its value, and from zero by the ratio alone", () => {
  const pods = podsOf([OLD, OLD, NO_LONGER_READY]);
  const input = { currentReplicas: 3, pods, tolerances: TOLERANCES };

  equal(valueReplicas(input, 20_000, 10_000), 4);
  equal(valueReplicas(input, 10_500, 10_000), 3);
  equal(valueReplicas({ ...input, currentReplicas: 0, pods: [] }, 25_000, 10_000), 3);
  throws(() => valueReplicas({ ...input, pods: [] }, 20_000, 10_000), /unable to calculate ready pods: no pods returned by selector/);
});

test("an average of an object metric divides it by all replicas", () => {
  deepEqual(sharedValueReplicas({ statusReplicas: 3, tolerances: TOLERANCES }, 10_000, 2_000), { replicas: 5, average: 3_334 });
  deepEqual(sharedValueReplicas({ statusReplicas: 5, tolerances: TOLERANCES }, 10_000, 2_000), { replicas: 5, average: 2_000 });
});
