import assert from "node:assert/strict";
import { test } from "node:test";
import { controllerIdentity, KUBE_PROXY, KUBE_SCHEDULER, nodeIdentity, type IdentityName } from "../../api/identities.ts";
import type { KubeObject } from "../../api/machinery/object.ts";
import type { TransportEvent } from "../../api/machinery/transport.ts";
import { isReason } from "../../api/machinery/status-error.ts";
import { startGuardedServer, startServer } from "../testing/server.ts";
import { widget, widgetResource, widgetSchemas, WIDGETS } from "../testing/widget.ts";

const MAPS = { group: "", version: "v1", plural: "configmaps", namespace: "default" } as const;
const PATH = "/api/v1/namespaces/default/configmaps";

function map(name: string, data: Readonly<Record<string, string>> = {}) {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data };
}

/** Without managedFields, which are not part of the shared object. */
function withoutClaims(object: KubeObject): KubeObject {
  const { managedFields: _managedFields, ...metadata } = object.metadata;
  return { ...object, metadata };
}

test("the in-process transport answers every verb as HTTP does", async () => {
  await using server = await startServer();
  const transport = server.transport();
  const over = async (method: string, path: string) => withoutClaims((await server.call(method, path)).body);

  const created = await transport.request({ ...MAPS, verb: "create", object: map("a", { x: "1" }) });
  assert(created.is === "object" && created.created);
  assert.deepEqual(created.object, await over("GET", `${PATH}/a`));
  const updated = await transport.request({ ...MAPS, verb: "update", name: "a", object: map("a", { x: "2" }) });
  assert(updated.is === "object" && !updated.created);
  assert.deepEqual(updated.object, await over("GET", `${PATH}/a`));
  const patched = await transport.request({ ...MAPS, verb: "patch", name: "a", patch: { type: "merge", value: { data: { y: "3" } } } });
  assert(patched.is === "object");
  assert.deepEqual(patched.object, await over("GET", `${PATH}/a`));
  const listed = await transport.request({ ...MAPS, verb: "list" });
  const { body } = await server.call("GET", PATH);
  assert(listed.is === "list");
  assert.deepEqual([listed.metadata, listed.items.length], [body.metadata, body.items.length]);
  const dry = await transport.request({ ...MAPS, verb: "delete", name: "a", options: { dryRun: ["All"] } });
  assert.equal(dry.is, "value");
  const gone = await transport.request({ ...MAPS, verb: "deletecollection" });
  assert(gone.is === "list" && gone.items.length === 1);
  await assert.rejects(transport.request({ ...MAPS, verb: "get", name: "a" }), (error) => isReason(error, "NotFound"));
});

test("a response of the in-process transport is the one frozen copy that all readers share", async () => {
  await using server = await startServer();
  const transport = server.transport();
  const events: TransportEvent[] = [];
  await transport.watch(MAPS, { event: (event) => void events.push(event), ended() {} });
  await server.clock.settle();

  const created = await transport.request({ ...MAPS, verb: "create", object: map("a") });
  const got = await transport.request({ ...MAPS, verb: "get", name: "a" });
  const listed = await transport.request({ ...MAPS, verb: "list" });

  assert(created.is === "object" && got.is === "object" && listed.is === "list" && events[0]?.type === "ADDED");
  assert.equal(got.object, created.object);
  assert.equal(listed.items[0], created.object);
  assert.equal(events[0].object, created.object);
  assert(Object.isFrozen(created.object.metadata));
});

test("an in-process watch receives a write before the write is answered", async () => {
  await using server = await startServer();
  const transport = server.transport();
  const heard: string[] = [];
  await transport.watch(MAPS, { event: ({ type }) => void heard.push(type), ended: () => void heard.push("ended") });
  await server.clock.settle();

  for (const verb of ["create", "update", "delete"] as const) {
    await transport.request({
      ...MAPS,
      verb,
      ...(verb === "create" ? {} : { name: "a" }),
      object: verb === "delete" ? {} : map("a", { verb }),
    });
    heard.push(`${verb} answered`);
  }

  assert.deepEqual(heard, ["ADDED", "create answered", "MODIFIED", "update answered", "DELETED", "delete answered"]);
});

