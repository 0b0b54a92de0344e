import { test } from "node:test";
import { deepEqual } from "node:assert/strict";
import { endpoints } from "../../api/core/v1/endpoints.ts";
import { services } from "../../api/core/v1/service.ts";
import { endpointSlices } from "../../api/discovery.k8s.io/v1/endpoint-slice.ts";
import type { JsonObject } from "../../api/machinery/object.ts";
import { everyStepMayBeTheLast } from "../../testing/every-step.ts";
import { given, type Given } from "../../testing/given.ts";
import { rounds } from "../../testing/rounds.ts";
import { aService } from "../shared/service-endpoints/testing/builders.ts";
import { endpointSliceMirroringController } from "./endpoint-slice-mirroring-controller.ts";

const DB = { namespace: "default", name: "db" };
const CONTROLLER = endpointSliceMirroringController();
const SERVICE = aService("db", { spec: { selector: {} } });

function anEndpoints(metadata: JsonObject = {}, count = 1) {
  const addresses = Array.from({ length: count }, (_, index) => ({ ip: `10.0.${index >> 8}.${index & 255}` }));
  return { apiVersion: "v1", kind: "Endpoints", metadata: { ...DB, ...metadata }, subsets: [{ addresses, ports: [{ port: 80 }] }] };
}

/** The addresses in each mirrored slice. */
async function shown(cluster: Given): Promise<readonly (readonly string[])[]> {
  const slices = (await cluster.list(endpointSlices)).filter(({ metadata }) => metadata.generateName === "db-");
  return slices.map(({ endpoints: list }) => (list ?? []).flatMap(({ addresses }) => addresses));
}

for (const { it, objects, shows } of [
  { it: "Endpoints of a Service without a selector are mirrored", objects: [SERVICE, anEndpoints()], shows: [["10.0.0.0"]] },
  { it: "Endpoints of a Service with a selector are not mirrored", objects: [aService("db"), anEndpoints()], shows: [] },
  { it: "Endpoints without a Service are not mirrored", objects: [anEndpoints()], shows: [] },
  {
    it: "Endpoints with the skip-mirror label are not mirrored",
    objects: [SERVICE, anEndpoints({ labels: { "endpointslice.kubernetes.io/skip-mirror": "true" } })],
    shows: [],
  },
  {
    it: "Endpoints of a leader election are not mirrored",
    objects: [SERVICE, anEndpoints({ annotations: { "control-plane.alpha.kubernetes.io/leader": "{}" } })],
    shows: [],
  },
]) {
  test(it, async () => {
    await using cluster = await given(...objects);
    await cluster.reconcile(CONTROLLER, "default/db");
    deepEqual(await shown(cluster), shows);
  });
}

test("a second reconciliation writes nothing", async () => {
  await using cluster = await given(SERVICE, anEndpoints({ labels: { a: "b" }, annotations: { c: "d" } }));
  await cluster.reconcile(CONTROLLER, "default/db");
  await cluster.reconcile(CONTROLLER, "default/db");
  deepEqual(cluster.actions, ["create endpointslices default/db-*"]);
});

test("skipped addresses are reported by an event", async () => {
  await using cluster = await given(SERVICE, anEndpoints({}, 1002));

  await cluster.reconcile(CONTROLLER, "default/db");

  deepEqual((await shown(cluster))[0]?.length, 1000);
  deepEqual(cluster.events, [
    "Warning TooManyAddressesToMirror Endpoints/db A max of 1000 addresses can be mirrored to EndpointSlices per Endpoints subset. 2 addresses were skipped",
  ]);
});

const ends: readonly { readonly it: string; readonly end: (cluster: Pick<Given, "client">) => Promise<unknown> }[] = [
  { it: "the Endpoints are deleted", end: ({ client }) => client.delete(endpoints, DB) },
  { it: "the Service is deleted", end: ({ client }) => client.delete(services, DB) },
  {
    it: "the Service gets a selector",
    end: ({ client }) => client.patch(services, DB, { type: "merge", value: { spec: { selector: { app: "db" } } } }),
  },
  {
    it: "the Endpoints get the skip-mirror label",
    end: ({ client }) =>
      client.patch(endpoints, DB, {
        type: "merge",
        value: { metadata: { labels: { "endpointslice.kubernetes.io/skip-mirror": "true" } } },
      }),
  },
];

for (const { it, end } of ends) {
  test(`mirrored slices are deleted when ${it}`, async () => {
    await using cluster = await given(SERVICE, anEndpoints());
    await cluster.run(CONTROLLER);
    await cluster.settled();
    deepEqual((await shown(cluster)).length, 1);

    await end(cluster);
    await cluster.settled();

    deepEqual(await shown(cluster), []);
  });
}

test("a mirrored slice that is deleted or changed is restored", async () => {
  await using cluster = await given(SERVICE, anEndpoints());
  await cluster.run(CONTROLLER);
  await cluster.settled();
  const mirrored = async () =>
    (await cluster.list(endpointSlices)).find(({ metadata }) => metadata.generateName === "db-")?.metadata.name ?? "";

  await cluster.client.patch(endpointSlices, { ...DB, name: await mirrored() }, { type: "merge", value: { endpoints: [] } });
  await cluster.settled();
  deepEqual(await shown(cluster), [["10.0.0.0"]]);
  await cluster.client.delete(endpointSlices, { ...DB, name: await mirrored() });
  await cluster.settled();
  deepEqual(await shown(cluster), [["10.0.0.0"]]);
});

test("a crash at any step does not change the final state", async () => {
  const two = { ...anEndpoints(), subsets: [{ addresses: [{ ip: "10.0.0.1" }, { ip: "fd00::1" }], ports: [{ port: 80 }] }] };
  const scenario = {
    objects: [SERVICE, two],
    controllers: () => [CONTROLLER],
    restMs: 20_000,
    steps: [
      async ({ client }: Pick<Given, "client">) => {
        await client.patch(endpoints, DB, {
          type: "merge",
          value: { subsets: [{ addresses: [{ ip: "10.0.0.1" }], ports: [{ port: 90 }] }] },
        });
      },
    ],
  };

  await everyStepMayBeTheLast(scenario, { deathsMax: rounds({ quick: 5, full: 100 }), disturbedRuns: rounds({ quick: 1, full: 10 }) });
});
