import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject } from "../../../api/machinery/object.ts";
import { isEvicted } from "./nodes.ts";
import { previousRevision, templatePatch } from "./undo.ts";

const object = (metadata: Partial<KubeObject["metadata"]>, more: object = {}): KubeObject => ({
  ...{ apiVersion: "v1", kind: "Any", metadata: { name: "x", ...metadata } },
  ...more,
});
const owner = (kind: string) => ({ apiVersion: "apps/v1", kind, name: "owner", uid: "1", controller: true });

for (const { it, pod, wanted } of [
  { it: "a Pod without an owner", pod: object({}, { status: { phase: "Running" } }), wanted: true },
  { it: "a Pod of a ReplicaSet", pod: object({ ownerReferences: [owner("ReplicaSet")] }), wanted: true },
  { it: "no Pod of a DaemonSet", pod: object({ ownerReferences: [owner("DaemonSet")] }), wanted: false },
  { it: "no mirror Pod", pod: object({ annotations: { "kubernetes.io/config.mirror": "1" } }), wanted: false },
  { it: "no finished Pod", pod: object({}, { status: { phase: "Succeeded" } }), wanted: false },
])
  test(`draining evicts ${it}`, () => equal(isEvicted(pod), wanted));

test("undo takes the revision before the newest", () => {
  const revisions = [3, 1, 10].map((revision) => object({ name: String(revision) }, { revision }));
  const numberOf = ({ metadata }: KubeObject) => Number(metadata.name);

  equal(previousRevision(revisions, numberOf)?.metadata.name, "3");
  equal(previousRevision(revisions.slice(0, 1), numberOf), undefined);
});

test("undo writes the template of the ReplicaSet without its hash", () => {
  const template = { metadata: { labels: { app: "web", "pod-template-hash": "abc" } }, spec: { containers: [] } };

  deepEqual(templatePatch(object({}, { spec: { template } })).body, [
    { op: "replace", path: "/spec/template", value: { metadata: { labels: { app: "web" } }, spec: { containers: [] } } },
  ]);
});
