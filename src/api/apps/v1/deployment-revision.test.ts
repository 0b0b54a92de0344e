import assert from "node:assert/strict";
import test from "node:test";
import type { ReplicaSet } from "../../generated/apps/v1.ts";
import { newReplicaSetOf, oldestFirst, revisionOf } from "./deployment-revision.ts";

function aReplicaSet(name: string, image: string, creationTimestamp: string): ReplicaSet {
  const template = { metadata: { labels: { "pod-template-hash": name } }, spec: { containers: [{ name: "c", image }] } };
  return { apiVersion: "apps/v1", kind: "ReplicaSet", metadata: { name, creationTimestamp }, spec: { selector: {}, template } };
}

const ALL = [
  aReplicaSet("c", "i:1", "2026-01-01T00:00:02Z"),
  aReplicaSet("b", "i:2", "2026-01-01T00:00:01Z"),
  aReplicaSet("a", "i:1", "2026-01-01T00:00:01Z"),
];

for (const [text, revision] of [
  [undefined, 0n],
  ["7", 7n],
  ["3546343826724305832", 3546343826724305832n],
  ["9223372036854775808", undefined],
  ["", undefined],
  ["7a", undefined],
] as const) {
  test(`an object annotated with ${JSON.stringify(text)} has revision ${revision ?? "unknown"}`, () => {
    const annotations = text === undefined ? {} : { "deployment.kubernetes.io/revision": text };

    assert.equal(revisionOf({ apiVersion: "apps/v1", kind: "ReplicaSet", metadata: { name: "x", annotations } }), revision);
  });
}

test("the new ReplicaSet is the oldest with the Deployment's template", () => {
  const newOneFor = (image: string) => {
    const spec = { selector: {}, template: { spec: { containers: [{ name: "c", image }] } } };
    return newReplicaSetOf({ apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "d" }, spec }, ALL)?.metadata.name;
  };

  assert.deepEqual(["i:1", "i:2", "i:3"].map(newOneFor), ["a", "b", undefined]);
});

test("ReplicaSets of one second are ordered by name", () => {
  assert.deepEqual(
    ALL.toSorted(oldestFirst).map(({ metadata }) => metadata.name),
    ["a", "b", "c"],
  );
});
