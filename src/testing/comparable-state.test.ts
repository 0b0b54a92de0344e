import { deepEqual, equal, notDeepEqual } from "node:assert/strict";
import { describe, test } from "node:test";
import { replicaSets } from "../api/apps/v1/replica-set.ts";
import { configMaps } from "../api/core/v1/config-map.ts";
import { pods } from "../api/core/v1/pod.ts";
import { services } from "../api/core/v1/service.ts";
import { ipAddresses } from "../api/networking.k8s.io/v1/ip-address.ts";
import { comparableState } from "./comparable-state.ts";
import { given, createObject, type Given } from "./given.ts";

const KINDS = [configMaps, pods, replicaSets];

async function stateOf(cluster: Given): Promise<readonly string[]> {
  return comparableState(cluster.client, KINDS);
}

/** The state after these objects were created, at some time, after others that were created and deleted. */
async function state(objects: readonly object[], { laterMs = 0 }: { readonly laterMs?: number } = {}): Promise<readonly string[]> {
  await using cluster = await given();
  await cluster.clock.advance(laterMs);
  const before = { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace: "default", generateName: "gone-" } } as const;
  for (let count = 0; count < laterMs; count += 1_000) {
    await cluster.client.delete(configMaps, {
      namespace: "default",
      name: (await cluster.client.create(configMaps, before)).metadata.name,
    });
  }
  for (const object of objects) await createObject(cluster.client, object);
  return await stateOf(cluster);
}

function map(more: object = {}, metadata: object = { name: "a" }) {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace: "default", ...metadata }, ...more };
}

const OWNED = { name: "owned", ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", name: "a", uid: "some" }] };

describe("comparable states of two clusters are equal despite random names, uids and timestamps", () => {
  for (const [what, objects] of [
    ["resource versions, uids and timestamps", [map()]],
    ["generated names", [map({}, { generateName: "a-" }), map({}, { generateName: "a-" })]],
  ] as const) {
    test(what, async () => {
      deepEqual(await state(objects), await state(objects, { laterMs: 3_000 }));
    });
  }

  test("comparable states are equal despite different Service addresses", async () => {
    const service = { apiVersion: "v1", kind: "Service", metadata: { namespace: "default", name: "web" }, spec: { ports: [{ port: 80 }] } };
    const stateAfter = async (times: number): Promise<readonly string[]> => {
      await using cluster = await given();
      for (let time = 1; time < times; time++) {
        await createObject(cluster.client, service);
        await cluster.client.delete(services, { namespace: "default", name: "web" });
      }
      await createObject(cluster.client, service);
      return comparableState(cluster.client, [services, ipAddresses]);
    };
    deepEqual(await stateAfter(1), await stateAfter(2));
  });

  test("comparable states are equal whatever the order of creation and of members", async () => {
    const b = map({}, { name: "b" });
    const data = { a: "1", b: "2" };
    deepEqual(await state([map({ data }), b]), await state([b, map({ data: { b: "2", a: "1" } })]));
  });
});

describe("comparable states differ if anything else differs", () => {
  for (const [what, one, other] of [
    ["a value", [map({ data: { a: "1" } })], [map({ data: { a: "2" } })]],
    ["a name", [map()], [map({}, { name: "b" })]],
    ["the number of objects", [map({}, { generateName: "a-" })], [map({}, { generateName: "a-" }), map({}, { generateName: "a-" })]],
    ["an owner", [map(), map({}, OWNED)], [map(), map({}, { ...OWNED, ownerReferences: [] })]],
    ["a label", [map()], [map({}, { name: "a", labels: { a: "b" } })]],
  ] as const) {
    test(what, async () => notDeepEqual(await state(one), await state(other)));
  }
});

test("comparable states contain of a generation only whether it was observed", async () => {
  const labels = { a: "b" };
  const template = { metadata: { labels }, spec: { containers: [{ name: "c", image: "i" }] } };
  const set = (status: object) => ({
    ...{ apiVersion: "apps/v1", kind: "ReplicaSet", metadata: { namespace: "default", name: "a" }, status },
    spec: { replicas: 1, selector: { matchLabels: labels }, template },
  });
  await using observed = await given(set({ replicas: 1, observedGeneration: 1 }));
  await using not = await given(set({ replicas: 1, observedGeneration: 7 }));
  await using changed = await given(set({ replicas: 1 }));
  const key = { namespace: "default", name: "a" };
  await changed.client.patch(replicaSets, key, { type: "merge", value: { spec: { replicas: 3 } } });
  const back = await changed.client.patch(replicaSets, key, { type: "merge", value: { spec: { replicas: 1 } } });
  await changed.client.updateStatus(replicaSets, { ...back, status: { replicas: 1, observedGeneration: 3 } });

  deepEqual(await stateOf(observed), await stateOf(changed));
  notDeepEqual(await stateOf(observed), await stateOf(not));
});

test("comparable states leave out kinds that cannot be listed", async () => {
  await using cluster = await given(map());
  const state = await comparableState(cluster.client, [
    { ...configMaps, verbs: ["create"] },
    { ...pods, verbs: ["list"] },
  ]);

  equal(state.length, 0);
});