test("a watch from the newest version receives the next write, however soon it comes", async () => {
  await using server = await startServer();
  const transport = server.transport();
  const list = await transport.request({ ...MAPS, verb: "list" });
  const resourceVersion = list.is === "list" ? (list.metadata.resourceVersion ?? "") : "";
  const heard: string[] = [];

  await transport.watch({ ...MAPS, options: { resourceVersion } }, { event: ({ type }) => void heard.push(type), ended() {} });
  await transport.request({ ...MAPS, verb: "create", object: map("a", {}) });

  assert.deepEqual(heard, ["ADDED"]);
});

test("a watch that is stopped ends once and receives no further event", async () => {
  await using server = await startServer();
  const transport = server.transport();
  const heard: string[] = [];
  const watch = await transport.watch(MAPS, { event: ({ type }) => void heard.push(type), ended: () => void heard.push("ended") });
  await server.clock.settle();

  watch.stop();
  watch.stop();
  await transport.request({ ...MAPS, verb: "create", object: map("a") });
  await server.server.close();

  assert.deepEqual(heard, ["ended"]);
});

test("an added resource is served immediately; removing it ends its watches and keeps its stored objects", async () => {
  await using server = await startServer();
  const transport = server.transport();
  const place = { ...WIDGETS, namespace: "default" };
  const get = () => transport.request({ ...place, verb: "get", name: "a" });
  const isUnknown = (error: unknown) => isReason(error, "NotFound") && error.message === "the server could not find the requested resource";
  await assert.rejects(get(), isUnknown);
  const resource = widgetResource();
  let changes = 0;
  server.server.endpoints.onChange(() => changes++);

  server.server.endpoints.add(resource, widgetSchemas);
  await transport.request({ ...place, verb: "create", object: widget("a") });
  const watch = await server.watch("/apis/example.com/v1/widgets?watch=1");
  await server.clock.settle();
  assert.equal((await get()).is, "object");
  assert.match((await server.call("GET", "/apis")).text, /example\.com/);
  assert.throws(() => server.server.endpoints.add(widgetResource(), widgetSchemas), /Cannot serve example.com\/v1\/widgets twice/);

  server.server.endpoints.remove(resource);
  await assert.rejects(get(), isUnknown);
  assert.doesNotMatch((await server.call("GET", "/apis")).text, /example\.com/);
  assert.deepEqual([watch.isEnded, watch.isAborted, changes], [true, false, 2]);

  server.server.endpoints.add(widgetResource(), widgetSchemas);
  assert.equal((await get()).is, "object", "stored objects are kept");
});

const PARTS: readonly [who: IdentityName, verb: "list" | "create", plural: string, group: string, namespace: string, allowed: boolean][] = [
  [KUBE_SCHEDULER, "list", "pods", "", "", true],
  [KUBE_SCHEDULER, "list", "secrets", "", "", false],
  [KUBE_PROXY, "list", "services", "", "", true],
  [KUBE_PROXY, "list", "pods", "", "", false],
  [controllerIdentity("deployment-controller"), "list", "replicasets", "apps", "", true],
  [controllerIdentity("deployment-controller"), "create", "secrets", "", "default", false],
  [controllerIdentity("no-such-controller"), "list", "pods", "", "", false],
  [nodeIdentity("n1"), "list", "secrets", "", "", false],
];

for (const [user, verb, plural, group, namespace, allowed] of PARTS) {
  test(`${user.name} in this process ${allowed ? "may" : "may not"} ${verb} ${plural}`, async () => {
    await using server = await startGuardedServer();
    const transport = server.server.transport({ user, userAgent: "part" });
    const object = { apiVersion: "v1", kind: "Secret", metadata: { name: "s" } };
    const asked = transport.request({ verb, group, version: "v1", plural, namespace, ...(verb === "create" ? { object } : {}) });

    if (allowed) assert.equal((await asked).is, "list");
    else await assert.rejects(asked, (error) => isReason(error, "Forbidden"));
  });
}
