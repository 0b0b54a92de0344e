import assert from "node:assert/strict";
import { test } from "node:test";
import { onlyPlugins } from "../../testing/admission.ts";
import { startServer, type StartedServer } from "../../testing/server.ts";

const CLASSES = "/apis/storage.k8s.io/v1/storageclasses";
const CLAIMS = "/api/v1/namespaces/default/persistentvolumeclaims";
const DEFAULT = "storageclass.kubernetes.io/is-default-class";

const start = () => startServer({ config: { admission: onlyPlugins("DefaultStorageClass") } });

async function addClass(server: StartedServer, name: string, annotations: Readonly<Record<string, string>>): Promise<void> {
  const { code } = await server.call("POST", CLASSES, { metadata: { name, annotations }, provisioner: "x/y" });
  assert.equal(code, 201);
}

let claims = 0;

async function classOf(server: StartedServer, spec: object = {}, annotations: Readonly<Record<string, string>> = {}): Promise<unknown> {
  const metadata = { name: `c${claims++}`, annotations };
  const { code, body } = await server.call("POST", CLAIMS, {
    metadata,
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } }, ...spec },
  });
  assert.equal(code, 201);
  return body.spec.storageClassName;
}

test("a claim without a class gets the newest default class; ties are resolved by name", async () => {
  await using server = await start();

  assert.equal(await classOf(server), undefined);
  await addClass(server, "none", { [DEFAULT]: "yes" });
  assert.equal(await classOf(server), undefined);
  await addClass(server, "b", { "storageclass.beta.kubernetes.io/is-default-class": "true" });
  await addClass(server, "c", { [DEFAULT]: "true" });
  assert.equal(await classOf(server), "b");
  await server.clock.advance(1_000);
  await addClass(server, "d", { [DEFAULT]: "true" });
  assert.equal(await classOf(server), "d");
});

test("a StorageClass that is no longer the default is not assigned", async () => {
  await using server = await start();
  await addClass(server, "a", { [DEFAULT]: "true" });
  await addClass(server, "b", { [DEFAULT]: "true" });
  assert.equal(await classOf(server), "a");

  const patch = { metadata: { annotations: { [DEFAULT]: "false" } } };
  await server.call("PATCH", `${CLASSES}/a`, patch, { "content-type": "application/merge-patch+json" });
  assert.equal(await classOf(server), "b");
  await server.call("DELETE", `${CLASSES}/b`);
  assert.equal(await classOf(server), undefined);
});

test("a claim that sets a class, the empty class or the legacy annotation keeps it", async () => {
  await using server = await start();
  await addClass(server, "a", { [DEFAULT]: "true" });

  assert.equal(await classOf(server, { storageClassName: "own" }), "own");
  assert.equal(await classOf(server, { storageClassName: "" }), "");
  assert.equal(await classOf(server, {}, { "volume.beta.kubernetes.io/storage-class": "own" }), undefined);
});
