import assert from "node:assert/strict";
import test from "node:test";
import { apiServices } from "../../api/apiregistration.k8s.io/v1/api-service.ts";
import { configMaps } from "../../api/core/v1/config-map.ts";
import { secrets } from "../../api/core/v1/secret.ts";
import { StatusError } from "../../api/machinery/status-error.ts";
import { anApiService, runWorld, withGroup, type RunWorld } from "../runtime/testing/run-world.ts";
import { garbageCollectorController } from "./garbage-collector-controller.ts";
import { heldBy, makeMap, ownedBy } from "./testing/owned-maps.ts";

const OWNER = { namespace: "default", name: "owner" };

/** The collector over a server on which Secrets cannot be listed; one of them belongs to the ConfigMap "owner". */
async function brokenWorld() {
  const world = await runWorld();
  const { client, clock } = world.cluster;
  const owner = await makeMap(client, "owner");
  const metadata = { namespace: "default", name: "owned", ownerReferences: [heldBy(owner)] };
  await client.create(secrets, { apiVersion: "v1", kind: "Secret", metadata });
  const state = { isBroken: true };
  world.before = ({ plural, name }) =>
    state.isBroken && plural === "secrets" && name === undefined
      ? Promise.reject(new StatusError("InternalError", "conversion failed"))
      : undefined;
  const starting = world.starting([garbageCollectorController]);
  await clock.advance(30_000);
  await starting;
  return { world, client, clock, state, owner, [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]() };
}

async function left({ cluster }: RunWorld): Promise<readonly string[]> {
  const all = [...(await cluster.list(configMaps, "default")), ...(await cluster.list(secrets, "default"))];
  return all.map(({ metadata }) => metadata.name).toSorted();
}

test("an object without owners is deleted although another kind cannot be listed", async () => {
  await using given = await brokenWorld();
  const gone = await makeMap(given.client, "gone");
  await makeMap(given.client, "abandoned", { owners: [ownedBy(gone)] });
  await given.client.delete(configMaps, { namespace: "default", name: "gone" });
  await given.clock.settle();

  assert.deepEqual(await left(given.world), ["owned", "owner"]);
});

for (const [propagationPolicy, expected] of [
  ["Foreground", []],
  ["Orphan", ["owned"]],
] as const) {
  test(`${propagationPolicy}: an owner waits as long as it may have dependents that cannot be listed`, async () => {
    await using given = await brokenWorld();
    await given.client.delete(configMaps, OWNER, { propagationPolicy });
    await given.clock.advance(600_000);
    assert.deepEqual(await left(given.world), ["owned", "owner"]);
    assert.match(JSON.stringify(given.world.log), /off configmaps default\/owner: what it owns of secrets is not known/);

    given.state.isBroken = false;
    await given.clock.advance(120_000);
    assert.deepEqual(await left(given.world), expected);
  });
}

for (const propagationPolicy of ["Foreground", "Orphan"] as const) {
  test(`${propagationPolicy}: an owner does not wait for an aggregated API server whose objects cannot be listed`, async () => {
    await using world = await runWorld();
    const { client, clock } = world.cluster;
    const verbs = ["get", "list", "watch", "delete"];
    world.replaced.set("/apis/example.com/v1", { resources: [{ name: "flunders", kind: "Flunder", namespaced: true, verbs }] });
    const service = { namespace: "default", name: "missing" };
    await client.create(apiServices, { ...anApiService("v1"), spec: { ...anApiService("v1").spec, service } });
    const starting = world.starting([garbageCollectorController]);
    await clock.advance(40_000);
    await starting;
    assert.match(JSON.stringify(world.log), /Some kinds cannot be listed.*flunders\.example\.com/);
    await makeMap(client, "owner");

    await client.delete(configMaps, OWNER, { propagationPolicy });
    await clock.advance(10_000);

    assert.deepEqual(await left(world), []);
  });
}

test("collection continues when a group prefers another version, and when it is removed", async () => {
  await using world = await runWorld();
  const { client, clock } = world.cluster;
  await world.start(garbageCollectorController);
  await world.cluster.settled();
  for (const preferred of ["v1", "v2", undefined]) {
    world.document = (path, answer) => (path === "/apis" ? withGroup(answer, "autoscaling", preferred) : answer);
    await client.create(apiServices, anApiService(preferred ?? "v3"));
    await clock.advance(20_000);
    const owner = await makeMap(client, "owner");
    await makeMap(client, "owned", { owners: [heldBy(owner)] });
    await client.delete(configMaps, OWNER, { propagationPolicy: "Foreground" });
    await clock.settle();
    assert.deepEqual(await left(world), [], `The group prefers ${preferred}`);
  }
});

test("an owner whose kind is no longer served does not count as deleted", async () => {
  await using world = await runWorld();
  const { client, clock } = world.cluster;
  let isServed = false;
  const unknown = new StatusError("NotFound", "the server could not find the requested resource");
  world.before = ({ plural, name }) => (plural === "secrets" && name === "never" && !isServed ? Promise.reject(unknown) : undefined);
  await world.start(garbageCollectorController);
  const owner = { apiVersion: "v1", kind: "Secret", name: "never", uid: "11111111-2222-3333-4444-555555555555" };
  await makeMap(client, "owned", { owners: [owner] });
  await clock.advance(120_000);
  assert.deepEqual(await left(world), ["owned"]);

  isServed = true;
  await clock.advance(120_000);
  assert.deepEqual(await left(world), []);
});
