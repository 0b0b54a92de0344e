import assert from "node:assert/strict";
import { test } from "node:test";
import { startServer, type StartedServer } from "../testing/server.ts";

const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
const DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments";
const LEASES = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
const MERGE = { "content-type": "application/merge-patch+json" };
const OTHER_UID = "11111111-1111-1111-1111-111111111111";

interface Created {
  readonly metadata: Readonly<Record<string, string>>;
}

async function withConfigMap(): Promise<StartedServer & { readonly created: Created }> {
  const server = await startServer();
  const { body } = await server.call("POST", CONFIG_MAPS, { metadata: { name: "a" }, data: { key: "1" } });
  return Object.assign(server, { created: body as Created });
}

for (const [what, metadata, code, message] of [
  ["without a name", { name: "" }, 400, "the name of the object (a based on URL) was undeterminable: name must be provided"],
  ["with another name", { name: "b" }, 400, "the name of the object (b) does not match the name on the URL (a)"],
  [
    "with another namespace",
    { namespace: "b" },
    400,
    "the namespace of the provided object does not match the namespace sent on the request",
  ],
  ["with an invalid resourceVersion", { resourceVersion: "abc" }, 500, 'strconv.ParseUint: parsing "abc": invalid syntax'],
  [
    "with an old resourceVersion",
    { resourceVersion: "1" },
    409,
    'Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply your changes to the latest version and try again',
  ],
] as const) {
  test(`an update ${what} is rejected with ${code}`, async () => {
    await using server = await withConfigMap();

    const answer = await server.call("PUT", `${CONFIG_MAPS}/a`, { metadata: { ...server.created.metadata, ...metadata } });

    assert.deepEqual([answer.code, answer.body.message], [code, message]);
  });
}

test("another uid is a conflict in an update and an immutable field in a patch", async () => {
  await using server = await withConfigMap();

  const put = await server.call("PUT", `${CONFIG_MAPS}/a`, { metadata: { name: "a", uid: OTHER_UID } });
  const patched = await server.call("PATCH", `${CONFIG_MAPS}/a`, { metadata: { uid: OTHER_UID } }, MERGE);

  assert.deepEqual([put.code, put.body.reason], [409, "Conflict"]);
  assert.deepEqual([patched.code, patched.body.details.causes[0].field], [422, "metadata.uid"]);
});

test("the namespace of a cluster-scoped object is dropped", async () => {
  await using server = await startServer();
  await server.call("POST", "/api/v1/nodes", { metadata: { name: "n" } });

  const answer = await server.call("PUT", "/api/v1/nodes/n", { metadata: { name: "n", namespace: "default" } });

  assert.deepEqual([answer.code, answer.body.metadata.namespace], [200, undefined]);
});

test("timestamps that clients send in metadata are ignored", async () => {
  await using server = await withConfigMap();

  const { body } = await server.call("PUT", `${CONFIG_MAPS}/a`, { metadata: { name: "a", creationTimestamp: "2020-01-01T00:00:00Z" } });

  assert.equal(body.metadata.creationTimestamp, server.created.metadata["creationTimestamp"]);
});

test("a kind whose updates require a resourceVersion rejects patches that remove it, too", async () => {
  await using server = await startServer();
  await server.call("POST", LEASES, { metadata: { name: "l" }, spec: { holderIdentity: "me" } });
  const message = 'leases.coordination.k8s.io "l" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update';

  const put = await server.call("PUT", `${LEASES}/l`, { metadata: { name: "l" }, spec: { holderIdentity: "you" } });
  const patched = await server.call("PATCH", `${LEASES}/l`, { metadata: { resourceVersion: null } }, MERGE);

  assert.deepEqual([put.code, put.body.message, patched.code, patched.body.message], [422, message, 422, message]);
});

