import assert from "node:assert/strict";
import { test } from "node:test";
import { configMaps } from "../../api/core/v1/config-map.ts";
import { secrets } from "../../api/core/v1/secret.ts";
import type { Client } from "../../client/client.ts";
import { bootstrapTokenSecret } from "../../testing/fixtures/bootstrap-tokens.ts";
import { startControlledServer } from "../../testing/servers/controlled-server.ts";
import { everyStepMayBeTheLast } from "../../testing/every-step.ts";
import { given } from "../../testing/given.ts";
import { rounds } from "../../testing/rounds.ts";
import { bootstrapSignerController } from "./bootstrap-signer-controller.ts";
import { detachedSignature } from "../../api/core/v1/secret/detached-signature.ts";

const KEY = "kube-public/cluster-info";
const SIGNS = { "usage-bootstrap-signing": "true" };
const SOON = { ...SIGNS, expiration: "2026-01-01T00:01:00Z" };

function clusterInfo(data: Readonly<Record<string, string>> = { kubeconfig: "where it is" }) {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace: "kube-public", name: "cluster-info" }, data };
}

/** Of "0123456789abcdef". */
const key = new TextEncoder().encode("0123456789abcdef");
const signed = (id: string) => ({ [`jws-kubeconfig-${id}`]: detachedSignature("where it is", { id, key }) });

async function dataNow(client: Client): Promise<Readonly<Record<string, string>> | undefined> {
  return (await client.get(configMaps, { namespace: "kube-public", name: "cluster-info" })).data;
}

test("every signing token adds its signature to cluster-info, and other entries stay", async () => {
  await using cluster = await given(
    clusterInfo({ kubeconfig: "where it is", note: "mine" }),
    bootstrapTokenSecret("aaaaaa", SIGNS),
    bootstrapTokenSecret("bbbbbb", SOON),
    bootstrapTokenSecret("cccccc", { "usage-bootstrap-authentication": "true" }),
  );

  const outcome = await cluster.reconcile(bootstrapSignerController, KEY);
  await cluster.reconcile(bootstrapSignerController, KEY);

  assert.deepEqual(outcome, { again: "after", delayMs: 60_000 });
  assert.deepEqual(cluster.actions, ["update configmaps kube-public/cluster-info"]);
  assert.deepEqual(await dataNow(cluster.client), { kubeconfig: "where it is", note: "mine", ...signed("aaaaaa"), ...signed("bbbbbb") });
});

test("signatures of deleted tokens, and of another content, are replaced", async () => {
  const stale = { "jws-kubeconfig-aaaaaa": "another", "jws-kubeconfig-zzzzzz": "gone" };
  await using cluster = await given(clusterInfo({ kubeconfig: "where it is", ...stale }), bootstrapTokenSecret("aaaaaa", SIGNS));

  assert.deepEqual(await cluster.reconcile(bootstrapSignerController, KEY), { again: "on-change" });

  assert.deepEqual(await dataNow(cluster.client), { kubeconfig: "where it is", ...signed("aaaaaa") });
});

test("without cluster-info or tokens nothing is written", async () => {
  await using cluster = await given(clusterInfo({ other: "text", "jws-kubeconfig-zzzzzz": "kept" }), bootstrapTokenSecret("aaaaaa", SIGNS));
  await using empty = await given(bootstrapTokenSecret("aaaaaa", SIGNS));

  await cluster.reconcile(bootstrapSignerController, KEY);
  await empty.reconcile(bootstrapSignerController, KEY);

  assert.deepEqual([cluster.actions, empty.actions], [[], []]);
});

test("with a cluster's roles signatures follow their tokens and the content", async () => {
  await using server = await startControlledServer(["bootstrap-signer-controller"]);
  const path = "/api/v1/namespaces/kube-public/configmaps";
  const ids = async () => {
    await server.clock.settle();
    const { data } = (await server.call("GET", `${path}/cluster-info`)).body;
    return Object.keys(data).flatMap((name) => (name.startsWith("jws-kubeconfig-") ? [name.slice(-6)] : []));
  };
  const tokens = "/api/v1/namespaces/kube-system/secrets";
  for (const [id, values] of [
    ["aaaaaa", SIGNS],
    ["bbbbbb", SOON],
  ] as const)
    await server.call("POST", tokens, JSON.stringify(bootstrapTokenSecret(id, values)));
  await server.call("POST", path, JSON.stringify(clusterInfo()));

  assert.deepEqual(await ids(), ["aaaaaa", "bbbbbb"]);
  await server.clock.advance(60_000);
  assert.deepEqual(await ids(), ["aaaaaa"]);
  const change = JSON.stringify({ data: { kubeconfig: "elsewhere" } });
  await server.call("PATCH", `${path}/cluster-info`, change, { "content-type": "application/merge-patch+json" });
  await server.clock.settle();
  const { data } = (await server.call("GET", `${path}/cluster-info`)).body;
  assert.equal(data["jws-kubeconfig-aaaaaa"], detachedSignature("elsewhere", { id: "aaaaaa", key }));
  await server.call("DELETE", `${tokens}/bootstrap-token-aaaaaa`);
  assert.deepEqual(await ids(), []);
  assert.equal(bootstrapSignerController.onlyIfNamed, true);
});

test("after a crash at any step the signatures match the existing tokens", async () => {
  const scenario = {
    objects: [
      clusterInfo(),
      bootstrapTokenSecret("aaaaaa", SIGNS),
      bootstrapTokenSecret("bbbbbb", { ...SIGNS, expiration: "2026-01-01T00:00:05Z" }),
    ],
    controllers: () => [bootstrapSignerController],
    restMs: 20_000,
    steps: [
      async ({ client }: { readonly client: Client }) => {
        await client.delete(secrets, { namespace: "kube-system", name: "bootstrap-token-aaaaaa" });
      },
    ],
  };

  await everyStepMayBeTheLast(scenario, { deathsMax: rounds({ quick: 4, full: Infinity }), disturbedRuns: rounds({ quick: 1, full: 20 }) });
});
