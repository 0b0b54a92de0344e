import { deepEqual, equal, rejects } from "node:assert/strict";
import { test } from "node:test";
import { configMaps } from "../api/core/v1/config-map.ts";
import { pods } from "../api/core/v1/pod.ts";
import { after, defineController, onChange, watch, type Controller } from "../controllers/runtime/controller.ts";
import { itself } from "../controllers/runtime/keys.ts";
import { given } from "./given.ts";

const POD = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { namespace: "default", name: "p" },
  spec: { containers: [{ name: "c", image: "i" }] },
  status: { phase: "Running" },
} as const;

const MAY_WRITE = [
  { apiGroups: [""], resources: ["configmaps"], verbs: ["create", "patch", "delete"] },
  { apiGroups: [""], resources: ["pods/status"], verbs: ["update"] },
];

/** Records each pod in a ConfigMap and annotates the pod. */
function noter(rules: Controller["rules"] = MAY_WRITE): Controller {
  return defineController({
    name: "noter",
    account: "noter",
    rules,
    watches: [watch(pods, itself), watch(configMaps, itself)],
    async reconcile(key, { read, write, events }) {
      const pod = read.get(pods, key);
      if (pod === undefined) return onChange;
      const note = read.get(configMaps, key);
      if (note !== undefined) return after(1_000);
      await write.create(configMaps, { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace: "default", name: key.name } });
      await write.updateStatus(pods, { ...pod, status: { message: "noted" } });
      events.record(pod, { type: "Normal", reason: "Noted", message: `Noted ${key.name}` });
      return onChange;
    },
  });
}

test("given: one reconciliation sees the objects with their status, and its actions and events are recorded", async () => {
  await using cluster = await given(POD);
  equal((await cluster.list(pods))[0]?.status?.phase, "Running");

  deepEqual(await cluster.reconcile(noter(), "default/p"), onChange);

  deepEqual(cluster.actions, ["create configmaps default/p", 'status pods default/p {"message":"noted"}']);
  deepEqual(cluster.events, ["Normal Noted Pod/p Noted p"]);
  deepEqual(
    await cluster.reconcile(noter(), { namespace: "default", name: "p" }),
    after(1_000),
    "the next reconciliation sees the writes of the first",
  );
  equal(cluster.actions.length, 2);
});

test("given: a controller without a required rule is rejected, and the rule is named", async () => {
  await using cluster = await given(POD);

  for (const [rules, missing] of [
    [[], "create configmaps"],
    [MAY_WRITE.slice(0, 1), "update pods/status"],
  ] as const) {
    await rejects(cluster.reconcile(noter(rules), "default/p"), {
      reason: "Forbidden",
      message: `noter lacks a rule to ${missing}`,
    });
  }
});

test("given: running controllers reconcile on their own until they are stopped", async () => {
  await using cluster = await given();
  const running = await cluster.run(noter());
  await cluster.client.create(pods, POD);
  await cluster.settled();
  equal((await cluster.list(configMaps, "default")).length, 1);

  await running.stop();
  await cluster.client.create(pods, { ...POD, metadata: { ...POD.metadata, name: "late" } });
  await cluster.settled();

  equal((await cluster.list(configMaps, "default")).length, 1);
});

test("given: an object of an unknown kind is rejected by name", async () => {
  await rejects(
    given({ apiVersion: "example.com/v1", kind: "Widget", metadata: { name: "w" } }),
    /No built-in kind Widget in example.com\/v1/,
  );
});
