import assert from "node:assert/strict";
import { test } from "node:test";
import { bootstrapTokenSecret } from "../../testing/fixtures/bootstrap-tokens.ts";
import { startControlledServer } from "../../testing/servers/controlled-server.ts";
import { everyStepMayBeTheLast } from "../../testing/every-step.ts";
import { given } from "../../testing/given.ts";
import { rounds } from "../../testing/rounds.ts";
import { tokenCleanerController } from "./token-cleaner-controller.ts";

const OVER = { expiration: "2025-12-31T23:59:59Z" };
const SOON = { expiration: "2026-01-01T00:01:00Z" };

test("an expired token is deleted, one with an expiration is requeued, and one without stays", async () => {
  await using cluster = await given(
    bootstrapTokenSecret("aaaaaa", OVER),
    bootstrapTokenSecret("bbbbbb", SOON),
    bootstrapTokenSecret("cccccc", {}),
  );
  const pass = (id: string) => cluster.reconcile(tokenCleanerController, `kube-system/bootstrap-token-${id}`);

  assert.deepEqual(await pass("aaaaaa"), { again: "on-change" });
  assert.deepEqual(await pass("bbbbbb"), { again: "after", delayMs: 60_000 });
  assert.deepEqual(await pass("cccccc"), { again: "on-change" });
  assert.deepEqual(await pass("dddddd"), { again: "on-change" });

  assert.deepEqual(cluster.actions, ["delete secrets kube-system/bootstrap-token-aaaaaa"]);
});

test("a token with an invalid expiration is expired, and other Secrets are ignored", async () => {
  const elsewhere = bootstrapTokenSecret("bbbbbb", OVER, { namespace: "default" });
  const opaque = { ...bootstrapTokenSecret("cccccc", OVER), type: "Opaque" };
  await using cluster = await given(bootstrapTokenSecret("aaaaaa", { expiration: "soon" }), elsewhere, opaque);

  for (const key of ["kube-system/bootstrap-token-aaaaaa", "default/bootstrap-token-bbbbbb", "kube-system/bootstrap-token-cccccc"]) {
    await cluster.reconcile(tokenCleanerController, key);
  }

  assert.deepEqual(cluster.actions, ["delete secrets kube-system/bootstrap-token-aaaaaa"]);
});

test("it runs only if named, and then deletes a token when it expires, with a cluster's roles", async () => {
  await using server = await startControlledServer(["token-cleaner-controller"]);
  const secrets = "/api/v1/namespaces/kube-system/secrets";
  await server.call("POST", secrets, JSON.stringify(bootstrapTokenSecret("aaaaaa", SOON)));
  const code = async () => (await server.call("GET", `${secrets}/bootstrap-token-aaaaaa`)).code;

  await server.clock.advance(59_000);
  assert.equal(await code(), 200);
  await server.clock.advance(1_000);
  assert.equal(await code(), 404);
  assert.equal(tokenCleanerController.onlyIfNamed, true);
});

test("after a crash at any step expired tokens are deleted and others stay", async () => {
  const scenario = {
    objects: [
      bootstrapTokenSecret("aaaaaa", OVER),
      bootstrapTokenSecret("bbbbbb", { expiration: "2026-01-01T00:00:02Z" }),
      bootstrapTokenSecret("cccccc", SOON),
    ],
    controllers: () => [tokenCleanerController],
    restMs: 20_000,
    // Before the last one expires.
    idleMs: 20_000,
  };

  await everyStepMayBeTheLast(scenario, { deathsMax: rounds({ quick: 4, full: Infinity }), disturbedRuns: rounds({ quick: 1, full: 20 }) });
});
