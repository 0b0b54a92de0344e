import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { isGone, startCluster } from "k8ts";
import type { Client, KubeObject } from "k8ts/client";
import { onChange, startOperator } from "k8ts/controllers";
import { configMaps, deployments, events, pods, services } from "k8ts/kinds";
import { everyStepMayBeTheLast, given, seededRandom } from "k8ts/testing";
import { websiteController } from "./website-controller.ts";
import { contains, KIND_LABEL, partsOf, plan, readSpec, statusOf, withStatus, type Website } from "./website.ts";

const KEY = { namespace: "default", name: "shop" };

function website(data: Record<string, string> = { html: "<h1>Shop</h1>", replicas: "2", host: "shop.example.com" }): Website {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { ...KEY, labels: { [KIND_LABEL]: "Website" } }, data };
}

function annotation({ metadata }: KubeObject, name: string): string | undefined {
  return metadata.annotations?.[`example.k8ts.io/${name}`];
}

describe("the spec of a Website", () => {
  const rows = [
    { it: "is parsed from the data", data: { html: "x", replicas: "3", host: "a.b" }, spec: { html: "x", replicas: 3, host: "a.b" } },
    { it: "defaults to one replica and no host", data: { html: "x" }, spec: { html: "x", replicas: 1 } },
    { it: "accepts zero replicas", data: { html: "x", replicas: "0" }, spec: { html: "x", replicas: 0 } },
    { it: "requires a page", data: {}, problems: ["html is missing: it must contain the page"] },
    {
      it: "rejects a fractional number of replicas",
      data: { html: "x", replicas: "1.5" },
      problems: ['replicas is "1.5": it must be a whole number from 0 to 20'],
    },
    {
      it: "rejects more replicas than the maximum",
      data: { html: "x", replicas: "21" },
      problems: ['replicas is "21": it must be a whole number from 0 to 20'],
    },
  ];
  for (const { it, data, spec, problems } of rows) test(it, () => assert.deepEqual(readSpec(website(data)), spec ?? { problems }));
});

describe("the plan", () => {
  const spec = { html: "x", replicas: 2, host: "shop.example.com" };
  const wanted = partsOf(website(), spec);
  const found = wanted.map(({ kind, object }) => ({ kind, object: object as KubeObject }));
  const lines = (...args: Parameters<typeof plan>) => plan(...args).map(({ is, kind: { kind } }) => `${is} ${kind}`);
  const terminating = { deletionTimestamp: "2026-01-01T00:00:00Z" };

  test("creates all objects, the page first", () => {
    assert.deepEqual(lines(wanted, []), ["create ConfigMap", "create Deployment", "create Service", "create Ingress"]);
  });

  test("is empty if all objects are up to date", () => assert.deepEqual(lines(wanted, found), []));

  test("updates only objects that differ", () => {
    assert.deepEqual(lines(partsOf(website(), { ...spec, replicas: 3 }), found), ["change Deployment"]);
    assert.deepEqual(lines(partsOf(website(), { ...spec, html: "y" }), found), ["change ConfigMap", "change Deployment"]);
  });

  test("deletes surplus objects that are not terminating already", () => {
    const { host: _host, ...without } = spec;
    assert.deepEqual(lines(partsOf(website(), without), found), ["delete Ingress"]);
    const deleted = found.map(({ kind, object }) => ({ kind, object: { ...object, metadata: { ...object.metadata, ...terminating } } }));
    assert.deepEqual(lines([], deleted), []);
  });

  test("ignores fields added by the server or other clients", () => {
    assert.equal(contains({ a: 1, b: [{ c: 2, d: 3 }] }, { b: [{ c: 2 }] }), true);
    assert.equal(contains({ b: [{ c: 2 }, { c: 3 }] }, { b: [{ c: 2 }] }), false);
    assert.equal(contains({}, { b: {} }), false);
  });
});

