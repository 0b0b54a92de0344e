import assert from "node:assert/strict";
import test from "node:test";
import { configMaps } from "../../api/core/v1/config-map.ts";
import type { KubeObject, ObjectMeta } from "../../api/machinery/object.ts";
import { conflict, notFound, StatusError } from "../../api/machinery/status-error.ts";
import type { Client } from "../../client/client.ts";
import { given } from "../../testing/given.ts";
import { deleteObject, patchReferences, removeFinalizer } from "./collector-writes.ts";
import { withoutOwners } from "./ownership.ts";
import { makeMap } from "./testing/owned-maps.ts";
import { stub } from "../../base/testing/stub.ts";

const RESOURCE = { group: "", plural: "configmaps" };
const CONFLICT = conflict(RESOURCE, "x");
const GONE = notFound(RESOURCE, "x");
const OWNERS = [{ apiVersion: "v1", kind: "ConfigMap", name: "a", uid: "1" }];

function anObject(metadata: Partial<ObjectMeta> = {}): KubeObject {
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "x", namespace: "default", uid: "u", resourceVersion: "7", ownerReferences: OWNERS, ...metadata },
  };
}

const ITEM = { kind: configMaps, object: anObject() };

/** A server with scripted responses; an error is thrown. */
function answering(...answers: readonly (Error | KubeObject | undefined)[]): { readonly write: Client; readonly asked: string[] } {
  const asked: string[] = [];
  const answer = (verb: string, options?: object): Promise<unknown> => {
    const next = answers[asked.push(options === undefined ? verb : `${verb} ${JSON.stringify(options)}`) - 1];
    return next instanceof Error ? Promise.reject(next) : Promise.resolve(next);
  };
  const write = {
    get: () => answer("get"),
    delete: (_kind: unknown, _key: unknown, options: object) => answer("delete", options),
    patch: (_kind: unknown, _key: unknown, { type }: { readonly type: string }) => answer(type),
  };
  return { write: stub<Client>(write), asked };
}

const FIRST = `delete {"propagationPolicy":"Background","preconditions":{"uid":"u","resourceVersion":"7"}}`;
const SECOND = `delete {"propagationPolicy":"Background","preconditions":{"uid":"u"}}`;

for (const { it, answers, asked } of [
  { it: "is done if the object is unchanged", answers: [undefined], asked: [FIRST] },
  { it: "is done if the object does not exist", answers: [GONE], asked: [FIRST] },
  {
    it: "is done if a write changed something else",
    answers: [CONFLICT, anObject({ resourceVersion: "8" }), undefined],
    asked: [FIRST, "get", SECOND],
  },
  { it: "is done if another object has the name", answers: [CONFLICT, anObject({ uid: "other" })], asked: [FIRST, "get"] },
  { it: "is done if the object was deleted meanwhile", answers: [CONFLICT, GONE], asked: [FIRST, "get"] },
]) {
  test(`a deletion ${it}`, async () => {
    const server = answering(...answers);
    await deleteObject(server.write, ITEM, "Background");
    assert.deepEqual(server.asked, asked);
  });
}

test("a deletion is decided again if the owners changed meanwhile", async () => {
  const server = answering(CONFLICT, anObject({ ownerReferences: [] }));
  await assert.rejects(deleteObject(server.write, ITEM, "Background"), CONFLICT);
});

test("a kind without strategic patches gets its references written as a whole", async () => {
  const server = answering(new StatusError("UnsupportedMediaType", "the body of the request was in an unknown format"), anObject());
  await patchReferences(server.write, ITEM, withoutOwners(ITEM.object, new Set(["1"])));
  assert.deepEqual(server.asked, ["strategic", "merge"]);
});

test("a finalizer of a deleted object need not be removed", async () => {
  const server = answering(GONE);
  await removeFinalizer(server.write, ITEM, "orphan");
  assert.deepEqual(server.asked, ["merge"]);
});

test("a finalizer added meanwhile is not lost with the removed one", async () => {
  await using cluster = await given();
  const { client } = cluster;
  const seen = await makeMap(client, "x", { finalizers: ["orphan"] });
  const value = { metadata: { finalizers: ["orphan", "example.com/keep"] } };
  await client.patch(configMaps, { namespace: "default", name: "x" }, { type: "merge", value });

  await assert.rejects(removeFinalizer(client, { kind: configMaps, object: seen }, "orphan"), { reason: "Conflict" });
  assert.deepEqual((await client.get(configMaps, { namespace: "default", name: "x" })).metadata.finalizers, value.metadata.finalizers);
});
