import { test } from "node:test";
import { deepEqual, ok } from "node:assert/strict";
import fc from "fast-check";
import type { Pod } from "../../../generated/core/v1.ts";
import { formatTime } from "../../../machinery/time.ts";
import { DELETION_COST_ANNOTATION } from "./deletion-cost.ts";
import { inDeletionOrder } from "./deletion-order.ts";
import { sentPod } from "./testing/pods.ts";

const NOW_MS = Date.UTC(2026, 0, 1, 12);
const HOUR_MS = 3_600_000;

interface Traits {
  readonly uid?: string;
  readonly node?: string;
  readonly phase?: string;
  /** How long it has been ready; "unknown": without a timestamp; absent: it is not ready. */
  readonly readyMs?: number | "unknown" | undefined;
  readonly cost?: number;
  readonly restarts?: number;
  readonly sidecarRestarts?: number;
  readonly ageMs?: number;
}

/** Scheduled, running and an hour old by default. */
function aPod(name: string, traits: Traits = {}): Pod {
  const { uid = name, node = "n1", phase = "Running", readyMs, cost, restarts = 0, sidecarRestarts = 0, ageMs = HOUR_MS } = traits;
  const since = readyMs === undefined || readyMs === "unknown" ? {} : { lastTransitionTime: formatTime(NOW_MS - readyMs) };
  return sentPod({
    metadata: {
      name,
      uid,
      creationTimestamp: formatTime(NOW_MS - ageMs),
      ...(cost === undefined ? {} : { annotations: { [DELETION_COST_ANNOTATION]: String(cost) } }),
    },
    spec: {
      nodeName: node,
      containers: [{ name: "web", image: "web" }],
      initContainers: [
        { name: "once", image: "once" },
        { name: "side", image: "side", restartPolicy: "Always" },
      ],
    },
    status: {
      phase,
      conditions: [{ type: "Ready", status: readyMs === undefined ? "False" : "True", ...since }],
      containerStatuses: [
        { name: "quiet", restartCount: 0 },
        { name: "web", restartCount: restarts },
      ],
      initContainerStatuses: [
        { name: "once", restartCount: 100 - restarts },
        { name: "side", restartCount: sidecarRestarts },
      ],
    },
  });
}

function namesInOrder(pods: readonly Pod[], neighbours?: (pod: Pod) => number): readonly string[] {
  return inDeletionOrder(pods, { nowMs: NOW_MS, ...(neighbours && { neighbours }) }).map(({ metadata }) => metadata.name);
}

for (const { it, first, second } of [
  {
    it: "an unassigned one is deleted before an assigned one",
    first: aPod("b", { node: "", cost: 9 }),
    second: aPod("a", { phase: "Pending" }),
  },
  { it: "a pending one is deleted before an unknown one", first: aPod("b", { phase: "Pending" }), second: aPod("a", { phase: "Unknown" }) },
  { it: "an unknown one is deleted before a running one", first: aPod("b", { phase: "Unknown", readyMs: 1 }), second: aPod("a") },
  { it: "one that is not ready is deleted before a ready one", first: aPod("b", { cost: 9 }), second: aPod("a", { readyMs: 1000 }) },
  {
    it: "the one with the lower deletion cost is deleted first, regardless of age",
    first: aPod("b", { cost: -1, readyMs: HOUR_MS }),
    second: aPod("a", { readyMs: 1000 }),
  },
  {
    it: "one without a ready time is deleted before one just ready",
    first: aPod("b", { readyMs: "unknown" }),
    second: aPod("a", { readyMs: 1000, restarts: 5 }),
  },
  {
    it: "one whose ready time is in the future is deleted before one just ready",
    first: aPod("b", { readyMs: -5000 }),
    second: aPod("a", { readyMs: 1000 }),
  },
  {
    it: "one ready for one hour is deleted before one ready for three",
    first: aPod("b", { readyMs: HOUR_MS }),
    second: aPod("a", { readyMs: 3 * HOUR_MS, restarts: 5 }),
  },
  {
    it: "the one with more restarts is deleted first",
    first: aPod("b", { restarts: 2, ageMs: 9 * HOUR_MS }),
    second: aPod("a", { restarts: 1 }),
  },
  { it: "restarts of sidecars are compared next", first: aPod("b", { sidecarRestarts: 2 }), second: aPod("a", { sidecarRestarts: 1 }) },
  { it: "restarts of init containers do not count", first: aPod("a", { restarts: 1 }), second: aPod("b") },
  { it: "the younger one is deleted first", first: aPod("b", { ageMs: HOUR_MS }), second: aPod("a", { ageMs: 3 * HOUR_MS }) },
  {
    it: "of about the same age the UID decides",
    first: aPod("b", { uid: "1", ageMs: 61 * 60_000 }),
    second: aPod("a", { uid: "2", ageMs: HOUR_MS }),
  },
]) {
  test(`of two Pods ${it}`, () => {
    deepEqual(namesInOrder([first, second]), [first.metadata.name, second.metadata.name]);
    deepEqual(namesInOrder([second, first]), [first.metadata.name, second.metadata.name]);
  });
}