describe("the status", () => {
  const deployment = { apiVersion: "apps/v1", kind: "Deployment", metadata: { ...KEY, generation: 2 } };
  const rows = [
    { it: "no Deployment", status: undefined, message: "0 of 2 pods are ready", ready: "False" },
    {
      it: "one Pod ready",
      status: { observedGeneration: 2, availableReplicas: 1, updatedReplicas: 2 },
      message: "1 of 2 pods are ready",
      ready: "False",
    },
    {
      it: "both Pods ready",
      status: { observedGeneration: 2, availableReplicas: 2, updatedReplicas: 2 },
      message: "2 of 2 pods are ready",
      ready: "True",
    },
    {
      it: "status of an older generation",
      status: { observedGeneration: 1, availableReplicas: 2, updatedReplicas: 2 },
      message: "0 of 2 pods are ready",
      ready: "False",
    },
  ];
  for (const { it, status, message, ready } of rows) {
    test(it, () => {
      const result = statusOf({ html: "x", replicas: 2 }, status === undefined ? undefined : ({ ...deployment, status } as never));
      assert.deepEqual([result.ready, result.message], [ready, message]);
    });
  }

  test("the transition time changes only with readiness", () => {
    const first = withStatus(website(), { ready: "False", reason: "Progressing", message: "0 of 2" }, 0);
    const second = withStatus(first, { ready: "False", reason: "Progressing", message: "1 of 2" }, 1_000);
    const third = withStatus(second, { ready: "True", reason: "AllReady", message: "2 of 2" }, 2_000);
    assert.deepEqual(
      [first, second, third].map((one) => annotation(one, "ready-since")?.slice(17, 19)),
      ["00", "00", "02"],
    );
    assert.equal(withStatus(third, { ready: "True", reason: "AllReady", message: "2 of 2" }, 3_000), third);
  });
});

describe("a pass", () => {
  test("creates all objects, and a second pass writes nothing", async () => {
    await using cluster = await given(website());

    assert.deepEqual(await cluster.reconcile(websiteController, "default/shop"), onChange);

    assert.deepEqual(cluster.actions.splice(0), [
      "create configmaps default/shop-page",
      "create deployments default/shop",
      "create services default/shop",
      "create ingresses default/shop",
      "update configmaps default/shop",
    ]);
    assert.deepEqual(cluster.events.splice(0), [
      "Normal Created ConfigMap/shop Created ConfigMap shop-page",
      "Normal Created ConfigMap/shop Created Deployment shop",
      "Normal Created ConfigMap/shop Created Service shop",
      "Normal Created ConfigMap/shop Created Ingress shop",
      "Normal Progressing ConfigMap/shop 0 of 2 pods are ready",
    ]);
    await cluster.reconcile(websiteController, "default/shop");
    assert.deepEqual([cluster.actions, cluster.events], [[], []]);
  });

  test("reports the number of ready Pods and emits AllReady when all are ready", async () => {
    await using cluster = await given(website());
    await cluster.reconcile(websiteController, "default/shop");
    cluster.events.length = 0;
    const message = async (ready: number) => {
      const deployment = await cluster.client.get(deployments, KEY);
      const status = { observedGeneration: 1, replicas: 2, updatedReplicas: 2, readyReplicas: ready, availableReplicas: ready };
      await cluster.client.updateStatus(deployments, { ...deployment, status });
      await cluster.reconcile(websiteController, "default/shop");
      return annotation(await cluster.client.get(configMaps, KEY), "message");
    };

    assert.equal(await message(1), "1 of 2 pods are ready");
    assert.deepEqual(cluster.events, []);
    assert.equal(await message(2), "2 of 2 pods are ready");
    assert.deepEqual(cluster.events, ["Normal AllReady ConfigMap/shop 2 of 2 pods are ready"]);
  });

  test("restores changed and deleted objects and keeps added labels", async () => {
    await using cluster = await given(website());
    const { client } = cluster;
    await cluster.reconcile(websiteController, "default/shop");
    cluster.actions.length = 0;
    const value = { metadata: { labels: { team: "a" } }, spec: { replicas: 7 } };
    await client.patch(deployments, KEY, { type: "merge", value });
    await client.delete(services, KEY);

    await cluster.reconcile(websiteController, "default/shop");

    assert.deepEqual(
      cluster.actions.map((line) => line.split(" ", 2).join(" ")),
      ["patch deployments", "create services"],
    );
    const { metadata, spec } = await client.get(deployments, KEY);
    assert.deepEqual([metadata.labels?.["team"], spec?.replicas], ["a", 2]);
  });

  test("reports an invalid spec once, changes nothing, and waits for a change", async () => {
    await using cluster = await given(website({ html: "x", replicas: "many" }));

    const outcome = await cluster.reconcile(websiteController, "default/shop");
    await cluster.reconcile(websiteController, "default/shop");

    assert.deepEqual(outcome, onChange);
    assert.deepEqual(cluster.actions, ["update configmaps default/shop"]);
    assert.deepEqual(cluster.events, ['Warning InvalidSpec ConfigMap/shop replicas is "many": it must be a whole number from 0 to 20']);
  });

  test("reports objects that the server rejects", async () => {
    await using cluster = await given(website({ html: "x", host: "no host name" }));

    assert.deepEqual(await cluster.reconcile(websiteController, "default/shop"), onChange);

    const found = await cluster.client.get(configMaps, KEY);
    assert.equal(annotation(found, "reason"), "Refused");
    assert.match(annotation(found, "message") ?? "", /Ingress.*"no host name"/);
  });

  test("does not touch an object of another owner, and retries later", async () => {
    const theirs = { apiVersion: "v1", kind: "Service", metadata: KEY, spec: { ports: [{ port: 443 }] } };
    await using cluster = await given(theirs, website());

    assert.deepEqual(await cluster.reconcile(websiteController, "default/shop"), { again: "after", delayMs: 60_000 });

    assert.deepEqual(cluster.actions, ["update configmaps default/shop"]);
    assert.deepEqual(cluster.events, ["Warning NameTaken ConfigMap/shop Service shop already exists and does not belong to this Website"]);
  });

  test("deletes the objects of a ConfigMap that is no longer a Website", async () => {
    await using cluster = await given(website());
    await cluster.reconcile(websiteController, "default/shop");
    cluster.actions.length = 0;
    await cluster.client.patch(configMaps, KEY, { type: "merge", value: { metadata: { labels: { [KIND_LABEL]: null } } } });

    await cluster.reconcile(websiteController, "default/shop");

    assert.deepEqual(cluster.actions, [
      "delete configmaps default/shop-page",
      "delete deployments default/shop",
      "delete services default/shop",
      "delete ingresses default/shop",
    ]);
  });
});

