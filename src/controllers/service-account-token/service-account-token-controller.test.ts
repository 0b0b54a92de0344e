import assert from "node:assert/strict";
import { test } from "node:test";
import { secrets } from "../../api/core/v1/secret.ts";
import { serviceAccounts } from "../../api/core/v1/service-account.ts";
import type { Secret, ServiceAccount } from "../../api/generated/core/v1.ts";
import { decodeBase64 } from "../../api/machinery/codec/base64.ts";
import { decodeBase64Url } from "../../api/machinery/codec/base64-url.ts";
import { decodeText } from "../../api/machinery/codec/json.ts";
import { TEST_SETTINGS } from "../../testing/fixtures/controller-settings.ts";
import { everyStepMayBeTheLast } from "../../testing/every-step.ts";
import { given, type Given } from "../../testing/given.ts";
import { rounds } from "../../testing/rounds.ts";
import { completedSecret } from "./completed-secret.ts";
import { serviceAccountTokenController } from "./service-account-token-controller.ts";

const CONTROLLER = serviceAccountTokenController(TEST_SETTINGS);
const KEY = { namespace: "default", name: "robot-token" };

const account = (name: string, listed: readonly string[] = []): ServiceAccount => ({
  apiVersion: "v1",
  kind: "ServiceAccount",
  metadata: { name, namespace: "default" },
  secrets: listed.map((secret) => ({ name: secret })),
});

const token = (name: string, of: string, more: Partial<Secret> = {}): Secret => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name, namespace: "default", annotations: { "kubernetes.io/service-account.name": of } },
  type: "kubernetes.io/service-account-token",
  ...more,
});

async function contentsOf(cluster: Given): Promise<Record<string, string>> {
  const { data = {} } = await cluster.client.get(secrets, KEY);
  return Object.fromEntries(Object.entries(data).map(([name, value]) => [name, decodeText(decodeBase64(value))]));
}

test("a token Secret gets a token of its ServiceAccount, the CA certificate, its namespace and the account's uid, once", async () => {
  await using cluster = await given(account("robot"), token("robot-token", "robot"));
  const robot = await cluster.client.get(serviceAccounts, { namespace: "default", name: "robot" });

  await cluster.reconcile(CONTROLLER, "default/robot-token");
  await cluster.reconcile(CONTROLLER, "default/robot-token");

  const { token: text = "", ...others } = await contentsOf(cluster);
  const [head = "", body = ""] = text.split(".").map((part) => decodeText(decodeBase64Url(part) ?? new Uint8Array(0)));
  assert.deepEqual(others, { "ca.crt": "the authority of this test", namespace: "default" });
  assert.deepEqual(JSON.parse(head), { alg: "ES256", kid: "test" });
  assert.deepEqual(JSON.parse(body), {
    iss: "kubernetes/serviceaccount",
    sub: "system:serviceaccount:default:robot",
    "kubernetes.io/serviceaccount/namespace": "default",
    "kubernetes.io/serviceaccount/secret.name": "robot-token",
    "kubernetes.io/serviceaccount/service-account.name": "robot",
    "kubernetes.io/serviceaccount/service-account.uid": robot.metadata.uid,
  });
  const { metadata } = await cluster.client.get(secrets, KEY);
  assert.equal(metadata.annotations?.["kubernetes.io/service-account.uid"], robot.metadata.uid);
  assert.equal(cluster.actions.length, 1);
});

const AUTHORITY = btoa("the authority of this test");
const CONTENTS: readonly [title: string, data: Record<string, string>, changed: readonly string[]][] = [
  ["has everything", { token: "dA==", namespace: "bg==", "ca.crt": AUTHORITY }, []],
  ["is empty", {}, ["ca.crt", "namespace", "token"]],
  ["has another CA certificate", { token: "dA==", namespace: "bg==", "ca.crt": "YQ==" }, ["ca.crt"]],
  ["has an empty token", { token: "", namespace: "bg==", "ca.crt": AUTHORITY }, ["token"]],
  ["has no namespace", { token: "dA==", "ca.crt": AUTHORITY, more: "bQ==" }, ["namespace"]],
];
for (const [title, data, changed] of CONTENTS) {
  test(`of a token Secret that ${title} these are written: ${changed.join(", ") || "none"}`, () => {
    const { rootCa, tokenSigner } = TEST_SETTINGS;
    assert.ok(tokenSigner !== undefined);

    const completed = completedSecret(token("t", "robot", { data }), account("robot"), { rootCa, tokenSigner });

    const now: Readonly<Record<string, string>> = completed?.data ?? data;
    assert.deepEqual(
      Object.keys(now)
        .filter((name) => now[name] !== data[name])
        .toSorted(),
      changed,
    );
    assert.equal(completed === undefined, changed.length === 0);
  });
}

test("a token Secret without its ServiceAccount is deleted, one of another account of that name, too, and other Secrets stay", async () => {
  const annotations = { "kubernetes.io/service-account.name": "robot", "kubernetes.io/service-account.uid": "another" };
  await using cluster = await given(
    account("robot"),
    token("orphan", "missing"),
    token("stale", "robot", { metadata: { name: "stale", namespace: "default", annotations } }),
    { apiVersion: "v1", kind: "Secret", metadata: { name: "opaque", namespace: "default", annotations } },
  );

  for (const name of ["orphan", "stale", "opaque", "absent"]) await cluster.reconcile(CONTROLLER, `default/${name}`);

  assert.deepEqual(cluster.actions, ["delete secrets default/orphan", "delete secrets default/stale"]);
});

test("the tokens of a ServiceAccount are deleted with it, and the account no longer lists a deleted token", async () => {
  await using cluster = await given(
    account("robot", ["robot-token", "other"]),
    account("human"),
    token("robot-token", "robot"),
    token("human-token", "human"),
  );
  await cluster.run(CONTROLLER);
  await cluster.settled();

  await cluster.client.delete(secrets, KEY);
  await cluster.client.delete(serviceAccounts, { namespace: "default", name: "human" });
  await cluster.settled();

  const robot = await cluster.client.get(serviceAccounts, { namespace: "default", name: "robot" });
  assert.deepEqual(robot.secrets, [{ name: "other" }]);
  assert.deepEqual(await cluster.list(secrets), []);
});

test("an immutable token Secret, and any without a private key, stay as they are", async () => {
  await using cluster = await given(account("robot"), token("robot-token", "robot"), token("fixed", "robot", { immutable: true }));

  await cluster.reconcile(CONTROLLER, "default/fixed");
  await cluster.reconcile(serviceAccountTokenController({ rootCa: "the authority" }), "default/robot-token");

  assert.deepEqual(cluster.actions, []);
});

test("after a crash at any step tokens exist exactly for the existing ServiceAccount", () =>
  everyStepMayBeTheLast(
    {
      objects: [
        account("robot"),
        account("human"),
        token("robot-token", "robot"),
        token("human-token", "human"),
        token("orphan", "missing"),
      ],
      controllers: () => [serviceAccountTokenController(TEST_SETTINGS)],
      restMs: 20_000,
      steps: [async ({ client }) => void (await client.delete(serviceAccounts, { namespace: "default", name: "human" }))],
    },
    { disturbedRuns: rounds({ quick: 2, full: 20 }) },
  ));
