import assert from "node:assert/strict";
import { test } from "node:test";
import { nodes } from "../../api/core/v1/node.ts";
import { pods } from "../../api/core/v1/pod.ts";
import { services } from "../../api/core/v1/service.ts";
import { announcerOf } from "../../api/core/v1/service/announcer.ts";
import { parseCidr } from "../../api/machinery/ip/ip-address.ts";
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

const pod = (name: string, port: number) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, namespace: "default" },
  spec: { nodeName: "node", containers: [{ name: "web", image: "web", ports: [{ containerPort: 8080, hostPort: port }] }] },
});
const failure = (name: string, why: string) =>
  `Warning SyncLoadBalancerFailed Service/${name} Error syncing load balancer: failed to ensure load balancer: ${why}`;

test("a host port of a Pod on any node and a node port of a Service are not taken over", async () => {
  await using cluster = await given(
    NODE,
    pod("proxy", 80),
    service("node-port", { type: "NodePort", ports: [{ port: 81, nodePort: 30_081 }] }),
    service("web"),
    service("high", { ports: [{ port: 30_081 }] }),
  );
  await cluster.run(controller());
  await cluster.settled();

  assert.ok(cluster.events.includes(failure("web", "port 80/TCP of 192.0.2.1 is in use by the Pod default/proxy as a host port")));
  assert.ok(
    cluster.events.includes(failure("high", "port 30081/TCP of 192.0.2.1 is in use by the Service default/node-port as a node port")),
  );

  await cluster.client.delete(pods, { namespace: "default", name: "proxy" }, { gracePeriodSeconds: 0 });
  await cluster.settled();
  assert.deepEqual(addresses(await cluster.client.get(services, { namespace: "default", name: "web" })), ["192.0.2.1"]);
});

test("a port of the ingress controller is not taken over, also before it listens again after a restart", async () => {
  const ingress = {
    apiVersion: "networking.k8s.io/v1",
    kind: "Ingress",
    metadata: { name: "shop", namespace: "default" },
    spec: { defaultBackend: { service: { name: "shop", port: { number: 80 } } } },
    status: { loadBalancer: { ingress: [{ ip: "192.0.2.1" }] } },
  };
  await using cluster = await given(NODE, ingress, service("web"));
  await cluster.run(controller());
  await cluster.settled();

  assert.deepEqual(addresses(await cluster.client.get(services, { namespace: "default", name: "web" })), []);
  assert.match(
    cluster.events.join("\n"),
    /port 80\/TCP of 192.0.2.1 is in use by the ingress controller, for the Ingress default\/shop; use another port/,
  );
});

test("an address of a range names the node that announces it, and another one after that is deleted", async () => {
  const other = {
    ...NODE,
    metadata: { name: "other" },
    status: { ...NODE.status, addresses: [{ type: "InternalIP", address: "192.0.2.2" }] },
  };
  await using cluster = await given(NODE, other, service("web"));
  const range = parseCidr("203.0.113.0/24");
  assert.ok(range !== undefined);
  await cluster.run(serviceLoadBalancerController({ loadBalancer: { range } }));
  await cluster.settled();
  const announcer = async () => {
    const found = await cluster.client.get(services, { namespace: "default", name: "web" });
    return [announcerOf(found), ...addresses(found)];
  };
  assert.deepEqual(await announcer(), ["other", "203.0.113.1"]);

  await cluster.client.delete(nodes, { name: "other" });
  await cluster.settled();
  assert.deepEqual(await announcer(), ["node", "203.0.113.1"]);

  await cluster.client.patch(services, { namespace: "default", name: "web" }, { type: "merge", value: { spec: { type: "ClusterIP" } } });
  await cluster.settled();
  assert.deepEqual(await announcer(), [undefined]);
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