test("an update that may create ignores its resourceVersion, but rejects a uid", async () => {
  await using server = await startServer();

  const answer = await server.call("PUT", `${LEASES}/l`, { metadata: { name: "l", resourceVersion: "7" } });
  const refused = await server.call("PUT", `${LEASES}/m`, { metadata: { name: "m", uid: OTHER_UID } });

  assert.equal(answer.code, 201);
  assert.deepEqual([refused.code, refused.body.reason], [409, "Conflict"]);
});

test("annotations can be changed through status without a new generation", async () => {
  await using server = await startServer();
  const template = { metadata: { labels: { app: "x" } }, spec: { containers: [{ name: "c", image: "i" }] } };
  await server.call("POST", DEPLOYMENTS, { metadata: { name: "d" }, spec: { selector: { matchLabels: { app: "x" } }, template } });

  const status = await server.call("PATCH", `${DEPLOYMENTS}/d/status`, { metadata: { annotations: { a: "b" } } }, MERGE);
  const itself = await server.call("PATCH", `${DEPLOYMENTS}/d`, { metadata: { annotations: { a: "c" } } }, MERGE);

  assert.deepEqual([status.body.metadata.generation, itself.body.metadata.generation], [1, 2]);
});

test("the update that removes the last finalizer returns the last stored resourceVersion", async () => {
  await using server = await startServer();
  await server.call("POST", CONFIG_MAPS, { metadata: { name: "f", finalizers: ["example.com/f"] } });
  const going = await server.call("DELETE", `${CONFIG_MAPS}/f`);

  const gone = await server.call("PATCH", `${CONFIG_MAPS}/f`, { metadata: { finalizers: null } }, MERGE);

  assert.deepEqual([gone.code, gone.body.metadata.resourceVersion], [200, going.body.metadata.resourceVersion]);
  assert.equal((await server.call("GET", `${CONFIG_MAPS}/f`)).code, 404);
});

test("an empty managedFields list clears all ownership, and omitting the list does not", async () => {
  await using server = await withConfigMap();

  const removed = await server.call("PATCH", `${CONFIG_MAPS}/a`, { metadata: { managedFields: null } }, MERGE);
  const emptied = await server.call("PUT", `${CONFIG_MAPS}/a`, { metadata: { name: "a", managedFields: [] } });

  assert.equal(removed.body.metadata.managedFields.length, 1);
  assert.equal(emptied.body.metadata.managedFields, undefined);
});

test("applying the same again writes nothing, however late it is", async () => {
  await using server = await startServer();
  const secret = "{apiVersion: v1, kind: Secret, stringData: {k: v}, metadata: {name: s}}";
  const apply = () =>
    server.call("PATCH", "/api/v1/namespaces/default/secrets/s?fieldManager=a", secret, { "content-type": "application/apply-patch+yaml" });
  await apply();
  const first = await apply();
  await server.clock.advance(5_000);

  const second = await apply();

  assert.equal(second.body.metadata.resourceVersion, first.body.metadata.resourceVersion);
});

const OWNER = { apiVersion: "v1", kind: "X", name: "x", uid: "u1" };

test("a create with a duplicate owner reference keeps it once, with a warning", async () => {
  await using server = await startServer();

  const answer = await server.call("POST", CONFIG_MAPS, { metadata: { name: "o", ownerReferences: [OWNER, OWNER] } });

  assert.deepEqual(answer.body.metadata.ownerReferences, [OWNER]);
  assert.match(String(answer.headers["warning"]), /ownerReferences contains duplicate entries; .* duplicate UID\(s\) observed: u1"/);
});

test("a patch with a duplicate owner reference keeps it once, with a warning of its own", async () => {
  await using server = await withConfigMap();
  const patch = [{ op: "add", path: "/metadata/ownerReferences", value: [OWNER, OWNER] }];

  const answer = await server.call("PATCH", `${CONFIG_MAPS}/a`, patch, { "content-type": "application/json-patch+json" });

  assert.deepEqual(answer.body.metadata.ownerReferences, [OWNER]);
  assert.match(String(answer.headers["warning"]), /ownerReferences contains duplicate entries after mutating admission happens; /);
});
