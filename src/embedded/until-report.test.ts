import { equal } from "node:assert/strict";
import test from "node:test";
import type { Event } from "../api/generated/core/v1.ts";
import type { KubeObject } from "../api/machinery/object.ts";
import type { Decision } from "../scheduler/decisions.ts";
import { formatUntilFailure } from "./until-report.ts";
import { buildPod } from "../api/testing/pod.ts";

function isReady(): boolean {
  return false;
}

const pod: KubeObject & { readonly status: object } = {
  ...buildPod({ metadata: { name: "web-1", namespace: "default", uid: "u" } }),
  status: { conditions: [{ type: "PodScheduled", status: "False", reason: "Unschedulable", message: "0/1 nodes are available:\n1 cpu." }] },
};

const event: Event = {
  ...{ apiVersion: "v1", kind: "Event", metadata: { name: "e", namespace: "default" }, type: "Warning", reason: "FailedScheduling" },
  ...{ involvedObject: { kind: "Pod", name: "web-1" }, message: "0/1 nodes are available", count: 3 },
};

const decision: Decision = {
  ...{ atMs: 0, uid: "u", schedulerName: "default-scheduler", attempt: 3, outcome: "unschedulable", message: "0/1 nodes are available" },
  ...{ refused: [], scores: [] },
};

test("a failed until shows conditions, events and the scheduling decision first, and the object as JSON last", () => {
  const failure = { title: "pod/web-1 was not as expected", condition: isReady, seen: pod };

  const text = formatUntilFailure(failure, {
    objects: [pod],
    ownedPods: [],
    events: [event],
    decisions: [{ pod: "default/web-1", decision }],
  });

  equal(
    text,
    [
      "pod/web-1 was not as expected",
      "  condition: isReady",
      "  Pod web-1 PodScheduled=False (Unschedulable): 0/1 nodes are available: 1 cpu.",
      "  event: Warning FailedScheduling of Pod web-1: 0/1 nodes are available (3 times)",
      "  scheduling decision for default/web-1: unschedulable, attempt 3: 0/1 nodes are available",
      `  last seen: ${JSON.stringify(pod)}`,
    ].join("\n"),
  );
});

test("a failed until shows the conditions that are not true of the Pods of the awaited object", () => {
  const conditions = [
    { type: "Initialized", status: "True" },
    { type: "Ready", status: "False" },
  ];
  const owned: KubeObject & { readonly status: object } = { ...pod, status: { conditions } };
  const text = formatUntilFailure(
    { title: "deployment/web", condition: isReady, seen: undefined },
    { objects: [], ownedPods: [owned], events: [], decisions: [] },
  );
  equal(text, "deployment/web\n  condition: isReady\n  Pod web-1 Ready=False\n  last seen: nothing");
});

test("a failed until of an object that does not exist shows the condition's text and nothing else", () => {
  const text = formatUntilFailure(
    {
      title: "pod/none was not as expected",
      condition: (
        () => () =>
          false
      )(),
      seen: undefined,
    },
    { objects: [], ownedPods: [], events: [], decisions: [] },
  );
  equal(text, "pod/none was not as expected\n  condition: () => false\n  last seen: nothing");
});

test("a failed until shows at most 10 events, the last ones, and 2,000 characters of the object", () => {
  const events = Array.from({ length: 30 }, (_one, index) => ({ ...event, reason: `Reason${index}` }));
  const seen = Array.from({ length: 500 }, () => pod);

  const lines = formatUntilFailure(
    { title: "pods", condition: isReady, seen },
    { objects: [], ownedPods: [], events, decisions: [] },
  ).split("\n");

  equal(lines.length, 13);
  equal(lines[2]?.includes("Reason20 "), true);
  equal((lines.at(-1)?.length ?? 0) < 2_100, true);
});
