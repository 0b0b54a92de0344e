import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject } from "../../../api/machinery/object.ts";
import { fieldChanges, fieldText, ownerOf, withChanges, withoutBookkeeping } from "./field-changes.ts";

const texts = (before: object, after: object) =>
  fieldChanges(before as never, after as never).map(
    ({ path, before: old, after: fresh }) => `${fieldText(path)}: ${JSON.stringify(old)} > ${JSON.stringify(fresh)}`,
  );

for (const { it, before, after, wanted } of [
  { it: "nothing", before: { a: [1, { b: 2 }] }, after: { a: [1, { b: 2 }] }, wanted: [] },
  { it: "a value", before: { a: { b: 1 } }, after: { a: { b: 2 } }, wanted: ["a.b: 1 > 2"] },
  { it: "a new and a removed member", before: { a: 1 }, after: { b: { c: 1 } }, wanted: ["a: 1 > undefined", 'b: undefined > {"c":1}'] },
  { it: "an item", before: { a: [{ b: 1 }, 2] }, after: { a: [{ b: 3 }, 2] }, wanted: ["a[0].b: 1 > 3"] },
  { it: "the length of a list", before: { a: [1] }, after: { a: [1, 2] }, wanted: ["a: [1] > [1,2]"] },
])
  test(`changes of fields: ${it}`, () => {
    deepEqual(texts(before, after), wanted);
    deepEqual(withChanges(before as never, fieldChanges(before as never, after as never)), after);
  });

test("changes of one writer are merged into the object of another", () => {
  const base = { spec: { replicas: 1, image: "a", paused: true } };
  const mine = { spec: { replicas: 5, image: "a" } };
  const theirs = { spec: { replicas: 3, image: "b", paused: true } };

  deepEqual(withChanges(theirs, fieldChanges(base, mine)), { spec: { replicas: 5, image: "b" } });
});

const object = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: {
    name: "web",
    resourceVersion: "7",
    managedFields: [
      {
        ...{ manager: "kubectl", operation: "Apply", apiVersion: "apps/v1", time: "2026-01-01T00:00:00Z", fieldsType: "FieldsV1" },
        fieldsV1: {
          "f:spec": {
            "f:replicas": {},
            "f:template": { "f:containers": { 'k:{"name":"main"}': { ".": {}, "f:image": {} } } },
            "f:args": {},
          },
        },
      },
      {
        ...{ manager: "scaler", operation: "Update", subresource: "scale", apiVersion: "apps/v1", time: "2026-01-02T00:00:00Z" },
        ...{ fieldsType: "FieldsV1", fieldsV1: { "f:spec": { "f:replicas": {} } } },
      },
    ],
  },
  spec: { replicas: 2, template: { containers: [{ name: "side" }, { name: "main", image: "x" }] }, args: ["a"] },
} satisfies KubeObject & { readonly spec: object };

test("the owner of a field is the manager that wrote it, the last one first", () => {
  equal(
    ownerOf(object, ["spec", "replicas"]),
    "scaler (Update, subresource scale, 2026-01-02T00:00:00Z), kubectl (Apply, 2026-01-01T00:00:00Z)",
  );
  equal(ownerOf(object, ["spec", "template", "containers", 1, "image"]), "kubectl (Apply, 2026-01-01T00:00:00Z)");
  equal(ownerOf(object, ["spec", "template", "containers", 0, "image"]), "");
  equal(ownerOf(object, ["spec", "args", 0]), "kubectl (Apply, 2026-01-01T00:00:00Z)");
  equal(ownerOf(object, ["spec", "paused"]), "");
});

test("bookkeeping and status are not what an editor compares", () => {
  deepEqual(withoutBookkeeping({ ...object, status: { replicas: 2 } } as KubeObject), {
    ...{ apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "web" } },
    spec: { replicas: 2, template: { containers: [{ name: "side" }, { name: "main", image: "x" }] }, args: ["a"] },
  });
});
