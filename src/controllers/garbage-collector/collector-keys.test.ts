import assert from "node:assert/strict";
import test from "node:test";
import { configMaps } from "../../api/core/v1/config-map.ts";
import type { KubeObject, ObjectMeta, OwnerReference } from "../../api/machinery/object.ts";
import type { Change } from "../runtime/controller.ts";
import { keyText, parseKey } from "../runtime/keys.ts";
import { collectorKeys, targetOf } from "./collector-keys.ts";

const ITSELF = "configmaps default/x";
const DEPENDENTS = "* u";
const OWNER_KEY = "apps/v1/ReplicaSet default/a";

const owner: OwnerReference = { apiVersion: "apps/v1", kind: "ReplicaSet", name: "a", uid: "1" };
const held: OwnerReference = { ...owner, blockOwnerDeletion: true };
const GOING = { deletionTimestamp: "2026-01-01T00:00:00Z" };
const WAITING = { ...GOING, finalizers: ["foregroundDeletion"] };

function anObject(metadata: Partial<ObjectMeta> = {}): KubeObject {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "x", namespace: "default", uid: "u", ...metadata } };
}

function added(metadata: Partial<ObjectMeta>): Change {
  return { is: "added", object: anObject(metadata) };
}

function updated(before: Partial<ObjectMeta>, now: Partial<ObjectMeta>): Change {
  return { is: "updated", object: anObject(now), previous: anObject(before) };
}

function deleted(metadata: Partial<ObjectMeta>): Change {
  return { is: "deleted", object: anObject(metadata) };
}

const ROWS: readonly { readonly it: string; readonly change: Change; readonly wakes: readonly string[] }[] = [
  { it: "a new object without owners", change: added({}), wakes: [] },
  { it: "a new object with an owner", change: added({ ownerReferences: [owner] }), wakes: [ITSELF] },
  { it: "a new object that is terminating", change: added({ ...GOING, ownerReferences: [owner] }), wakes: [] },
  { it: "a new object that waits already", change: added(WAITING), wakes: [ITSELF, DEPENDENTS] },
  { it: "a new object that is to leave orphans", change: added({ ...GOING, finalizers: ["orphan"] }), wakes: [ITSELF] },
  {
    it: "a change of something else",
    change: updated({ ownerReferences: [held] }, { ownerReferences: [{ ...held }], labels: { a: "b" } }),
    wakes: [],
  },
  { it: "a first owner", change: updated({}, { ownerReferences: [owner] }), wakes: [ITSELF] },
  { it: "the last owner being taken away", change: updated({ ownerReferences: [owner] }, {}), wakes: [] },
  { it: "an owner that was held back being taken away", change: updated({ ownerReferences: [held] }, {}), wakes: [OWNER_KEY] },
  {
    it: "an owner being held back no longer",
    change: updated({ ownerReferences: [held] }, { ownerReferences: [owner] }),
    wakes: [ITSELF, OWNER_KEY],
  },
  { it: "an object that begins to go", change: updated({ ownerReferences: [owner] }, { ...GOING, ownerReferences: [owner] }), wakes: [] },
  { it: "an object that begins to wait", change: updated({ finalizers: [] }, WAITING), wakes: [ITSELF, DEPENDENTS] },
  { it: "an object that still waits", change: updated(WAITING, { ...WAITING, labels: { a: "b" } }), wakes: [] },
  {
    it: "an object that has left its orphans and waits now",
    change: updated({ ...GOING, finalizers: ["orphan", "foregroundDeletion"] }, WAITING),
    wakes: [ITSELF],
  },
  { it: "a deletion", change: deleted({ ownerReferences: [owner] }), wakes: [DEPENDENTS] },
  { it: "a deletion that an owner waits for", change: deleted({ ownerReferences: [held] }), wakes: [DEPENDENTS, OWNER_KEY] },
  {
    it: "another object of the same name",
    change: updated({ uid: "before", ownerReferences: [held] }, { ownerReferences: [owner] }),
    wakes: ["* before", OWNER_KEY, ITSELF],
  },
];

for (const { it, change, wakes } of ROWS) {
  test(`${it} queues ${wakes.length === 0 ? "nothing" : wakes.join(", ")}`, () => {
    assert.deepEqual([...collectorKeys(change, configMaps)].map(keyText), wakes);
  });
}

test("a key round-trips as text", () => {
  assert.deepEqual(targetOf(parseKey(ITSELF)), { is: "object", kind: "configmaps" });
  assert.deepEqual(targetOf(parseKey(DEPENDENTS)), { is: "dependents", ownerUid: "u" });
  assert.deepEqual(targetOf(parseKey(OWNER_KEY)), { is: "owner", group: "apps", kind: "ReplicaSet" });
  assert.deepEqual(targetOf(parseKey("v1/Node n")), { is: "owner", group: "", kind: "Node" });
});
