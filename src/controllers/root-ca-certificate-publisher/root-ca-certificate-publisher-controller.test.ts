import assert from "node:assert/strict";
import { test } from "node:test";
import { configMaps } from "../../api/core/v1/config-map.ts";
import { namespaces } from "../../api/core/v1/namespace.ts";
import { everyStepMayBeTheLast } from "../../testing/every-step.ts";
import { given } from "../../testing/given.ts";
import { rounds } from "../../testing/rounds.ts";
import { rootCaCertificatePublisherController } from "./root-ca-certificate-publisher-controller.ts";

const SHOP = { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } } as const;
const KEY = { namespace: "shop", name: "kube-root-ca.crt" };
const controller = rootCaCertificatePublisherController({ rootCa: "PEM" });

test("a namespace gets the CA certificate of the API server", async () => {
  await using cluster = await given(SHOP);

  await cluster.reconcile(controller, "shop");

  assert.deepEqual(cluster.actions, ["create configmaps shop/kube-root-ca.crt"]);
  const { data, metadata } = await cluster.client.get(configMaps, KEY);
  assert.deepEqual(data, { "ca.crt": "PEM" });
  assert.match(metadata.annotations?.["kubernetes.io/description"] ?? "", /^Contains a CA bundle that can be used to verify/);
});

test("a modified or deleted ConfigMap is restored, and other annotations stay", async () => {
  await using cluster = await given(SHOP);
  await cluster.run(controller);
  await cluster.settled();

  await cluster.client.patch(configMaps, KEY, {
    type: "merge",
    value: { data: { "ca.crt": "x" }, metadata: { annotations: { mine: "1" } } },
  });
  await cluster.settled();
  const changed = await cluster.client.get(configMaps, KEY);
  assert.deepEqual([changed.data, changed.metadata.annotations?.["mine"]], [{ "ca.crt": "PEM" }, "1"]);

  await cluster.client.delete(configMaps, KEY);
  await cluster.settled();
  assert.deepEqual((await cluster.client.get(configMaps, KEY)).data, { "ca.crt": "PEM" });
});

test("nothing is created in a terminating namespace, and an up-to-date ConfigMap is not written", async () => {
  await using cluster = await given(SHOP);
  await cluster.reconcile(controller, "shop");
  await cluster.reconcile(controller, "shop");
  assert.equal(cluster.actions.length, 1);

  await cluster.client.delete(namespaces, { name: "shop" });
  await cluster.client.delete(configMaps, KEY);
  await cluster.reconcile(controller, "shop");
  assert.equal(cluster.actions.length, 1);
});

test("a crash at any step does not change the final state", () =>
  everyStepMayBeTheLast(
    {
      objects: [SHOP],
      controllers: () => [controller],
      restMs: 20_000,
      steps: [async ({ client }) => void (await client.delete(configMaps, KEY))],
    },
    { disturbedRuns: rounds({ quick: 2, full: 50 }) },
  ));
