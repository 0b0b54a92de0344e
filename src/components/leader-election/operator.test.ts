import { deepEqual, equal, rejects } from "node:assert/strict";
import { test } from "node:test";
import { configMaps } from "../../api/core/v1/config-map.ts";
import { leases } from "../../api/coordination.k8s.io/v1/lease.ts";
import { seededRandom } from "../../base/random.ts";
import { defineController, onChange, watch, type Controller } from "../../controllers/runtime/controller.ts";
import { itself } from "../../controllers/runtime/keys.ts";
import { driven } from "../../testing/driven.ts";
import { given, type Given } from "../../testing/given.ts";
import { startOperator, type Operator } from "./operator.ts";

const LEASE = { namespace: "default", name: "greeter" };

function map(name: string, data: Readonly<Record<string, string>> = {}) {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace: "default", name }, data } as const;
}

/** Signs every map that asks for a greeting. */
function greeter(signature: string): Controller {
  return defineController({
    name: "greeter",
    account: "greeter",
    rules: [{ apiGroups: [""], resources: ["configmaps"], verbs: ["patch"] }],
    watches: [watch(configMaps, itself)],
    async reconcile(key, { read, write, events }) {
      const found = read.get(configMaps, key);
      if (found?.data?.["greet"] === undefined || found.data["by"] !== undefined) return onChange;
      const signed = await write.patch(configMaps, key, { type: "merge", value: { data: { by: signature } } });
      events.record(signed, { type: "Normal", reason: "Greeted", message: `Greeted by ${signature}` });
      return onChange;
    },
  });
}

function operator(cluster: Given, name: string, isElected: boolean): Operator {
  return startOperator({
    controllers: [greeter(name)],
    transport: cluster.server.transport(),
    ...(isElected ? { election: { lease: LEASE, identity: name } } : {}),
    clock: cluster.clock,
    random: seededRandom(name.length),
  });
}

async function signer({ client }: Given, name: string): Promise<string | undefined> {
  return (await client.get(configMaps, { namespace: "default", name })).data?.["by"];
}

test("an operator's controllers run until they are stopped, and their events are written", async () => {
  await using cluster = await given(map("a", { greet: "me" }));
  const one = operator(cluster, "one", false);
  await driven(cluster.clock, one.started);
  await cluster.settled();
  equal(await signer(cluster, "a"), "one");

  await driven(cluster.clock, one.stop());
  await cluster.client.create(configMaps, map("b", { greet: "me" }));
  await cluster.clock.advance(60_000);

  equal(await signer(cluster, "b"), undefined);
  const { body } = await cluster.server.call("GET", "/api/v1/namespaces/default/events");
  deepEqual(
    body.items.map(({ reason, message }: Record<string, string>) => `${reason}: ${message}`),
    ["Greeted: Greeted by one"],
  );
});

test("of two operators with leader election one acts; a graceful stop releases the lease and the other acts immediately", async () => {
  await using cluster = await given(map("a", { greet: "me" }));
  const one = operator(cluster, "one", true);
  await driven(cluster.clock, one.started);
  const other = operator(cluster, "another", true);
  await cluster.clock.advance(30_000);
  await cluster.client.create(configMaps, map("b", { greet: "me" }));
  await cluster.settled();
  deepEqual([await signer(cluster, "a"), await signer(cluster, "b")], ["one", "one"]);

  await driven(cluster.clock, one.stop());
  await driven(cluster.clock, other.started);
  await cluster.client.create(configMaps, map("c", { greet: "me" }));
  await cluster.settled();
  equal(await signer(cluster, "c"), "another");

  await driven(cluster.clock, Promise.resolve(other[Symbol.asyncDispose]()));
  equal((await cluster.client.get(leases, LEASE)).spec?.holderIdentity, "");
});

test("a failed start rejects with the reason", async () => {
  await using cluster = await given();
  const broken = defineController({
    ...{ name: "broken", account: "broken", rules: [], watches: [] },
    start() {
      throw new Error("Cannot be started");
    },
  });
  const one = startOperator({ controllers: [broken], transport: cluster.server.transport(), clock: cluster.clock });

  await rejects(driven(cluster.clock, one.started), /Cannot be started/);
  await driven(cluster.clock, one.stop());
});

test("a reconcile that never ends blocks neither the stop nor another leader after the lease has expired", async () => {
  await using cluster = await given(map("a", { greet: "me" }));
  const warnings: string[] = [];
  const deaf = defineController({
    ...{ name: "deaf", account: "deaf", rules: [], watches: [watch(configMaps, itself)] },
    reconcile: ({ name }) => (name === "a" ? new Promise(() => undefined) : Promise.resolve(onChange)),
  });
  const one = startOperator({
    ...{ controllers: [deaf], transport: cluster.server.transport(), election: { lease: LEASE, identity: "one" } },
    ...{ clock: cluster.clock, random: seededRandom(1) },
    onStuck: ({ message }) => void warnings.push(message),
  });
  await driven(cluster.clock, one.started);
  const other = operator(cluster, "another", true);
  await cluster.clock.advance(5_000);

  const stopped = one.stop();
  await cluster.clock.advance(10_000);
  await stopped;
  deepEqual(warnings, ["Did not stop within 10 s after cancellation: deaf default/a"]);
  equal((await cluster.client.get(leases, LEASE)).spec?.holderIdentity, "one", "who gives it back says that nothing runs any more");

  await cluster.clock.advance(15_000);
  await driven(cluster.clock, other.started);
  await cluster.settled();
  equal(await signer(cluster, "a"), "another");
  await driven(cluster.clock, other.stop());
});
