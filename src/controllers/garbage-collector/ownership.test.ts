import assert from "node:assert/strict";
import test from "node:test";
import type { KubeObject, ObjectMeta } from "../../api/machinery/object.ts";
import { isWaitingForDependents, propagationOf, withoutBlocking, withoutOwners } from "./ownership.ts";

const OWNER = { apiVersion: "v1", kind: "ConfigMap" };

function anObject(metadata: Partial<ObjectMeta>): KubeObject {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "x", uid: "u", resourceVersion: "7", ...metadata } };
}

const OWNED = anObject({
  ownerReferences: [
    { ...OWNER, name: "a", uid: "1", blockOwnerDeletion: true, controller: true },
    { ...OWNER, name: "b", uid: "2", blockOwnerDeletion: false },
    { ...OWNER, name: "c", uid: "3" },
  ],
});

for (const { finalizers, policy } of [
  { finalizers: undefined, policy: "Background" },
  { finalizers: ["example.com/kept"], policy: "Background" },
  { finalizers: ["foregroundDeletion"], policy: "Foreground" },
  { finalizers: ["foregroundDeletion", "orphan"], policy: "Orphan" },
]) {
  test(`what has the finalizers ${finalizers?.join(" and ") ?? "of nobody"} is deleted with ${policy}`, () => {
    assert.equal(propagationOf(anObject(finalizers === undefined ? {} : { finalizers })), policy);
  });
}

test("an object waits for its dependents only once it is going", () => {
  const finalizers = ["foregroundDeletion"];
  assert.equal(isWaitingForDependents(anObject({ finalizers })), false);
  assert.equal(isWaitingForDependents(anObject({ finalizers, deletionTimestamp: "2026-01-01T00:00:00Z" })), true);
});

test("owners are taken away one by one where the kind allows it, otherwise the others are written", () => {
  assert.deepEqual(withoutOwners(OWNED, new Set(["1", "3"])), {
    strategic: {
      metadata: {
        uid: "u",
        ownerReferences: [
          { $patch: "delete", uid: "1" },
          { $patch: "delete", uid: "3" },
        ],
      },
    },
    merge: {
      metadata: { uid: "u", resourceVersion: "7", ownerReferences: [{ ...OWNER, name: "b", uid: "2", blockOwnerDeletion: false }] },
    },
  });
});

test("who holds back nobody any more stays owned", () => {
  const { strategic, merge } = withoutBlocking(OWNED);

  assert.deepEqual(strategic, {
    metadata: { uid: "u", ownerReferences: [{ ...OWNER, name: "a", uid: "1", blockOwnerDeletion: false, controller: true }] },
  });
  assert.deepEqual(merge, {
    metadata: {
      uid: "u",
      resourceVersion: "7",
      ownerReferences: [
        { ...OWNER, name: "a", uid: "1", blockOwnerDeletion: false, controller: true },
        { ...OWNER, name: "b", uid: "2", blockOwnerDeletion: false },
        { ...OWNER, name: "c", uid: "3", blockOwnerDeletion: false },
      ],
    },
  });
});
