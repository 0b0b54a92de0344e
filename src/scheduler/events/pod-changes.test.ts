import assert from "node:assert/strict";
import { test } from "node:test";
import type { Namespace } from "../../api/generated/core/v1.ts";
import { aPod, podInfo, type PodParts } from "../framework/testing/builders.ts";
import { namespaceChanged, podChanges } from "./pod-changes.ts";

const toleration = { key: "dedicated", operator: "Exists" } as const;

interface Row {
  readonly title: string;
  readonly before?: PodParts;
  readonly after?: PodParts;
  readonly expected: readonly string[];
}

const rows: readonly Row[] = [
  { title: "only its status", after: { phase: "Running" }, expected: ["other"] },
  { title: "an annotation", after: { annotations: { note: "1" } }, expected: ["other"] },
  { title: "a label", after: { labels: { app: "web" } }, expected: ["labels"] },
  { title: "a label's value", before: { labels: { app: "web" } }, after: { labels: { app: "db" } }, expected: ["labels"] },
  { title: "less CPU", before: { cpu: "2" }, after: { cpu: "1" }, expected: ["scaled-down"] },
  { title: "more CPU", before: { cpu: "1" }, after: { cpu: "2" }, expected: ["other"] },
  { title: "less memory and more CPU", before: { cpu: "1", memory: "2Gi" }, after: { cpu: "2", memory: "1Gi" }, expected: ["scaled-down"] },
  { title: "less storage", before: { storage: "2Gi" }, after: { storage: "1Gi" }, expected: ["scaled-down"] },
  { title: "a request less", before: { extended: { "example.com/gpu": "1" } }, expected: ["scaled-down"] },
  { title: "its last gate", before: { gates: ["a"] }, after: { gates: [] }, expected: ["ungated"] },
  { title: "a gate of two", before: { gates: ["a", "b"] }, after: { gates: ["a"] }, expected: ["other"] },
  { title: "a toleration more", after: { tolerations: [toleration] }, expected: ["tolerations"] },
  {
    title: "several at once",
    before: { gates: ["a"], cpu: "2" },
    after: { cpu: "1", labels: { app: "web" }, tolerations: [toleration] },
    expected: ["labels", "scaled-down", "ungated", "tolerations"],
  },
];

for (const { title, before, after, expected } of rows) {
  test(`a Pod's change is ${expected.join(" and ")}: ${title}`, () => {
    assert.deepEqual([...podChanges(podInfo(aPod("p", before)), podInfo(aPod("p", after)))], expected);
  });
}

test("a namespace has changed if its labels have", () => {
  const plain: Namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: "n" } };
  const labelled: Namespace = { ...plain, metadata: { name: "n", labels: { team: "a" } } };
  const annotated: Namespace = { ...plain, metadata: { name: "n", labels: {}, annotations: { note: "1" } } };

  assert.deepEqual([namespaceChanged(plain, labelled), namespaceChanged(plain, annotated)], [true, false]);
});
