import assert from "node:assert/strict";
import { test } from "node:test";
import { ageColumn, nameColumn } from "../../../api/machinery/columns.ts";
import type { KubeObject, ObjectMeta } from "../../../api/machinery/object.ts";
import { defineResource, type Resource } from "../../../api/machinery/resource.ts";
import { startServer } from "../../testing/server.ts";
import { isReadyToGo, planDeletion, type DeleteOptions } from "./deletion.ts";

const NOW = Date.UTC(2026, 0, 1);
const NOW_TEXT = "2026-01-01T00:00:00Z";

const plain = defineResource({
  kind: "Widget",
  plural: "widgets",
  singular: "widget",
  scope: "Namespaced",
  served: [{ group: "example.com", version: "v1", schema: "x" }],
  columns: [nameColumn, ageColumn],
});
const orphaning: Resource = { ...plain, defaultPropagation: "Orphan" };
const graceful: Resource = { ...plain, gracePeriodSeconds: (_object, requested) => requested ?? 30 };

type Planned = "wait" | { readonly write: Partial<ObjectMeta> } | { readonly remove: Partial<ObjectMeta> };

function planned(resource: Resource, metadata: Partial<ObjectMeta>, options: DeleteOptions): Planned {
  const object: KubeObject = { apiVersion: "example.com/v1", kind: "Widget", metadata: { name: "a", ...metadata } };
  const plan = planDeletion(resource, object, options, NOW);
  if (plan.outcome === "wait") return "wait";
  const { name: _name, ...shown } = plan.object.metadata;
  return plan.outcome === "write" ? { write: shown } : { remove: shown };
}

const going = { deletionTimestamp: NOW_TEXT, deletionGracePeriodSeconds: 0 };

const rows: readonly [title: string, Resource, Partial<ObjectMeta>, DeleteOptions, expected: Planned][] = [
  ["nothing holds it: it goes", plain, {}, {}, { remove: {} }],
  ["background is the same", plain, {}, { propagationPolicy: "Background" }, { remove: {} }],
  ["a finalizer holds it", plain, { finalizers: ["x"] }, {}, { write: { finalizers: ["x"], ...going } }],
  ["a second time nothing changes", plain, { finalizers: ["x"], ...going }, {}, "wait"],
  ["orphan waits for the garbage collector", plain, {}, { propagationPolicy: "Orphan" }, { write: { finalizers: ["orphan"], ...going } }],
  ["foreground does, too", plain, {}, { propagationPolicy: "Foreground" }, { write: { finalizers: ["foregroundDeletion"], ...going } }],
  ["the old word for orphan", plain, {}, { orphanDependents: true }, { write: { finalizers: ["orphan"], ...going } }],
  ["and against it", orphaning, {}, { orphanDependents: false }, { remove: {} }],
  ["a kind that orphans by default", orphaning, {}, {}, { write: { finalizers: ["orphan"], ...going } }],
  ["an orphan finalizer of before counts", plain, { finalizers: ["orphan"] }, {}, { write: { finalizers: ["orphan"], ...going } }],
  ["unless the options say otherwise", plain, { finalizers: ["orphan"] }, { propagationPolicy: "Background" }, { remove: {} }],
  [
    "changed to another policy while it waits",
    plain,
    { finalizers: ["x", "orphan"], ...going },
    { propagationPolicy: "Foreground" },
    { write: { ...going, finalizers: ["x", "foregroundDeletion"] } },
  ],
  ["the generation grows", plain, { generation: 3, finalizers: ["x"] }, {}, { write: { generation: 4, finalizers: ["x"], ...going } }],
  ["a grace period", graceful, {}, {}, { write: { deletionTimestamp: "2026-01-01T00:00:30Z", deletionGracePeriodSeconds: 30 } }],
  ["none: it is seen going before it is gone", graceful, {}, { gracePeriodSeconds: 0 }, { write: going }],
  ["none, but a finalizer", graceful, { finalizers: ["x"] }, { gracePeriodSeconds: 0 }, { write: { finalizers: ["x"], ...going } }],
  [
    "less than nothing is one second",
    graceful,
    {},
    { gracePeriodSeconds: -1 },
    { write: { deletionTimestamp: "2026-01-01T00:00:01Z", deletionGracePeriodSeconds: 1 } },
  ],
  [
    "it can be made shorter",
    graceful,
    { deletionTimestamp: "2026-01-01T00:00:30Z", deletionGracePeriodSeconds: 30 },
    { gracePeriodSeconds: 5 },
    { write: { deletionTimestamp: "2026-01-01T00:00:05Z", deletionGracePeriodSeconds: 5 } },
  ],
  [
    "not longer",
    graceful,
    { deletionTimestamp: "2026-01-01T00:00:30Z", deletionGracePeriodSeconds: 30 },
    { gracePeriodSeconds: 60 },
    "wait",
  ],
  [
    "and ended",
    graceful,
    { deletionTimestamp: "2026-01-01T00:00:30Z", deletionGracePeriodSeconds: 30 },
    { gracePeriodSeconds: 0 },
    { write: going },
  ],
];

