import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../../../api/machinery/object.ts";
import { onlyPlugins } from "../../testing/admission.ts";
import { startServer, type StartedServer } from "../../testing/server.ts";

const PODS = "/api/v1/namespaces/n/pods";
const ACCOUNTS = "/api/v1/namespaces/n/serviceaccounts";
const STRATEGIC = { "content-type": "application/strategic-merge-patch+json" };
const MIRROR = { annotations: { "kubernetes.io/config.mirror": "x" } };
const ENFORCING = { annotations: { "kubernetes.io/enforce-mountable-secrets": "true" } };

const SECRET = { name: "s" };

async function withAccounts(): Promise<StartedServer> {
  const server = await startServer({ config: { admission: onlyPlugins("ServiceAccount") } });
  await server.call("POST", "/api/v1/namespaces", { metadata: { name: "n" } });
  for (const object of [
    { metadata: { name: "default" } },
    { metadata: { name: "silent" }, automountServiceAccountToken: false },
    { metadata: { name: "puller" }, imagePullSecrets: [{ name: "a" }, { name: "b" }] },
    { metadata: { name: "strict", ...ENFORCING }, secrets: [SECRET], imagePullSecrets: [{ name: "a" }] },
  ]) {
    await server.call("POST", ACCOUNTS, object);
  }
  return server;
}

function pod(spec: object = {}, metadata: object = {}): JsonObject {
  return { metadata: { name: "p", ...metadata }, spec: { containers: [{ name: "c", image: "i" }], ...spec } };
}

for (const [what, spec, account, mounts, pulls] of [
  ["names no account", {}, "default", 1, undefined],
  ["names an account by the older field", { serviceAccount: "puller" }, "puller", 1, [{ name: "a" }, { name: "b" }]],
  ["has an account with automount disabled", { serviceAccountName: "silent" }, "silent", 0, undefined],
  ["enables automount with such an account", { serviceAccountName: "silent", automountServiceAccountToken: true }, "silent", 1, undefined],
  ["disables automount", { automountServiceAccountToken: false }, "default", 0, undefined],
  ["has its own secret for images", { serviceAccountName: "puller", imagePullSecrets: [SECRET] }, "puller", 1, [SECRET]],
  ["is of an account that checks secrets, and uses its own", { serviceAccountName: "strict" }, "strict", 1, [{ name: "a" }]],
] as const) {
  test(`a pod that ${what} runs as ${account} with ${mounts} token volume`, async () => {
    await using server = await withAccounts();

    const { code, body } = await server.call("POST", PODS, pod(spec));

    assert.equal(code, 201);
    const { serviceAccountName, serviceAccount, volumes = [], imagePullSecrets } = body.spec;
    assert.deepEqual([serviceAccountName, serviceAccount, volumes.length, imagePullSecrets], [account, account, mounts, pulls]);
  });
}

for (const [what, object, why] of [
  [
    "of an unknown account",
    pod({ serviceAccountName: "nope" }),
    'error looking up service account n/nope: serviceaccount "nope" not found',
  ],
  [
    "that mirrors, of an account",
    pod({ nodeName: "x", serviceAccountName: "default" }, MIRROR),
    "a mirror pod may not reference service accounts",
  ],
  [
    "that mirrors, with a secret",
    pod({ nodeName: "x", volumes: [{ name: "v", secret: { secretName: "s" } }] }, MIRROR),
    "a mirror pod may not reference secrets",
  ],
  [
    "that mirrors, with a token",
    pod({ nodeName: "x", volumes: [{ name: "v", projected: { sources: [{ serviceAccountToken: { path: "t" } }] } }] }, MIRROR),
    "a mirror pod may not use ServiceAccountToken volume projections",
  ],
  [
    "with a secret that its account does not name",
    pod({ serviceAccountName: "strict", volumes: [{ name: "v", secret: { secretName: "x" } }] }),
    'volume with secret.secretName="x" is not allowed because service account strict does not reference that secret',
  ],
] as const) {
  test(`the ServiceAccount plugin rejects a pod ${what}`, async () => {
    await using server = await withAccounts();

    const { code, body } = await server.call("POST", PODS, object);

    assert.deepEqual([code, body.message], [403, `pods "p" is forbidden: ${why}`]);
  });
}

test("the ServiceAccount plugin does not change a mirror pod", async () => {
  await using server = await withAccounts();

  const { code, body } = await server.call("POST", PODS, pod({ nodeName: "x" }, MIRROR));

  assert.deepEqual([code, body.spec.serviceAccountName, body.spec.volumes], [201, undefined, undefined]);
});

test("fields set by admission have no field manager", async () => {
  await using server = await withAccounts();

  const { body } = await server.call("POST", PODS, pod());

  const fields = Object.keys(body.metadata.managedFields[0].fieldsV1["f:spec"]);
  assert.deepEqual(
    ["f:containers", "f:serviceAccountName", "f:serviceAccount", "f:volumes"].map((field) => fields.includes(field)),
    [true, false, false, false],
  );
});

test("a pod in a new namespace waits for the default service account", async () => {
  await using server = await withAccounts();
  await server.call("POST", "/api/v1/namespaces", { metadata: { name: "new" } });

  const creating = server.call("POST", "/api/v1/namespaces/new/pods", pod());
  await server.call("POST", "/api/v1/namespaces/new/serviceaccounts", { metadata: { name: "default" } });

  assert.equal((await creating).code, 201);
});

test("an ephemeral container may reference only secrets of the pod's service account", async () => {
  await using server = await withAccounts();
  await server.call("POST", PODS, pod({ serviceAccountName: "strict" }));
  const add = (name: string, secret: string) => {
    const container = { name, image: "i", envFrom: [{ secretRef: { name: secret } }] };
    return server.call("PATCH", `${PODS}/p/ephemeralcontainers`, { spec: { ephemeralContainers: [container] } }, STRATEGIC);
  };

  const [own, other] = [await add("a", "s"), await add("b", "x")];

  assert.equal(own.code, 200);
  const why = 'ephemeral container b with envFrom referencing secret.secretName="x" is not allowed';
  assert.deepEqual([other.code, other.body.message], [500, `${why} because service account strict does not reference that secret`]);
  await server.call("DELETE", `${ACCOUNTS}/strict`);
  const gone = await add("later", "s");
  assert.deepEqual(
    [gone.code, gone.body.message],
    [403, 'pods "p" is forbidden: error looking up service account n/strict: serviceaccount "strict" not found'],
  );
});

test("the ServiceAccount plugin ignores other updates of a pod", async () => {
  await using server = await withAccounts();
  await server.call("POST", PODS, pod({ serviceAccountName: "puller" }));
  await server.call("DELETE", `${ACCOUNTS}/puller`);

  assert.equal((await server.call("PATCH", `${PODS}/p`, { metadata: { labels: { a: "b" } } }, STRATEGIC)).code, 200);
});
