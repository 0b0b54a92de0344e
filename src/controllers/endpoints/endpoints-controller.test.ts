import { test } from "node:test";
import { deepEqual, equal } from "node:assert/strict";
import { endpoints } from "../../api/core/v1/endpoints.ts";
import { pods } from "../../api/core/v1/pod.ts";
import { services } from "../../api/core/v1/service.ts";
import type { JsonObject } from "../../api/machinery/object.ts";
import { everyStepMayBeTheLast } from "../../testing/every-step.ts";
import { given, type Given } from "../../testing/given.ts";
import { rounds } from "../../testing/rounds.ts";
import { aPod, aService, READY_AT } from "../shared/service-endpoints/testing/builders.ts";
import { seeing } from "../runtime/testing/overtaken.ts";
import { endpointsController } from "./endpoints-controller.ts";

const WEB = { namespace: "default", name: "web" };
const A = aPod("a", { ips: ["10.0.0.1"] });

function pass(cluster: Given) {
  return cluster.reconcile(endpointsController, "default/web");
}

function anEndpoints(metadata: JsonObject = {}) {
  return { apiVersion: "v1", kind: "Endpoints", metadata: { ...WEB, ...metadata }, subsets: [{ addresses: [{ ip: "10.9.0.1" }] }] };
}

/** Undefined if none exist. */
async function shown(cluster: Given) {
  const found = (await cluster.list(endpoints)).find(({ metadata }) => metadata.name === "web");
  return found === undefined
    ? undefined
    : { labels: found.metadata.labels, annotations: found.metadata.annotations, subsets: found.subsets };
}

test("a Service gets Endpoints with its labels and the addresses of its Pods", async () => {
  await using cluster = await given(aService("web", { labels: { team: "x" } }), A);

  await pass(cluster);

  deepEqual(cluster.actions, ["create endpoints default/web"]);
  const { uid } = (await cluster.client.get(pods, { ...WEB, name: "a" })).metadata;
  deepEqual(await shown(cluster), {
    labels: { team: "x", "endpoints.kubernetes.io/managed-by": "endpoint-controller" },
    annotations: { "endpoints.kubernetes.io/last-change-trigger-time": READY_AT },
    subsets: [
      {
        addresses: [{ ip: "10.0.0.1", nodeName: "n1", targetRef: { kind: "Pod", namespace: "default", name: "a", uid } }],
        ports: [{ port: 80, protocol: "TCP" }],
      },
    ],
  });
});

test("a headless Service without Pods gets Endpoints without addresses, with the Service's trigger time", async () => {
  await using cluster = await given(aService("web", { spec: { clusterIP: "None" } }));

  await pass(cluster);

  const { creationTimestamp } = (await cluster.client.get(services, WEB)).metadata;
  deepEqual(await shown(cluster), {
    labels: { "service.kubernetes.io/headless": "", "endpoints.kubernetes.io/managed-by": "endpoint-controller" },
    annotations: { "endpoints.kubernetes.io/last-change-trigger-time": creationTimestamp },
    subsets: undefined,
  });
});

test("a second reconciliation writes nothing", async () => {
  await using cluster = await given(aService("web"), A, aPod("b", { ips: ["10.0.0.2"], isReady: false }));
  await pass(cluster);
  cluster.actions.length = 0;

  await pass(cluster);

  deepEqual(cluster.actions, []);
});

test("a deleted Pod's address and the trigger time are removed, and foreign annotations are kept", async () => {
  await using cluster = await given(aService("web"), A);
  await pass(cluster);
  await cluster.client.patch(endpoints, WEB, { type: "merge", value: { metadata: { annotations: { mine: "yes" } } } });

  await cluster.client.delete(pods, { ...WEB, name: "a" }, { gracePeriodSeconds: 0 });
  await pass(cluster);

  const found = await shown(cluster);
  deepEqual([found?.annotations, found?.subsets], [{ mine: "yes" }, undefined]);
});

for (const { it, service } of [
  { it: "without a selector", service: aService("web", { spec: { selector: {} } }) },
  { it: "that is another name", service: aService("web", { spec: { type: "ExternalName", externalName: "x.y" } }) },
]) {
  test(`the Endpoints of a Service ${it} are ignored`, async () => {
    await using cluster = await given(service, anEndpoints(), A);
    await pass(cluster);
    deepEqual(cluster.actions, []);
  });
}

test("a deleted Service's Endpoints are deleted, also foreign ones", async () => {
  await using cluster = await given(aService("web", { spec: { selector: {} } }), anEndpoints());
  await cluster.run(endpointsController);
  await cluster.settled();

  await cluster.client.delete(services, WEB);
  await cluster.settled();

  equal(await shown(cluster), undefined);
});

test("Endpoints written before their Service stay, and are only cleaned up at startup", async () => {
  await using cluster = await given();
  const running = await cluster.run(endpointsController);
  await cluster.settled();
  await cluster.client.create(endpoints, anEndpoints() as never);
  await cluster.settled();
  equal((await shown(cluster))?.subsets?.length, 1);

  await running.stop();
  await cluster.run(endpointsController);
  await cluster.settled();
  equal(await shown(cluster), undefined);
});

test("Endpoints used for leader election stay at startup", async () => {
  await using cluster = await given(anEndpoints({ annotations: { "control-plane.alpha.kubernetes.io/leader": "{}" } }));
  await cluster.run(endpointsController);
  await cluster.settled();
  equal((await shown(cluster))?.subsets?.length, 1);
});

test("modified or deleted Endpoints are restored", async () => {
  await using cluster = await given(aService("web"), A);
  await cluster.run(endpointsController);
  await cluster.settled();
  const before = await shown(cluster);

  await cluster.client.patch(endpoints, WEB, { type: "merge", value: { subsets: null } });
  await cluster.settled();
  deepEqual((await shown(cluster))?.subsets, before?.subsets);
  await cluster.client.delete(endpoints, WEB);
  await cluster.settled();
  deepEqual((await shown(cluster))?.subsets, before?.subsets);
});

test("Endpoints stay if only the informer lacks their Service", async () => {
  await using cluster = await given(aService("web"), A);
  await cluster.reconcile(endpointsController, "default/web");
  cluster.actions.length = 0;
  const current = await cluster.client.get(endpoints, WEB);
  const blind = seeing(endpointsController, { get: ({ kind }) => (kind === "Service" ? undefined : (current as never)) });

  await cluster.reconcile(blind, "default/web");
  deepEqual(cluster.actions, []);

  await cluster.client.delete(services, WEB);
  await cluster.reconcile(blind, "default/web");
  deepEqual(cluster.actions, ["delete endpoints default/web"]);
});

test("a crash at any step does not change the final state", async () => {
  const scenario = {
    objects: [aService("web"), aService("other", { spec: { selector: { app: "web" } } }), A],
    controllers: () => [endpointsController],
    restMs: 20_000,
    steps: [
      async ({ client }: Pick<Given, "client">) => {
        await client.patch(pods, { ...WEB, name: "a" }, { type: "merge", value: { metadata: { labels: { app: "no" } } } });
      },
      async ({ client }: Pick<Given, "client">) => {
        await client.delete(services, WEB);
      },
    ],
  };

  await everyStepMayBeTheLast(scenario, { deathsMax: rounds({ quick: 5, full: 100 }), disturbedRuns: rounds({ quick: 1, full: 10 }) });
});
