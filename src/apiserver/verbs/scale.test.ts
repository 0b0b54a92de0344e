import assert from "node:assert/strict";
import { test } from "node:test";
import { startServer, type StartedServer } from "../testing/server.ts";

const DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments";
const D = `${DEPLOYMENTS}/d`;
const MERGE = { "content-type": "application/merge-patch+json" };
const APPLY = { "content-type": "application/apply-patch+yaml" };

async function withDeployment(): Promise<StartedServer> {
  const server = await startServer();
  const template = { metadata: { labels: { app: "x" } }, spec: { containers: [{ name: "c", image: "i" }] } };
  const spec = { replicas: 2, selector: { matchLabels: { app: "x" } }, template };
  await server.call("POST", `${DEPLOYMENTS}?fieldManager=maker`, { metadata: { name: "d" }, spec });
  return server;
}

/** Owners of the replicas: manager, operation, subresource. */
async function ownersOfReplicas(server: StartedServer): Promise<unknown> {
  const { body } = await server.call("GET", D);
  const entries = body.metadata.managedFields as Record<string, Record<string, Record<string, unknown>>>[];
  return entries
    .filter(({ fieldsV1 }) => fieldsV1?.["f:spec"] !== undefined && "f:replicas" in fieldsV1["f:spec"])
    .map(({ manager, operation, subresource, apiVersion }) => [manager, operation, subresource, apiVersion]);
}

test("a write through scale makes the writer the owner of replicas, with subresource scale", async () => {
  await using server = await withDeployment();

  const { code } = await server.call("PATCH", `${D}/scale?fieldManager=scaler`, { spec: { replicas: 3 } }, MERGE);

  assert.equal(code, 200);
  assert.deepEqual(await ownersOfReplicas(server), [["scaler", "Update", "scale", "apps/v1"]]);
});

test("an applied Scale conflicts with the owner of replicas, and can be forced", async () => {
  await using server = await withDeployment();
  const scale = "{apiVersion: autoscaling/v1, kind: Scale, metadata: {name: d}, spec: {replicas: 5}}";

  const refused = await server.call("PATCH", `${D}/scale?fieldManager=applier`, scale, APPLY);
  const forced = await server.call("PATCH", `${D}/scale?fieldManager=applier&force=true`, scale, APPLY);

  assert.equal(refused.code, 409);
  assert.match(refused.body.message, /conflict with "maker" .*: \.spec\.replicas$/);
  assert.deepEqual([forced.code, forced.body.spec.replicas], [200, 5]);
  assert.deepEqual(await ownersOfReplicas(server), [["applier", "Apply", "scale", "apps/v1"]]);
});

test("a Scale with negative replicas is rejected with upstream's message", async () => {
  await using server = await withDeployment();

  const { code, body } = await server.call("PUT", `${D}/scale`, { metadata: { name: "d" }, spec: { replicas: -1 } });

  assert.deepEqual(
    [code, body.message],
    [422, 'Scale.autoscaling "d" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0'],
  );
});

for (const [what, metadata, code] of [
  ["with another name", { name: "e" }, 400],
  ["without a name", {}, 400],
  ["with another namespace", { name: "d", namespace: "e" }, 400],
  ["with another uid", { name: "d", uid: "u" }, 409],
  ["with an old resourceVersion", { name: "d", resourceVersion: "1" }, 409],
  ["with matching metadata", { name: "d" }, 200],
] as const) {
  test(`a Scale ${what} is answered with ${code}`, async () => {
    await using server = await withDeployment();

    const answer = await server.call("PUT", `${D}/scale`, { metadata, spec: { replicas: 3 } });

    assert.equal(answer.code, code);
  });
}
