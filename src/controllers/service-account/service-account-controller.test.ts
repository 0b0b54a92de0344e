import assert from "node:assert/strict";
import { test } from "node:test";
import { namespaces } from "../../api/core/v1/namespace.ts";
import { serviceAccounts } from "../../api/core/v1/service-account.ts";
import { everyStepMayBeTheLast } from "../../testing/every-step.ts";
import { given } from "../../testing/given.ts";
import { rounds } from "../../testing/rounds.ts";
import { serviceAccountController } from "./service-account-controller.ts";

const SHOP = { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } } as const;

test("a namespace without its default ServiceAccount gets one", async () => {
  await using cluster = await given(SHOP);

  await cluster.reconcile(serviceAccountController, "shop");

  assert.deepEqual(cluster.actions, ["create serviceaccounts shop/default"]);
});

test("a namespace with a default ServiceAccount is unchanged", async () => {
  await using cluster = await given(SHOP, { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "default", namespace: "shop" } });

  await cluster.reconcile(serviceAccountController, "shop");

  assert.deepEqual(cluster.actions, []);
});

test("nothing is created in a terminating or deleted namespace", async () => {
  await using cluster = await given(SHOP);
  await cluster.client.delete(namespaces, { name: "shop" });

  await cluster.reconcile(serviceAccountController, "shop");
  await cluster.reconcile(serviceAccountController, "nowhere");

  assert.deepEqual(cluster.actions, []);
});

test("a deleted default ServiceAccount is recreated, and all namespaces have one at startup", async () => {
  await using cluster = await given(SHOP);
  await cluster.run(serviceAccountController);
  await cluster.settled();
  const before = await cluster.client.get(serviceAccounts, { namespace: "shop", name: "default" });

  await cluster.client.delete(serviceAccounts, { namespace: "shop", name: "default" });
  await cluster.settled();

  const after = await cluster.client.get(serviceAccounts, { namespace: "shop", name: "default" });
  assert.notEqual(after.metadata.uid, before.metadata.uid);
  const all = await cluster.list(serviceAccounts);
  assert.deepEqual(
    all.map(({ metadata }) => metadata.namespace),
    ["default", "kube-node-lease", "kube-public", "kube-system", "shop"],
  );
});

test("a crash at any step does not change the final state", () =>
  everyStepMayBeTheLast(
    {
      objects: [SHOP],
      controllers: () => [serviceAccountController],
      restMs: 20_000,
      steps: [async ({ client }) => void (await client.delete(serviceAccounts, { namespace: "shop", name: "default" }))],
    },
    { disturbedRuns: rounds({ quick: 2, full: 50 }) },
  ));
