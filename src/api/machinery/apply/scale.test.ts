import assert from "node:assert/strict";
import { test } from "node:test";
import { trackUpdate, type ManagedFields } from "./managed-fields.ts";
import { ownersOfScale, SCALE_API_VERSION, withOwnersOfScale } from "./scale.ts";
import { API_VERSION, apply, aWidget, integer, nothing, ownership, struct, text, TIME, track, wanted } from "./testing/widget.ts";

const scaled = {
  replicasPath: ["spec", "replicas"],
  apiVersion: API_VERSION,
  isServed: (apiVersion: string) => apiVersion === API_VERSION,
};
const scaleSchema = struct({ metadata: struct({ name: text }), spec: struct({ replicas: integer }) });

function writeScale(managed: ManagedFields, from: number, to: number): ManagedFields {
  const writer = { manager: "scaler", apiVersion: SCALE_API_VERSION, time: TIME, subresource: "scale" };
  const options = { schema: scaleSchema, previous: { spec: { replicas: from } }, next: { spec: { replicas: to } }, writer };
  return withOwnersOfScale(managed, trackUpdate({ ...options, previousManaged: ownersOfScale(managed, scaled) }), scaled);
}

test("a write to the Scale owns the replicas of the object, and nothing else", () => {
  const managed = writeScale(track("creator", aWidget({ replicas: 1, args: ["x"] })), 1, 3);

  assert.deepEqual(ownership(managed), { "Update scaler": '{"f:spec":{"f:replicas":{}}}', "Update creator": '{"f:spec":{"f:args":{}}}' });
  assert.deepEqual(managed.entries()[0], {
    manager: "scaler",
    operation: "Update",
    apiVersion: API_VERSION,
    fieldsType: "FieldsV1",
    fieldsV1: { "f:spec": { "f:replicas": {} } },
    subresource: "scale",
  });
  assert.equal(writeScale(managed, 3, 4).text(), managed.text());
});

test("the Scale shows only the owners of replicas, in its own version", () => {
  const state = apply(apply(nothing, "one", wanted({ replicas: 1 })), "two", wanted({ args: ["x"] }));

  assert.deepEqual(
    ownersOfScale(state.managed, scaled)
      .entries()
      .map(({ manager, apiVersion }) => [manager, apiVersion]),
    [["one", SCALE_API_VERSION]],
  );
});
