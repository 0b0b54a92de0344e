import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { hasCondition, isGone, startCluster, type Cluster } from "k8ts";
import { isReason, type KubeObject } from "k8ts/client";
import { startOperator } from "k8ts/controllers";
import { configMaps } from "k8ts/kinds";
import { seededRandom } from "k8ts/testing";
import { databaseController, FINALIZER } from "./database-controller.ts";
import { convert, databases, ENGINE_LABEL, problemOf, withReady, type Database } from "./database.ts";
import { install } from "./install.ts";
import { manifests } from "./manifests.ts";
import { startWebhooks } from "./webhooks.ts";

const KEY = { namespace: "default", name: "orders" };

function database(spec: Partial<Database["spec"]> = {}): Database {
  return {
    apiVersion: "example.k8ts.dev/v1",
    kind: "Database",
    metadata: { ...KEY },
    spec: { engine: { name: "postgres", version: "18" }, storage: { size: "10Gi" }, replicas: 2, ...spec },
  };
}

const OLD: KubeObject = {
  ...{ apiVersion: "example.k8ts.dev/v1alpha1", kind: "Database", metadata: { ...KEY } },
  ...{ spec: { engine: "postgres:18", size: "10Gi", replicas: 2 } },
};

describe("pure functions", () => {
  test("both versions convert to each other without loss", () => {
    assert.deepEqual(convert(OLD, "example.k8ts.dev/v1"), database());
    assert.deepEqual(convert(database(), OLD.apiVersion ?? ""), OLD);
    assert.throws(() => convert(OLD, "example.k8ts.dev/v2"), /cannot convert example.k8ts.dev\/v1alpha1 to example.k8ts.dev\/v2/);
  });

  test("storage cannot shrink, and the engine cannot change", () => {
    const bigger = database({ storage: { size: "20Gi" } });
    assert.equal(problemOf(bigger, database()), undefined);
    assert.equal(problemOf(database(), bigger), "spec.storage.size cannot shrink from 20Gi to 10Gi");
    const other = database({ engine: { name: "mysql", version: "9" } });
    assert.equal(problemOf(other, database()), "spec.engine.name cannot change from postgres to mysql");
  });

  test("a status that does not change is not written again", () => {
    const first = withReady(database(), undefined, 0);
    assert.equal(first.status?.conditions?.[0]?.reason, "Progressing");
    assert.equal(withReady(first, undefined, 60_000), first);
  });
});

/** The cluster, the webhooks and the operator in this process. */
async function withOperator(run: (cluster: Cluster) => Promise<void>): Promise<void> {
  await using cluster = await startCluster({ nodes: 2, clock: "virtual" });
  await using webhooks = await startWebhooks();
  await install(cluster.client, manifests(webhooks), () => cluster.advance("100ms"));
  const transport = cluster.transport({ userAgent: "database-operator" });
  const options = { controllers: [databaseController], transport, clock: cluster.clock, random: seededRandom(1) };
  await using operator = startOperator(options);
  await Promise.all([operator.started, cluster.settle()]);
  await run(cluster);
  await Promise.all([operator.stop(), cluster.advance("1m")]);
}

test("a Database of the old version gets a label, a Deployment and a condition, and is served in both versions", () =>
  withOperator(async (cluster) => {
    await cluster.apply(OLD);
    const ready = await cluster.until<Database>("database/orders", hasCondition("Ready"));

    assert.equal(ready.metadata.labels?.[ENGINE_LABEL], "postgres");
    assert.deepEqual(ready.metadata.finalizers, [FINALIZER]);
    assert.equal(ready.status?.conditions?.[0]?.message, "2 of 2 replicas are ready");
    const stored = await cluster.client.get(databases, KEY);
    assert.deepEqual(stored.spec, database().spec);
    const old = await cluster.client.get({ ...databases, storage: { group: "example.k8ts.dev", version: "v1alpha1" } }, KEY);
    assert.deepEqual((old as KubeObject & { spec: object }).spec, { engine: "postgres:18", size: "10Gi", replicas: 2 });
  }));

test("webhook and schema reject invalid changes; a valid one is rolled out", () =>
  withOperator(async (cluster) => {
    await cluster.apply(database());
    await cluster.until("database/orders", hasCondition("Ready"));
    const change = (spec: object) => cluster.client.patch(databases, KEY, { type: "merge", value: { spec } as never });

    await assert.rejects(change({ storage: { size: "5Gi" } }), /denied the request: spec.storage.size cannot shrink from 10Gi to 5Gi/);
    await assert.rejects(change({ replicas: 10 }), (error: unknown) => isReason(error, "Invalid"));
    await change({ replicas: 3 });
    await cluster.until<Database>("database/orders", (seen) => seen?.status?.conditions?.[0]?.message === "3 of 3 replicas are ready");
  }));

test("a deleted Database leaves a final backup and nothing else", () =>
  withOperator(async (cluster) => {
    await cluster.apply(database());
    await cluster.until("database/orders", hasCondition("Ready"));
    await cluster.delete("database/orders");
    await cluster.until("database/orders", isGone);
    await cluster.until("deployment/orders", isGone);

    const { items } = await cluster.client.list(configMaps, { namespace: "default" });
    const backup = items.find(({ metadata }) => metadata.name.startsWith("orders-backup-"));
    assert.deepEqual(backup?.data, { engine: "postgres", size: "10Gi" });
  }));
