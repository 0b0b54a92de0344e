import assert from "node:assert/strict";
import { test } from "node:test";
import type { ServiceCIDR } from "../../api/generated/networking.k8s.io/v1.ts";
import { ipAddresses } from "../../api/networking.k8s.io/v1/ip-address.ts";
import { serviceCidrs } from "../../api/networking.k8s.io/v1/service-cidr.ts";
import { everyStepMayBeTheLast } from "../../testing/every-step.ts";
import { given, type Given } from "../../testing/given.ts";
import { rounds } from "../../testing/rounds.ts";
import { isRemovable } from "./orphaned-addresses.ts";
import { serviceCidrController } from "./service-cidr-controller.ts";

const MANAGED = { "ipaddress.kubernetes.io/managed-by": "ipallocator.k8s.io" };
const GRACE_PERIOD_MS = 10_000;

const serviceCidr = (name: string, ...cidrs: readonly string[]) => ({
  apiVersion: "networking.k8s.io/v1" as const,
  kind: "ServiceCIDR" as const,
  metadata: { name },
  spec: { cidrs },
});
const address = (name: string, labels: Readonly<Record<string, string>> = MANAGED) => ({
  apiVersion: "networking.k8s.io/v1" as const,
  kind: "IPAddress" as const,
  metadata: { name, labels },
  spec: { parentRef: { resource: "services", namespace: "default", name: "web" } },
});

const TERMINATING = serviceCidr("old", "10.1.0.0/24");
const REMOVALS: readonly [title: string, others: readonly ServiceCIDR[], addresses: readonly string[], isRemovable: boolean][] = [
  ["without addresses", [], [], true],
  ["with an address", [], ["10.1.0.7"], false],
  ["with an address of another range", [], ["10.2.0.7"], true],
  ["with an address that another ServiceCIDR contains", [serviceCidr("new", "10.1.0.0/28")], ["10.1.0.7"], true],
  ["with an address that the other ServiceCIDR does not contain", [serviceCidr("new", "10.1.0.0/28")], ["10.1.0.77"], false],
  ["within a larger ServiceCIDR", [serviceCidr("new", "fd00::/64", "10.0.0.0/8")], ["10.1.0.77"], true],
  ["with the same range as another", [serviceCidr("new", "10.1.0.0/24")], ["10.1.0.77"], true],
];
for (const [title, others, addresses, expected] of REMOVALS) {
  test(`a ServiceCIDR ${title} can${expected ? "" : "not"} be removed`, () => {
    const objects = addresses.map((name) => address(name));

    assert.equal(isRemovable(TERMINATING, [TERMINATING, ...others], objects), expected);
  });
}

test("addresses that the API server did not allocate hold no ServiceCIDR", () => {
  assert.equal(isRemovable(TERMINATING, [TERMINATING], [address("10.1.0.7", {})]), true);
});

async function find(cluster: Given, name: string): Promise<ServiceCIDR | undefined> {
  return (await cluster.list(serviceCidrs)).find(({ metadata }) => metadata.name === name);
}

test("a new ServiceCIDR gets the finalizer and is marked as ready, once", async () => {
  await using cluster = await given(serviceCidr("more", "10.1.0.0/24"));
  await cluster.reconcile(serviceCidrController, "more");
  await cluster.reconcile(serviceCidrController, "more");

  const found = await find(cluster, "more");
  assert.deepEqual(found?.metadata.finalizers, ["networking.k8s.io/service-cidr-finalizer"]);
  const [{ lastTransitionTime: _time, ...condition } = { lastTransitionTime: "" }, ...others] = found?.status?.conditions ?? [];
  assert.deepEqual(condition, { type: "Ready", status: "True", reason: "", message: "Kubernetes Service CIDR is ready" });
  assert.deepEqual(others, []);
  const actions = cluster.actions.map((line) => line.split(" {")[0]);
  assert.deepEqual(actions, ["update servicecidrs more", "apply servicecidrs/status more"]);
});

test("a terminating ServiceCIDR stays while a Service has one of its addresses, and is removed after the grace period", async () => {
  await using cluster = await given(serviceCidr("old", "10.1.0.0/24"), address("10.1.0.7"));
  await cluster.run(serviceCidrController);
  await cluster.settled();
  await cluster.client.delete(serviceCidrs, { name: "old" });
  await cluster.settled();
  assert.deepEqual(
    (await find(cluster, "old"))?.status?.conditions?.map(({ status, reason, message }) => [status, reason, message]),
    [["False", "Terminating", "There are still IPAddresses referencing the ServiceCIDR, please remove them or create a new ServiceCIDR"]],
  );

  await cluster.client.delete(ipAddresses, { name: "10.1.0.7" });
  await cluster.settled();
  assert.notEqual(await find(cluster, "old"), undefined);
  await cluster.clock.advance(GRACE_PERIOD_MS);
  await cluster.settled();

  assert.equal(await find(cluster, "old"), undefined);
});

test("a terminating ServiceCIDR is released by a new one that contains its addresses", async () => {
  await using cluster = await given(serviceCidr("old", "10.1.0.0/24"), address("10.1.0.7"));
  await cluster.run(serviceCidrController);
  await cluster.settled();
  await cluster.client.delete(serviceCidrs, { name: "old" });
  await cluster.settled();

  await cluster.client.create(serviceCidrs, serviceCidr("new", "10.1.0.0/16"));
  await cluster.settled();
  await cluster.clock.advance(GRACE_PERIOD_MS);
  await cluster.settled();

  assert.equal(await find(cluster, "old"), undefined);
  assert.notEqual(await find(cluster, "new"), undefined);
});

test("after a crash at any step the unused ServiceCIDR is gone and the used one stays", () =>
  everyStepMayBeTheLast(
    {
      objects: [serviceCidr("used", "10.1.0.0/24"), serviceCidr("unused", "10.2.0.0/24"), address("10.1.0.7")],
      controllers: () => [serviceCidrController],
      restMs: 20_000,
      steps: [
        async ({ client }) => void (await client.delete(serviceCidrs, { name: "used" })),
        async ({ client }) => void (await client.delete(serviceCidrs, { name: "unused" })),
      ],
    },
    { disturbedRuns: rounds({ quick: 2, full: 20 }) },
  ));
