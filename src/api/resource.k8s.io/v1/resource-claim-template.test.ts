import assert from "node:assert/strict";
import test from "node:test";
import type { JsonObject } from "../../machinery/object.ts";
import { columnNames, newObject, problemsOfChange, problemsOfNew, received } from "../../testing/kind.ts";
import { resourceClaimTemplates } from "./resource-claim-template.ts";
import { NOT_A_NAME } from "./testing/messages.ts";

const SPEC: JsonObject = {
  metadata: { labels: { a: "b" } },
  spec: { devices: { requests: [{ name: "gpu", exactly: { deviceClassName: "c" } }] } },
};

test("the claim of a ResourceClaimTemplate gets the defaults of a claim, idempotently", () => {
  const template = received(resourceClaimTemplates, { spec: SPEC });

  assert.deepEqual(template.spec.spec.devices?.requests, [
    { name: "gpu", exactly: { deviceClassName: "c", allocationMode: "ExactCount", count: 1 } },
  ]);
  assert.equal(resourceClaimTemplates.served[0]?.defaults?.(template), template);
  assert.deepEqual(columnNames(resourceClaimTemplates), ["Name", "Age"]);
});

test("the claim's metadata in a template may only have labels and annotations", () => {
  const metadata = {
    managedFields: [{}],
    name: "x",
    uid: "u",
    finalizers: ["a"],
    ownerReferences: [{}],
    generation: 1,
    labels: { "-": "b" },
    annotations: { "-": "b" },
  };

  assert.deepEqual(problemsOfNew(resourceClaimTemplates, { spec: { ...SPEC, metadata } }), [
    `spec.metadata.annotations: Invalid value: "-": ${NOT_A_NAME}`,
    `spec.metadata.labels: Invalid value: "-": ${NOT_A_NAME}`,
    "spec.metadata.name: Forbidden: cannot be set",
    "spec.metadata.uID: Forbidden: cannot be set",
    "spec.metadata.generation: Forbidden: cannot be set",
    "spec.metadata.ownerReferences: Forbidden: cannot be set",
    "spec.metadata.finalizers: Forbidden: cannot be set",
    "spec.metadata.managedFields: Forbidden: cannot be set",
  ]);
});

test("the claim's spec in a template is validated like that of a claim", () => {
  const spec = { devices: { requests: [{ name: "gpu" }] } };

  assert.deepEqual(problemsOfNew(resourceClaimTemplates, { spec: SPEC }), []);
  assert.deepEqual(problemsOfNew(resourceClaimTemplates, { spec: { ...SPEC, spec } }), [
    "spec.spec.devices.requests[0]: Required value: exactly one of `exactly` or `firstAvailable` is required",
  ]);
});

test("a ResourceClaimTemplate is immutable, which is the only problem of an update", () => {
  const previous = newObject(resourceClaimTemplates, { spec: SPEC });
  const next = { metadata: { annotations: { x: "y" }, labels: { c: "d", b: "a" } }, spec: { devices: { constraints: [{}] } } };

  assert.deepEqual(problemsOfChange(resourceClaimTemplates, previous, { metadata: { labels: { a: "b" } }, spec: SPEC }), []);
  assert.deepEqual(problemsOfChange(resourceClaimTemplates, previous, { spec: next }), [
    'spec: Invalid value: {"labels":{"b":"a","c":"d"},"annotations":{"x":"y"},"Spec":{"Devices":{"Requests":null,"Constraints":[{"Requests":null,"MatchAttribute":null,"DistinctAttribute":null}],"Config":null}}}: field is immutable',
  ]);
});
