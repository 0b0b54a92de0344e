import assert from "node:assert/strict";
import { test } from "node:test";
import { onlyPlugins } from "../../testing/admission.ts";
import { startServer, type StartedServer } from "../../testing/server.ts";

const PODS = "/api/v1/namespaces/default/pods";
const NOT_READY = { key: "node.kubernetes.io/not-ready", operator: "Exists", effect: "NoExecute", tolerationSeconds: 20 };
const UNREACHABLE = { key: "node.kubernetes.io/unreachable", operator: "Exists", effect: "NoExecute", tolerationSeconds: 30 };

function start(): Promise<StartedServer> {
  const admission = { ...onlyPlugins("DefaultTolerationSeconds"), notReadyTolerationSeconds: 20, unreachableTolerationSeconds: 30 };
  return startServer({ config: { admission } });
}

function pod(tolerations: readonly object[]) {
  return { metadata: { name: "p" }, spec: { containers: [{ name: "c", image: "i" }], tolerations: tolerations as never } };
}

for (const [what, own, added] of [
  ["sets nothing", [], [NOT_READY, UNREACHABLE]],
  ["tolerates everything", [{ operator: "Exists" }], []],
  ["tolerates eviction by everything", [{ operator: "Exists", effect: "NoExecute" }], []],
  ["tolerates everything but eviction", [{ operator: "Exists", effect: "NoSchedule" }], [NOT_READY, UNREACHABLE]],
  ["tolerates one of the two", [{ key: NOT_READY.key, operator: "Exists" }], [UNREACHABLE]],
  ["tolerates one of the two with a value", [{ key: UNREACHABLE.key, value: "x", effect: "NoExecute" }], [NOT_READY]],
  ["speaks of one, not of eviction", [{ key: NOT_READY.key, operator: "Exists", effect: "NoSchedule" }], [NOT_READY, UNREACHABLE]],
] as const) {
  test(`DefaultTolerationSeconds: a pod that ${what} gets ${added.length} tolerations`, async () => {
    await using server = await start();

    const { body } = await server.call("POST", PODS, pod(own));

    assert.deepEqual(body.spec.tolerations ?? [], [...own, ...added]);
  });
}

test("DefaultTolerationSeconds restores tolerations that an update omits and skips status updates", async () => {
  await using server = await start();
  await server.call("POST", PODS, pod([]));
  const merge = { "content-type": "application/merge-patch+json" };

  const updated = await server.call("PATCH", `${PODS}/p`, { spec: { tolerations: [NOT_READY] } }, merge);
  const status = await server.call("PATCH", `${PODS}/p/status`, { status: { message: "m" } }, merge);

  assert.deepEqual([updated.code, updated.body.spec.tolerations], [200, [NOT_READY, UNREACHABLE]]);
  assert.deepEqual([status.code, status.body.spec.tolerations], [200, [NOT_READY, UNREACHABLE]]);
});
