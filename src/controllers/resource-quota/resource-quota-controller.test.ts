import assert from "node:assert/strict";
import { test } from "node:test";
import { configMaps } from "../../api/core/v1/config-map.ts";
import { resourceQuotas } from "../../api/core/v1/resource-quota.ts";
import { secrets } from "../../api/core/v1/secret.ts";
import type { JsonObject } from "../../api/machinery/object.ts";
import { everyStepMayBeTheLast } from "../../testing/every-step.ts";
import { given } from "../../testing/given.ts";
import { rounds } from "../../testing/rounds.ts";
import { memoryStore } from "../../testing/fixtures/memory-store.ts";
import { virtualClock } from "../../testing/virtual-clock.ts";
import {
  startControlledServer,
  WITH_ALL_ADMISSION,
  type ControlledServer,
  type ControlledServerOptions,
} from "../../testing/servers/controlled-server.ts";
import { overtaken } from "../runtime/testing/overtaken.ts";
import { resourceQuotaController } from "./resource-quota-controller.ts";

const QUOTAS = "/api/v1/namespaces/ns/resourcequotas";
const MERGE = { "content-type": "application/merge-patch+json" };

async function start(
  options: Pick<ControlledServerOptions, "clock" | "store"> & { readonly controllers?: readonly string[] } = {},
): Promise<ControlledServer> {
  const { controllers = ["resourcequota-controller"], ...more } = options;
  const server = await startControlledServer(controllers, { config: WITH_ALL_ADMISSION, ...more });
  await server.call("POST", "/api/v1/namespaces", { metadata: { name: "ns" } });
  return server;
}

async function addQuota(server: ControlledServer, hard: JsonObject): Promise<void> {
  assert.equal((await server.call("POST", QUOTAS, { metadata: { name: "q" }, spec: { hard } })).code, 201);
}

/** Once everything has settled. */
async function quotaOf(server: ControlledServer): Promise<CallBody> {
  await server.clock.settle();
  return (await server.call("GET", `${QUOTAS}/q`)).body;
}

interface CallBody {
  readonly status: object;
}

async function makeSecrets(server: ControlledServer, ...names: readonly string[]): Promise<void> {
  for (const name of names) await server.call("POST", "/api/v1/namespaces/ns/secrets", { metadata: { name } });
}

test("a quota shows its usage soon after it was created, and after it was changed", async () => {
  await using server = await start();
  await makeSecrets(server, "a", "b");

  await addQuota(server, { secrets: "1" });
  assert.deepEqual((await quotaOf(server)).status, { hard: { secrets: "1" }, used: { secrets: "2" } });

  await server.call("PATCH", `${QUOTAS}/q`, { spec: { hard: { secrets: "2", services: "0" } } }, MERGE);
  assert.deepEqual((await quotaOf(server)).status, { hard: { secrets: "2", services: "0" }, used: { secrets: "2", services: "0" } });
});

test("usage is corrected after deletions, and after foreign status writes", async () => {
  await using server = await start();
  await makeSecrets(server, "a", "b");
  await addQuota(server, { secrets: "5" });
  await quotaOf(server);

  await server.call("DELETE", "/api/v1/namespaces/ns/secrets/a");
  await server.clock.advance(2_000);
  assert.deepEqual((await quotaOf(server)).status, { hard: { secrets: "5" }, used: { secrets: "1" } });

  await server.call("PATCH", `${QUOTAS}/q/status`, { status: { hard: { secrets: "9" }, used: { secrets: "9" } } }, MERGE);
  await server.clock.advance(2_000);
  assert.deepEqual((await quotaOf(server)).status, { hard: { secrets: "5" }, used: { secrets: "1" } });
});

const NAMESPACE = "/api/v1/namespaces/ns";

/** `used` of each quota, by name. */
async function usedByQuota(server: ControlledServer): Promise<Record<string, object>> {
  await server.clock.advance(2_000);
  const { items } = (await server.call("GET", QUOTAS)).body as { items: { metadata: { name: string }; status: { used: object } }[] };
  return Object.fromEntries(items.map(({ metadata, status }) => [metadata.name, status.used]));
}

test("a Pod whose update sets activeDeadlineSeconds moves from the NotTerminating quota to the Terminating one", async () => {
  await using server = await start();
  await server.call("POST", `${NAMESPACE}/serviceaccounts`, { metadata: { name: "default" } });
  for (const scope of ["Terminating", "NotTerminating"]) {
    const quota = { metadata: { name: scope.toLowerCase() }, spec: { hard: { pods: "5", "requests.cpu": "1" }, scopes: [scope] } };
    assert.equal((await server.call("POST", QUOTAS, quota)).code, 201);
  }
  const containers = [{ name: "c", image: "i", resources: { requests: { cpu: "100m" } } }];
  assert.equal((await server.call("POST", `${NAMESPACE}/pods`, { metadata: { name: "p" }, spec: { containers } })).code, 201);
  const [none, one] = [
    { pods: "0", "requests.cpu": "0" },
    { pods: "1", "requests.cpu": "100m" },
  ];
  assert.deepEqual(await usedByQuota(server), { terminating: none, notterminating: one });

  assert.equal((await server.call("PATCH", `${NAMESPACE}/pods/p`, { spec: { activeDeadlineSeconds: 3600 } }, MERGE)).code, 200);

  assert.deepEqual(await usedByQuota(server), { terminating: one, notterminating: none });
});

