/** Under any sequence of steps the queue behaves like its rules in their plainest form (testing/naive-queue.ts). */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { rounds, testSeed } from "../../testing/rounds.ts";
import type { Plugin } from "../framework/plugin.ts";
import { aNode } from "../framework/testing/builders.ts";
import type { OutsideEvent } from "./scheduling-queue.ts";
import { NaiveQueue, type NaiveEvent } from "./testing/naive-queue.ts";
import { aPodInfo, podBound, podDeleted, queueWith, type QueueHarness } from "./testing/queue-harness.ts";

/** Short, so that backoffs, flushes and events interleave in all orders. */
const SETTINGS = { initialBackoffMs: 1_000, maxBackoffMs: 10_000, maxUnschedulableMs: 7_500 };

type Step =
  | { readonly do: "add"; readonly pod: number; readonly priority: number }
  | { readonly do: "delete" | "done" | "activate"; readonly pod: number }
  | { readonly do: "pop" }
  | { readonly do: "put-back"; readonly pod: number; readonly refusedBy: readonly string[]; readonly pendingOn: readonly string[] }
  | { readonly do: "happen"; readonly event: NaiveEvent }
  | { readonly do: "gate"; readonly isOpen: boolean }
  | { readonly do: "advance"; readonly durationMs: number };

const aPodNumber = fc.integer({ min: 0, max: 5 });
const plugins = (names: readonly string[]) => fc.subarray([...names]);

const aStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant("add" as const), pod: aPodNumber, priority: fc.integer({ min: 0, max: 2 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom("delete" as const, "done" as const, "activate" as const), pod: aPodNumber }) },
  { weight: 4, arbitrary: fc.constant({ do: "pop" as const }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("put-back" as const),
      pod: aPodNumber,
      refusedBy: plugins(["Sized", "Freed", "Unsure", "Stubborn"]),
      pendingOn: fc.oneof({ weight: 4, arbitrary: fc.constant([]) }, plugins(["Freed", "Sized"])),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("happen" as const),
      event: fc.record({
        is: fc.constantFrom("node-added" as const, "pod-bound" as const, "pod-deleted" as const, "namespace" as const),
        size: fc.integer({ min: 0, max: 2 }),
      }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("gate" as const), isOpen: fc.boolean() }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("advance" as const), durationMs: fc.integer({ min: 0, max: 6_000 }) }) },
);

function eventOf({ is, size }: NaiveEvent): OutsideEvent {
  switch (is) {
    case "node-added":
      return { of: "node", changes: new Set(["added"]), node: aNode("n", { labels: { size: String(size) } }) };
    case "pod-bound":
      return podBound();
    case "pod-deleted":
      return podDeleted();
    case "namespace":
      return { of: "namespace", namespace: { apiVersion: "v1", kind: "Namespace", metadata: { name: "n" } } };
  }
}

function pluginsOf(naive: NaiveQueue): Plugin[] {
  const isBigEnough = (priority: number, size = "0") => Number(size) >= priority;
  return [
    {
      name: "Sized",
      retryOn: [
        {
          of: "node",
          changes: ["added"],
          isWorthIt: (pod, { node }) => isBigEnough(pod.spec?.priority ?? 0, node.metadata.labels?.["size"]),
        },
      ],
    },
    {
      name: "Freed",
      retryOn: [
        { of: "assigned-pod", changes: ["deleted"] },
        { of: "node", changes: ["added"] },
      ],
    },
    { name: "Unsure" },
    { name: "Stubborn", retryOn: [] },
    {
      name: "Gate",
      retryOn: [{ of: "namespace" }],
      preEnqueue: () => (naive.isGateOpen ? undefined : { reasons: ["closed"], resolvable: false }),
    },
  ];
}

/** Both do the same; their results are compared at once. */
async function take(step: Step, naive: NaiveQueue, { queue, clock }: QueueHarness): Promise<void> {
  const name = "pod" in step ? `p${step.pod}` : "";
  const uid = aPodInfo(name).uid;
  switch (step.do) {
    case "add":
      if (naive.pods.some((pod) => pod.name === name)) return;
      naive.add(name, step.priority);
      return queue.add(aPodInfo(name, { priority: step.priority }));
    case "pop":
      return assert.equal(queue.tryPop()?.info.pod.metadata.name, naive.pop());
    case "put-back":
      naive.putBack(name, step.refusedBy, step.pendingOn);
      return queue.putBack(uid, { is: "refused", by: new Set(step.refusedBy), pendingOn: new Set(step.pendingOn) });
    case "happen":
      naive.happen(step.event);
      return queue.moveAllOn(eventOf(step.event));
    case "gate":
      naive.isGateOpen = step.isOpen;
      return;
    case "advance":
      naive.advance(step.durationMs);
      return clock.advance(step.durationMs);
    case "delete":
    case "done":
    case "activate":
      naive[step.do](name);
      return queue[step.do](uid);
  }
}

function places(harness: QueueHarness): string[] {
  return harness.queue.list().map(({ info, place }) => `${info.pod.metadata.name}: ${place}`);
}

test("the queue behaves like the naive model under any sequence of steps", async () => {
  const property = fc.asyncProperty(fc.array(aStep, { maxLength: 80, size: "max" }), async (steps) => {
    const naive = new NaiveQueue(SETTINGS);
    const harness = queueWith(pluginsOf(naive), SETTINGS);
    for (const step of steps) {
      await take(step, naive, harness);
      const expected = naive.pods.map(({ name, place }) => `${name}: ${place}`);
      assert.deepEqual(places(harness), expected, `after ${JSON.stringify(step)}`);
      const counted = Object.values(harness.queue.counts()).reduce((sum, count) => sum + count, 0);
      assert.equal(counted, expected.length, "every Pod is counted in one place");
    }
    harness.queue[Symbol.dispose]();
  });

  await fc.assert(property, { numRuns: rounds({ quick: 150, full: 3_000 }), seed: testSeed() });
});
