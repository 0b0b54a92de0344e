import assert from "node:assert/strict";
import { test } from "node:test";
import { services } from "../../api/core/v1/service.ts";
import { everyStepMayBeTheLast } from "../../testing/every-step.ts";
import { given } from "../../testing/given.ts";
import { rounds } from "../../testing/rounds.ts";
import { serviceLoadBalancerController } from "./service-load-balancer-controller.ts";

const NODE = {
  apiVersion: "v1",
  kind: "Node",
  metadata: { name: "node" },
  status: { addresses: [{ type: "InternalIP", address: "192.0.2.1" }], conditions: [{ type: "Ready", status: "True" }] },
};

const service = (name: string, spec: object = {}) => ({
  apiVersion: "v1" as const,
  kind: "Service" as const,
  metadata: { name, namespace: "default" },
  spec: { type: "LoadBalancer" as const, ports: [{ port: 80 }], ...spec },
});

const controller = () => serviceLoadBalancerController({ loadBalancer: {} });

const addresses = (object: { readonly status?: { readonly loadBalancer?: { readonly ingress?: readonly { readonly ip?: string }[] } } }) =>
  object.status?.loadBalancer?.ingress?.map(({ ip }) => ip) ?? [];

test("a LoadBalancer Service gets the node's address and an event", async () => {
  await using cluster = await given(NODE, service("web"));

  await cluster.reconcile(controller(), "default/web");

  assert.deepEqual(addresses(await cluster.client.get(services, { namespace: "default", name: "web" })), ["192.0.2.1"]);
  assert.deepEqual(cluster.events, ["Normal EnsuredLoadBalancer Service/web Ensured load balancer"]);
});

test("a second Service with the same port stays pending until the first is deleted", async () => {
  await using cluster = await given(NODE, service("one"));
  await cluster.run(controller());
  await cluster.settled();
  await cluster.client.create(services, service("two"));
  await cluster.settled();
  assert.deepEqual(addresses(await cluster.client.get(services, { namespace: "default", name: "two" })), []);
  assert.ok(
    cluster.events.includes(
      "Warning SyncLoadBalancerFailed Service/two Error syncing load balancer: failed to ensure load balancer: port 80/TCP of 192.0.2.1 is used by the Service default/one",
    ),
  );

  await cluster.client.delete(services, { namespace: "default", name: "one" });
  await cluster.settled();

  assert.deepEqual(addresses(await cluster.client.get(services, { namespace: "default", name: "two" })), ["192.0.2.1"]);
});

test("a Service of another class and one without settings stay pending", async () => {
  await using cluster = await given(NODE, service("other", { loadBalancerClass: "example.com/other" }), service("web"));

  await cluster.reconcile(controller(), "default/other");
  await cluster.reconcile(serviceLoadBalancerController(), "default/web");

  assert.deepEqual(cluster.actions, []);
});

test("a Service that is no longer of type LoadBalancer loses its address", async () => {
  await using cluster = await given(NODE, service("web"));
  await cluster.run(controller());
  await cluster.settled();

  const patch = { type: "merge", value: { spec: { type: "ClusterIP" } } } as const;
  await cluster.client.patch(services, { namespace: "default", name: "web" }, patch);
  await cluster.settled();

  assert.deepEqual(addresses(await cluster.client.get(services, { namespace: "default", name: "web" })), []);
});

test("a crash at any step leads to the same result", () =>
  everyStepMayBeTheLast(
    {
      objects: [NODE, service("web")],
      controllers: () => [controller()],
      restMs: 20_000,
      steps: [async ({ client }) => void (await client.create(services, service("other", { ports: [{ port: 81 }] })))],
    },
    { disturbedRuns: rounds({ quick: 2, full: 50 }) },
  ));