test("a claim whose status names another VolumeAttributesClass moves from one class's quota to the other's", async () => {
  await using server = await start();
  for (const name of ["silver", "gold"]) {
    const scopeSelector = { matchExpressions: [{ scopeName: "VolumeAttributesClass", operator: "In", values: [name] }] };
    const quota = { metadata: { name }, spec: { hard: { persistentvolumeclaims: "5" }, scopeSelector } };
    assert.equal((await server.call("POST", QUOTAS, quota)).code, 201);
  }
  const spec = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };
  assert.equal((await server.call("POST", `${NAMESPACE}/persistentvolumeclaims`, { metadata: { name: "c" }, spec })).code, 201);
  const become = (name: string) =>
    server.call("PATCH", `${NAMESPACE}/persistentvolumeclaims/c/status`, { status: { currentVolumeAttributesClassName: name } }, MERGE);
  const [none, one] = [{ persistentvolumeclaims: "0" }, { persistentvolumeclaims: "1" }];

  assert.equal((await become("silver")).code, 200);
  assert.deepEqual(await usedByQuota(server), { silver: one, gold: none });
  assert.equal((await become("gold")).code, 200);

  assert.deepEqual(await usedByQuota(server), { silver: none, gold: one });
});

test("events are not counted", async () => {
  await using server = await start();

  await addQuota(server, { "count/events": "1", "count/events.events.k8s.io": "1", "count/secrets": "3" });

  const hard = { "count/events": "1", "count/events.events.k8s.io": "1", "count/secrets": "3" };
  assert.deepEqual((await quotaOf(server)).status, { hard, used: { "count/secrets": "0" } });
});

test("nothing is written while nothing changes", async () => {
  await using server = await start();
  await makeSecrets(server, "a");
  await addQuota(server, { secrets: "5", "count/configmaps": "1" });
  await server.clock.advance(10_000);

  const before = await server.store.currentRevision();
  await server.clock.advance(3_600_000);

  assert.equal(await server.store.currentRevision(), before);
});

test("quotas created while the controller was down are counted at startup", async () => {
  const clock = virtualClock();
  const memory = memoryStore(clock);
  const before = await start({ clock, store: memory, controllers: [] });
  await addQuota(before, { secrets: "1" });
  assert.deepEqual((await quotaOf(before)).status, {});
  await before.server.close();

  await using after = await start({ clock, store: memory });

  assert.deepEqual((await quotaOf(after)).status, { hard: { secrets: "1" }, used: { secrets: "0" } });
});

test("concurrent writers right after a quota was created are admitted up to its limit, and its usage shows that", async () => {
  await using server = await start();
  await makeSecrets(server, "before");
  await addQuota(server, { secrets: "5" });

  await Promise.all(Array.from({ length: 16 }, (_, index) => makeSecrets(server, `s${index}`)));

  assert.deepEqual((await quotaOf(server)).status, { hard: { secrets: "5" }, used: { secrets: "5" } });
  assert.equal((await server.call("GET", "/api/v1/namespaces/ns/secrets")).body.items.length, 5);
});

test("usage charged after the quota was read is not overwritten by an older count", async () => {
  const key = { namespace: "default", name: "q" };
  await using cluster = await given({ apiVersion: "v1", kind: "ResourceQuota", metadata: key, spec: { hard: { secrets: "5" } } });
  const charged = { hard: { secrets: "5" }, used: { secrets: "4" } };
  const controller = overtaken(resourceQuotaController, "updateStatus", () =>
    cluster.client.patch(resourceQuotas, key, { type: "merge", value: { status: charged } }, { subresource: "status" }),
  );

  await assert.rejects(cluster.reconcile(controller, "default/q"), { reason: "Conflict" });
  assert.deepEqual((await cluster.client.get(resourceQuotas, key)).status, charged);
});

test("a crash at any step does not change the final state", () => {
  const metadata = (name: string) => ({ name, namespace: "default" });
  return everyStepMayBeTheLast(
    {
      objects: [
        { apiVersion: "v1", kind: "Secret", metadata: metadata("a") },
        { apiVersion: "v1", kind: "ResourceQuota", metadata: metadata("q"), spec: { hard: { secrets: "5", "count/configmaps": "2" } } },
      ],
      controllers: () => [resourceQuotaController],
      // All kinds are watched: receiving all of them over broken streams takes a while.
      restMs: 300_000,
      steps: [
        async ({ client }) => void (await client.create(configMaps, { apiVersion: "v1", kind: "ConfigMap", metadata: metadata("c") })),
        async ({ client }) => void (await client.delete(secrets, metadata("a"))),
      ],
    },
    { disturbedRuns: rounds({ quick: 2, full: 50 }) },
  );
});