test("a Website in a cluster becomes ready, follows changes, and is deleted with all its objects", async () => {
  // Pods take three seconds to become ready, so that Progressing is observable.
  const nodes = { count: 2, simulation: { rules: [{ settings: { readyAfter: "3s" } }] } };
  await using cluster = await startCluster({ nodes, clock: "virtual" });
  const { client, clock } = cluster;
  const transport = cluster.transport({ userAgent: "website-operator" });
  await using operator = startOperator({ controllers: [websiteController], transport, clock, random: seededRandom(1) });
  await Promise.all([operator.started, cluster.settle()]);
  const reason = async () => annotation(await cluster.get("configmap/shop"), "reason");

  await cluster.apply(website());
  await cluster.advance("1s");
  assert.equal((await client.list(pods)).items.length, 2);
  assert.equal(await reason(), "Progressing");

  await cluster.advance("10s");
  assert.equal(await reason(), "AllReady");

  await client.patch(configMaps, KEY, { type: "merge", value: { data: { replicas: "3", host: null } } });
  await cluster.until("pods", (found) => found.length === 3);
  await cluster.until("ingress/shop", isGone);
  await cluster.advance("10s");
  const emitted = (await client.list(events)).items.filter(({ source }) => source?.component === "website-operator");
  assert.ok(emitted.some(({ message }) => message === "Deleted Ingress shop"));

  await cluster.delete("configmap/shop");
  await cluster.until("pods", (found) => found.length === 0);
  for (const left of ["deployment/shop", "service/shop", "configmap/shop-page"] as const) await cluster.until(left, isGone);
});

test("the final state is the same after a crash at any step and with late, duplicated or failing requests", async () => {
  const change =
    (value: Record<string, string | null>) =>
    async ({ client }: { readonly client: Client }) => {
      await client.patch(configMaps, KEY, { type: "merge", value: { data: value } });
    };
  await everyStepMayBeTheLast(
    {
      objects: [website()],
      controllers: () => [websiteController],
      steps: [
        async ({ client }) => void (await client.delete(services, KEY)),
        change({ html: "<h1>Sale</h1>", host: null }),
        change({ replicas: "none" }),
        change({ replicas: "0" }),
      ],
      restMs: 60_000,
    },
    { disturbedRuns: 3 },
  );
});
