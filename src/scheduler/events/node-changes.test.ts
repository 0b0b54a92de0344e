import assert from "node:assert/strict";
import { test } from "node:test";
import type { Node } from "../../api/generated/core/v1.ts";
import { aNode, type NodeParts } from "../framework/testing/builders.ts";
import { nodeChanges } from "./node-changes.ts";

const taint = { key: "dedicated", value: "db", effect: "NoSchedule" } as const;
const ready = { type: "Ready", status: "True" };
const pressed = { type: "MemoryPressure", status: "False" };

interface Row {
  readonly title: string;
  readonly before?: NodeParts;
  readonly after?: NodeParts;
  readonly expected: readonly string[];
}

const rows: readonly Row[] = [
  { title: "the same", expected: [] },
  { title: "uncordoned", before: { unschedulable: true }, after: { unschedulable: false }, expected: ["unschedulable"] },
  { title: "uncordoned by leaving the field out", before: { unschedulable: true }, expected: ["unschedulable"] },
  { title: "cordoned", after: { unschedulable: true }, expected: [] },
  { title: "more CPU", before: { cpu: "4" }, after: { cpu: "8" }, expected: ["allocatable"] },
  { title: "less CPU", before: { cpu: "8" }, after: { cpu: "4" }, expected: ["allocatable"] },
  { title: "as much CPU, spelled differently", before: { cpu: "4" }, after: { cpu: "4000m" }, expected: [] },
  { title: "a resource more", after: { extended: { "example.com/gpu": "1" } }, expected: ["allocatable"] },
  {
    title: "one resource in place of another",
    before: { extended: { "example.com/gpu": "1" } },
    after: { extended: { "example.com/fpga": "1" } },
    expected: ["allocatable"],
  },
  {
    title: "an amount that is none",
    before: { extended: { "example.com/gpu": "?" } },
    after: { extended: { "example.com/gpu": "1" } },
    expected: ["allocatable"],
  },
  { title: "a label", after: { labels: { disk: "ssd" } }, expected: ["labels"] },
  { title: "a label less", before: { labels: { disk: "ssd" } }, expected: ["labels"] },
  { title: "a taint less", before: { taints: [taint] }, expected: ["taints"] },
  { title: "no taints, and an empty list of them", after: { taints: [] }, expected: [] },
  { title: "an annotation", after: { annotations: { note: "1" } }, expected: ["annotations"] },
  { title: "no annotations, and an empty list of them", after: { annotations: {} }, expected: [] },
  { title: "a condition's status", before: { conditions: [{ type: "Ready", status: "False" }] }, expected: ["conditions"] },
  { title: "a condition more", before: { conditions: [ready] }, after: { conditions: [ready, pressed] }, expected: ["conditions"] },
  { title: "a heartbeat", after: { conditions: [{ ...ready, lastHeartbeatTime: "2026-01-01T00:05:00Z", message: "ok" }] }, expected: [] },
  { title: "conditions in another order", before: { conditions: [ready, pressed] }, after: { conditions: [pressed, ready] }, expected: [] },
  { title: "images", after: { images: [{ names: ["web"], sizeBytes: 1 }] }, expected: [] },
  {
    title: "several at once",
    before: { taints: [taint], unschedulable: true },
    after: { labels: { disk: "ssd" } },
    expected: ["unschedulable", "labels", "taints"],
  },
];

for (const { title, before, after, expected } of rows) {
  test(`a node's change is ${expected.join(" and ") || "nothing"}: ${title}`, () => {
    assert.deepEqual([...nodeChanges(aNode("n", before), aNode("n", after))], expected);
  });
}

test("a node without spec and status compares like one with empty ones", () => {
  const bare: Node = { apiVersion: "v1", kind: "Node", metadata: { name: "n" } };

  assert.deepEqual([...nodeChanges(bare, { ...bare, spec: {}, status: {} })], []);
});
