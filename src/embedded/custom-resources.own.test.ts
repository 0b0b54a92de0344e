/** Custom resources in a whole cluster: a controller of its own, garbage collection, namespaces, quotas. */
import { deepEqual, equal, rejects } from "node:assert/strict";
import { test } from "node:test";
import { configMaps } from "../api/core/v1/config-map.ts";
import { namespaces } from "../api/core/v1/namespace.ts";
import { resourceQuotas } from "../api/core/v1/resource-quota.ts";
import { customResourceDefinitions } from "../api/apiextensions.k8s.io/v1/custom-resource-definition.ts";
import type { CustomResourceDefinition } from "../api/generated/apiextensions.k8s.io/v1.ts";
import type { KubeObject } from "../api/machinery/object.ts";
import { isConditionTrue } from "../api/machinery/conditions.ts";
import { isReason } from "../api/machinery/status-error.ts";
import { seededRandom } from "../base/random.ts";
import type { Client, Draft, ResourceKind } from "../client/client.ts";
import { startOperator } from "../components/leader-election/operator.ts";
import { defineController, onChange, watch } from "../controllers/runtime/controller.ts";
import { itself, itsController } from "../controllers/runtime/keys.ts";
import type { Cluster } from "./cluster.ts";
import { startCluster } from "./start-cluster.ts";

interface CronTab extends KubeObject {
  readonly spec: { readonly schedule: string; readonly replicas?: number };
  readonly status?: { readonly phase?: string };
}

const cronTabs: ResourceKind<CronTab> = {
  kind: "CronTab",
  plural: "crontabs",
  scope: "Namespaced",
  storage: { group: "example.com", version: "v1" },
};

const DEFINITION: Draft<CustomResourceDefinition> = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "crontabs.example.com" },
  spec: {
    group: "example.com",
    scope: "Namespaced",
    names: { plural: "crontabs", kind: "CronTab" },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: {
              spec: { type: "object", properties: { schedule: { type: "string" }, replicas: { type: "integer", default: 1 } } },
              status: { type: "object", properties: { phase: { type: "string" } } },
            },
          },
        },
      },
    ],
  },
};

function cronTab(name: string, namespace = "default"): Draft<CronTab> {
  return { apiVersion: "example.com/v1", kind: "CronTab", metadata: { name, namespace }, spec: { schedule: "* * * * *" } };
}

/** Keeps a ConfigMap with the schedule of every CronTab. */
const controller = defineController({
  name: "crontab-controller",
  account: "crontab-operator",
  rules: [],
  watches: [watch(cronTabs, itself), watch(configMaps, itsController(cronTabs))],
  async reconcile(key, { read, write }) {
    const found = read.get(cronTabs, key);
    if (found === undefined || found.metadata.deletionTimestamp !== undefined) return onChange;
    const { name, namespace = "", uid = "" } = found.metadata;
    if (read.get(configMaps, key) === undefined) {
      const ownerReferences = [{ apiVersion: "example.com/v1", kind: "CronTab", name, uid, controller: true }];
      await write.create(configMaps, {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { name, namespace, ownerReferences },
        data: { schedule: found.spec.schedule, replicas: String(found.spec.replicas) },
      });
    }
    if (found.status?.phase !== "Ready") await write.updateStatus(cronTabs, { ...found, status: { phase: "Ready" } });
    return onChange;
  },
});

async function startWithDefinition(): Promise<Cluster> {
  const cluster = await startCluster({ nodes: 0, clock: "virtual" });
  await cluster.client.create(customResourceDefinitions, DEFINITION);
  await settledUntil(cluster, async () => {
    const { status } = await cluster.client.get(customResourceDefinitions, { name: "crontabs.example.com" });
    return isConditionTrue(status?.conditions, "Established");
  });
  return cluster;
}

/** Lets virtual time pass until the condition holds. */
async function settledUntil(cluster: Cluster, holds: () => Promise<boolean>): Promise<void> {
  for (let second = 0; second < 300; second++) {
    if (await holds()) return;
    await cluster.advance("1s");
  }
  throw new Error("The cluster did not reach the expected state");
}

async function exists<T extends KubeObject>(
  client: Client,
  kind: ResourceKind<T>,
  key: { namespace?: string; name: string },
): Promise<boolean> {
  try {
    await client.get(kind, key);
    return true;
  } catch (error) {
    if (isReason(error, "NotFound")) return false;
    throw error;
  }
}

test("a controller reconciles custom resources, and the garbage collector deletes what they own", async () => {
  await using cluster = await startWithDefinition();
  const { client, clock } = cluster;
  const transport = cluster.transport({ userAgent: "crontab-operator" });
  await using operator = startOperator({ controllers: [controller], transport, clock, random: seededRandom(1) });
  await Promise.all([operator.started, cluster.settle()]);
  const key = { namespace: "default", name: "a" };

  await client.create(cronTabs, cronTab("a"));
  await settledUntil(cluster, async () => (await client.get(cronTabs, key)).status?.phase === "Ready");
  const made = await client.get(configMaps, key);
  await client.delete(cronTabs, key);
  await settledUntil(cluster, async () => !(await exists(client, configMaps, key)));

  deepEqual(made.data, { schedule: "* * * * *", replicas: "1" });
});

test("a deleted namespace is emptied of custom resources, and quotas count them", async () => {
  await using cluster = await startWithDefinition();
  const { client } = cluster;
  await client.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name: "team" } });
  await client.create(resourceQuotas, {
    apiVersion: "v1",
    kind: "ResourceQuota",
    metadata: { name: "few", namespace: "team" },
    spec: { hard: { "count/crontabs.example.com": "1" } },
  });
  await settledUntil(
    cluster,
    async () => (await client.get(resourceQuotas, { namespace: "team", name: "few" })).status?.used !== undefined,
  );

  await client.create(cronTabs, cronTab("a", "team"));
  await rejects(client.create(cronTabs, cronTab("b", "team")), /exceeded quota: few, requested: count\/crontabs.example.com=1/);
  await client.delete(namespaces, { name: "team" });
  await settledUntil(cluster, async () => !(await exists(client, namespaces, { name: "team" })));

  equal((await client.list(cronTabs)).items.length, 0);
});
