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
  test(`an object with the finalizers ${finalizers?.join(" and ") ?? "none"} is deleted with ${policy}`, () => {
    assert.equal(propagationOf(anObject(finalizers === undefined ? {} : { finalizers })), policy);
  });
}

test("an object waits for its dependents only once it is terminating", () => {
  const finalizers = ["foregroundDeletion"];
  assert.equal(isWaitingForDependents(anObject({ finalizers })), false);
  assert.equal(isWaitingForDependents(anObject({ finalizers, deletionTimestamp: "2026-01-01T00:00:00Z" })), true);
});

test("owner references are removed one by one where the kind allows it, otherwise the list is replaced", () => {
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

test("a dependent that no longer blocks keeps its owner", () => {
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
