import assert from "node:assert/strict";
import { test } from "node:test";
import type { ObjectMeta } from "../../api/machinery/object.ts";
import { ifHeldOrUnprotected, isHeld, isUnprotected } from "./protection.ts";

const OURS = { finalizer: "example.com/ours" };
const GOING = { deletionTimestamp: "2026-01-01T00:00:00Z" };

for (const [what, metadata, held, unprotected] of [
  ["without any finalizer", {}, false, true],
  ["with another's", { finalizers: ["a/b"] }, false, true],
  ["with ours", { finalizers: ["a/b", OURS.finalizer] }, false, false],
  ["that is terminating, with ours", { ...GOING, finalizers: [OURS.finalizer] }, true, false],
  ["that is terminating, with another's", { ...GOING, finalizers: ["a/b"] }, false, false],
] satisfies readonly [string, Partial<ObjectMeta>, boolean, boolean][]) {
  test(`an object ${what} is ${held ? "" : "not "}held, is ${unprotected ? "" : "not "}unprotected, and is queued in either case`, () => {
    const object = { apiVersion: "v1", kind: "Thing", metadata: { namespace: "default", name: "x", ...metadata } };

    assert.deepEqual([isHeld(object, OURS), isUnprotected(object, OURS)], [held, unprotected]);
    const keysOf = (is: "added" | "deleted") => [...ifHeldOrUnprotected(OURS)({ is, object }, undefined as never)];
    assert.deepEqual(keysOf("added"), held || unprotected ? [{ namespace: "default", name: "x" }] : []);
    assert.deepEqual(keysOf("deleted"), []);
  });
}