test("of Pods with equal cost the one with more neighbours on its node is deleted first, at any age", () => {
  const lonely = aPod("a", { node: "n1", readyMs: 1000 });
  const crowded = aPod("b", { node: "n2", readyMs: HOUR_MS });
  const neighbours = (pod: Pod): number => (pod.spec?.nodeName === "n2" ? 2 : 1);

  deepEqual(namesInOrder([lonely, crowded]), ["a", "b"]);
  deepEqual(namesInOrder([lonely, crowded], neighbours), ["b", "a"]);
  deepEqual(namesInOrder([{ ...lonely, spec: { ...lonely.spec, nodeName: "" } } as Pod, crowded], neighbours), ["a", "b"]);
});

/** Few values of each, so that many rules see no difference. */
const traits: fc.Arbitrary<Traits> = fc.record({
  node: fc.constantFrom("", "n1", "n2"),
  phase: fc.constantFrom("", "Pending", "Unknown", "Running"),
  readyMs: fc.constantFrom<Traits["readyMs"]>(undefined, "unknown", -1000, 0, 60_000, 61_000, HOUR_MS),
  cost: fc.constantFrom(-1, 0, 1),
  restarts: fc.constantFrom(0, 1),
  sidecarRestarts: fc.constantFrom(0, 1),
  ageMs: fc.constantFrom(60_000, 61_000, HOUR_MS),
});

const somePods = fc.array(traits, { minLength: 2, maxLength: 12 }).map((all) => all.map((one, index) => aPod(`p${index}`, one)));

test("the deletion order is total: independent of the input order, and consistent for subsets", () => {
  const shuffledWithPart = somePods.chain((pods) =>
    fc.record({
      pods: fc.constant(pods),
      shuffled: fc.shuffledSubarray(pods, { minLength: pods.length, maxLength: pods.length }),
      part: fc.shuffledSubarray(pods),
    }),
  );
  fc.assert(
    fc.property(shuffledWithPart, ({ pods, shuffled, part }) => {
      const order = namesInOrder(pods);
      const inPart = new Set(part.map(({ metadata }) => metadata.name));

      deepEqual(namesInOrder(shuffled), order);
      deepEqual(
        namesInOrder(part),
        order.filter((name) => inPart.has(name)),
      );
    }),
    { seed: 1 },
  );
});

test("no Pod is deleted before one that an earlier rule ranks lower", () => {
  const isBetter = (a: Pod, b: Pod): boolean => {
    const [placedA, placedB] = [a, b].map(({ spec }) => spec?.nodeName !== "");
    if (placedA !== placedB) return placedA === true;
    const [rankA = 0, rankB = 0] = [a, b].map(({ status }) => ["", "Pending", "Unknown", "Running"].indexOf(status?.phase ?? ""));
    const bothPending = rankA <= 1 && rankB <= 1;
    if (rankA !== rankB && !bothPending) return rankA > rankB;
    const [readyA, readyB] = [a, b].map(({ status }) => status?.conditions?.[0]?.status === "True");
    return readyA === true && readyB === false;
  };
  fc.assert(
    fc.property(somePods, (pods) => {
      const order = inDeletionOrder(pods, { nowMs: NOW_MS });

      for (const [index, pod] of order.entries()) for (const later of order.slice(index + 1)) ok(!isBetter(pod, later));
    }),
    { seed: 1 },
  );
});
