import assert from "node:assert/strict";
import { test } from "node:test";
import { startServer, type StartedServer } from "../testing/server.ts";

const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
const EVENTS = "/api/v1/namespaces/default/events";
const PODS = "/api/v1/namespaces/default/pods";
const NAMESPACES = "/api/v1/namespaces";
const POD = { containers: [{ name: "c", image: "i" }] };

async function withConfigMap(): Promise<StartedServer> {
  const server = await startServer();
  await server.call("POST", CONFIG_MAPS, { metadata: { name: "a" } });
  return server;
}

test("delete options come from the body alone if there is one", async () => {
  await using server = await withConfigMap();

  await server.call("DELETE", `${CONFIG_MAPS}/a?dryRun=All&propagationPolicy=Orphan`, { propagationPolicy: "Background" });

  assert.equal((await server.call("GET", `${CONFIG_MAPS}/a`)).code, 404);
});

for (const [what, body, code, message] of [
  ["of any version", { kind: "DeleteOptions", apiVersion: "zz/v1" }, 200, undefined],
  ["without any field", "null", 200, undefined],
  ["with unknown fields", { zz: 1 }, 200, undefined],
  [
    "of another kind",
    { kind: "Zz", apiVersion: "v1" },
    400,
    'no kind "Zz" is registered for version "v1" in scheme "pkg/runtime/scheme.go:111"',
  ],
  [
    "with a field of the wrong type",
    { gracePeriodSeconds: "x" },
    400,
    "json: cannot unmarshal string into Go struct field DeleteOptions.gracePeriodSeconds of type int64",
  ],
  ["that are truncated", "{", 400, "couldn't get version/kind; json parse error: unexpected end of JSON input"],
] as const) {
  test(`delete options ${what} are answered with ${code}`, async () => {
    await using server = await withConfigMap();

    const answer = await server.call("DELETE", `${CONFIG_MAPS}/a`, body);

    assert.deepEqual([answer.code, answer.body.message, answer.headers["warning"]], [code, message, undefined]);
  });
}

for (const [path, name] of [
  [CONFIG_MAPS, 'ConfigMap "x": the UID in the precondition'],
  [NAMESPACES, 'namespaces "x": Precondition failed: UID in precondition'],
] as const) {
  test(`a failed delete precondition returns upstream's message: ${name}`, async () => {
    await using server = await startServer();
    await server.call("POST", path, { metadata: { name: "x" } });

    const { code, body } = await server.call("DELETE", `${path}/x`, { preconditions: { uid: "u" } });

    assert.equal(code, 409);
    assert.ok(body.message.startsWith(`Operation cannot be fulfilled on ${name}`), body.message);
  });
}

test("a Pod deleted without a grace period is first seen terminating, and the delete returns that state", async () => {
  await using server = await startServer();
  const watch = await server.watch(`${PODS}?watch=true`);
  await server.call("POST", PODS, { metadata: { name: "p" }, spec: POD });

  const { body } = await server.call("DELETE", `${PODS}/p`);
  await server.clock.settle();

  assert.equal(body.kind, "Pod");
  assert.deepEqual(
    watch.events.map(({ type, object: { metadata } }) => [type, metadata.generation, metadata.deletionGracePeriodSeconds]),
    [
      ["ADDED", 1, undefined],
      ["MODIFIED", 2, 0],
      ["DELETED", 2, 0],
    ],
  );
});

test("a grace period that has begun can be shortened, down to 0", async () => {
  await using server = await startServer();
  await server.call("POST", PODS, { metadata: { name: "p" }, spec: { ...POD, nodeName: "n" } });
  const seconds: unknown[] = [];

  for (const query of ["", "?gracePeriodSeconds=60", "?gracePeriodSeconds=5", "?gracePeriodSeconds=0"]) {
    const { body } = await server.call("DELETE", `${PODS}/p${query}`);
    seconds.push(body.metadata.deletionGracePeriodSeconds);
  }

  assert.deepEqual(seconds, [30, 30, 5, 0]);
  assert.equal((await server.call("GET", `${PODS}/p`)).code, 404);
});

test("a dry run of a delete returns the object and keeps it", async () => {
  await using server = await startServer();
  await server.call("POST", PODS, { metadata: { name: "p" }, spec: POD });

  const { body } = await server.call("DELETE", `${PODS}/p?dryRun=All`);

  assert.equal(body.metadata.deletionGracePeriodSeconds, 0);
  assert.equal((await server.call("GET", `${PODS}/p`)).body.metadata.deletionTimestamp, undefined);
});

test("events have no dependents to wait for", async () => {
  await using server = await startServer();
  await server.call("POST", EVENTS, { metadata: { name: "e" }, involvedObject: { namespace: "default" } });

  const { body } = await server.call("DELETE", `${EVENTS}/e?propagationPolicy=Foreground`);

  assert.deepEqual([body.kind, body.status], ["Status", "Success"]);
});

test("a namespace deleted with orphanDependents=false gets foreground deletion, and a second delete changes nothing", async () => {
  await using server = await startServer();
  await server.call("POST", NAMESPACES, { metadata: { name: "n" } });

  const first = await server.call("DELETE", `${NAMESPACES}/n?orphanDependents=false`);
  const second = await server.call("DELETE", `${NAMESPACES}/n?propagationPolicy=Background`);

  assert.deepEqual([first.code, first.body.metadata.finalizers], [202, ["foregroundDeletion"]]);
  assert.deepEqual([second.code, second.body.metadata.finalizers], [200, ["foregroundDeletion"]]);
});

test("deletecollection returns the deleted objects in list order, in their last state", async () => {
  await using server = await startServer();
  for (const name of ["c", "a", "b"]) await server.call("POST", CONFIG_MAPS, { metadata: { name, finalizers: ["example.com/f"] } });

  const { body } = await server.call("DELETE", CONFIG_MAPS);

  assert.deepEqual(
    body.items.map(({ metadata }: { metadata: Record<string, unknown> }) => [metadata["name"], metadata["deletionTimestamp"]]),
    [
      ["a", undefined],
      ["b", undefined],
      ["c", undefined],
    ],
  );
});
