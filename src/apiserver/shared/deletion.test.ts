import assert from "node:assert/strict";
import { test } from "node:test";
import { ageColumn, nameColumn } from "../../api/machinery/columns.ts";
import type { KubeObject, ObjectMeta } from "../../api/machinery/object.ts";
import { defineResource, type Resource } from "../../api/machinery/resource.ts";
import { startServer } from "../testing/server.ts";
import type { DeleteOptions } from "../framework/storage/delete-options.ts";
import { isReadyForRemoval, planDeletion } from "./deletion.ts";

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

const terminating = { deletionTimestamp: NOW_TEXT, deletionGracePeriodSeconds: 0 };

const rows: readonly [title: string, Resource, Partial<ObjectMeta>, DeleteOptions, expected: Planned][] = [
  ["an object without finalizers is removed", plain, {}, {}, { remove: {} }],
  ["background propagation removes the object", plain, {}, { propagationPolicy: "Background" }, { remove: {} }],
  [
    "an object with a finalizer is marked as terminating",
    plain,
    { finalizers: ["x"] },
    {},
    { write: { finalizers: ["x"], ...terminating } },
  ],
  ["a second delete changes nothing", plain, { finalizers: ["x"], ...terminating }, {}, "wait"],
  [
    "orphan propagation adds its finalizer",
    plain,
    {},
    { propagationPolicy: "Orphan" },
    { write: { finalizers: ["orphan"], ...terminating } },
  ],
  [
    "foreground propagation adds its finalizer",
    plain,
    {},
    { propagationPolicy: "Foreground" },
    { write: { finalizers: ["foregroundDeletion"], ...terminating } },
  ],
  [
    "orphanDependents=true means orphan propagation",
    plain,
    {},
    { orphanDependents: true },
    { write: { finalizers: ["orphan"], ...terminating } },
  ],
  ["orphanDependents=false overrides a kind that orphans by default", orphaning, {}, { orphanDependents: false }, { remove: {} }],
  ["a kind that orphans by default gets the orphan finalizer", orphaning, {}, {}, { write: { finalizers: ["orphan"], ...terminating } }],
  ["an existing orphan finalizer is kept", plain, { finalizers: ["orphan"] }, {}, { write: { finalizers: ["orphan"], ...terminating } }],
  [
    "background propagation removes an existing orphan finalizer",
    plain,
    { finalizers: ["orphan"] },
    { propagationPolicy: "Background" },
    { remove: {} },
  ],
  [
    "a second delete changes the propagation policy",
    plain,
    { finalizers: ["x", "orphan"], ...terminating },
    { propagationPolicy: "Foreground" },
    { write: { ...terminating, finalizers: ["x", "foregroundDeletion"] } },
  ],
  [
    "marking as terminating increments the generation",
    plain,
    { generation: 3, finalizers: ["x"] },
    {},
    { write: { generation: 4, finalizers: ["x"], ...terminating } },
  ],
  [
    "the default grace period sets deletionTimestamp",
    graceful,
    {},
    {},
    { write: { deletionTimestamp: "2026-01-01T00:00:30Z", deletionGracePeriodSeconds: 30 } },
  ],
  ["grace period 0 marks the object as terminating first", graceful, {}, { gracePeriodSeconds: 0 }, { write: terminating }],
  [
    "grace period 0 with a finalizer marks the object as terminating",
    graceful,
    { finalizers: ["x"] },
    { gracePeriodSeconds: 0 },
    { write: { finalizers: ["x"], ...terminating } },
  ],
  [
    "a negative grace period means one second",
    graceful,
    {},
    { gracePeriodSeconds: -1 },
    { write: { deletionTimestamp: "2026-01-01T00:00:01Z", deletionGracePeriodSeconds: 1 } },
  ],
  [
    "a second delete shortens the grace period",
    graceful,
    { deletionTimestamp: "2026-01-01T00:00:30Z", deletionGracePeriodSeconds: 30 },
    { gracePeriodSeconds: 5 },
    { write: { deletionTimestamp: "2026-01-01T00:00:05Z", deletionGracePeriodSeconds: 5 } },
  ],
  [
    "a second delete does not extend the grace period",
    graceful,
    { deletionTimestamp: "2026-01-01T00:00:30Z", deletionGracePeriodSeconds: 30 },
    { gracePeriodSeconds: 60 },
    "wait",
  ],
  [
    "a second delete ends the grace period",
    graceful,
    { deletionTimestamp: "2026-01-01T00:00:30Z", deletionGracePeriodSeconds: 30 },
    { gracePeriodSeconds: 0 },
    { write: terminating },
  ],
];

for (const [title, resource, metadata, options, expected] of rows) {
  test(`plan of a delete: ${title}`, () => {
    assert.deepEqual(planned(resource, metadata, options), expected);
  });
}

test("an object is removed once it is terminating and no finalizer or grace period is left", () => {
  const is = (resource: Resource, metadata: Partial<ObjectMeta>) =>
    isReadyForRemoval(resource, { apiVersion: "v1", kind: "Widget", metadata: { name: "a", ...metadata } });

  assert.equal(is(plain, {}), false);
  assert.equal(is(plain, terminating), true);
  assert.equal(is(plain, { ...terminating, finalizers: ["x"] }), false);
  assert.equal(is(graceful, { ...terminating, deletionGracePeriodSeconds: 5 }), false);
  assert.equal(is(graceful, terminating), true);
});

const MAPS = "/api/v1/namespaces/default/configmaps";
const MERGE = { "content-type": "application/merge-patch+json" };

test("removing the last finalizer of a terminating object deletes it", async () => {
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

test("deletecollection deletes only the objects that its selector matches", async () => {
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