for (const [title, resource, metadata, options, expected] of rows) {
  test(`a delete decides: ${title}`, () => {
    assert.deepEqual(planned(resource, metadata, options), expected);
  });
}

test("an object goes when it is going and nothing holds it any more", () => {
  const is = (resource: Resource, metadata: Partial<ObjectMeta>) =>
    isReadyToGo(resource, { apiVersion: "v1", kind: "Widget", metadata: { name: "a", ...metadata } });

  assert.equal(is(plain, {}), false);
  assert.equal(is(plain, going), true);
  assert.equal(is(plain, { ...going, finalizers: ["x"] }), false);
  assert.equal(is(graceful, { ...going, deletionGracePeriodSeconds: 5 }), false);
  assert.equal(is(graceful, going), true);
});

const MAPS = "/api/v1/namespaces/default/configmaps";
const MERGE = { "content-type": "application/merge-patch+json" };

test("taking away the last finalizer of an object that is going deletes it", async () => {
  await using server = await startServer();
  await server.call("POST", MAPS, { metadata: { name: "a", finalizers: ["example.com/x", "example.com/y"] } });
  const watch = await server.watch(`${MAPS}?watch=1`);
  await server.clock.settle();

  const deleted = await server.call("DELETE", `${MAPS}/a`);
  assert.deepEqual([deleted.code, deleted.body.metadata.deletionTimestamp], [200, NOW_TEXT]);
  await server.call("PATCH", `${MAPS}/a`, { metadata: { finalizers: ["example.com/y"] } }, MERGE);
  assert.equal((await server.call("GET", `${MAPS}/a`)).code, 200);
  const last = await server.call("PATCH", `${MAPS}/a`, { metadata: { finalizers: null } }, MERGE);

  assert.equal(last.code, 200, last.text);
  assert.equal((await server.call("GET", `${MAPS}/a`)).code, 404);
  assert.deepEqual(
    watch.events.map(({ type }) => type),
    ["ADDED", "MODIFIED", "MODIFIED", "DELETED"],
  );
  assert.equal(Number(watch.events[3]?.object.metadata.resourceVersion), await server.store.currentRevision());
});

test("a collection is deleted as far as its selector goes", async () => {
  await using server = await startServer();
  for (const [name, colour] of Object.entries({ a: "red", b: "blue", c: "red" })) {
    await server.call("POST", MAPS, { metadata: { name, labels: { colour } } });
  }

  const { code, body } = await server.call("DELETE", `${MAPS}?labelSelector=colour%3Dred`);

  assert.equal(code, 200);
  assert.deepEqual(
    body.items.map(({ metadata }: KubeObject) => metadata.name),
    ["a", "c"],
  );
  assert.deepEqual(
    (await server.call("GET", MAPS)).body.items.map(({ metadata }: KubeObject) => metadata.name),
    ["b"],
  );
});
