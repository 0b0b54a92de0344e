import assert from "node:assert/strict";
import { test } from "node:test";
import { onlyPlugins } from "../../testing/admission.ts";
import { startServer } from "../../testing/server.ts";

const NOT_READY = { key: "node.kubernetes.io/not-ready", effect: "NoSchedule" };
const OTHER = { key: "node.kubernetes.io/not-ready", effect: "NoExecute" };

for (const [what, own, all] of [
  ["no taint", [], [NOT_READY]],
  ["another taint", [OTHER], [OTHER, NOT_READY]],
  ["the taint, with a value", [{ ...NOT_READY, value: "x" }], [{ ...NOT_READY, value: "x" }]],
] as const) {
  test(`a new node with ${what} is tainted not-ready, and an update may remove the taint`, async () => {
    await using server = await startServer({ config: { admission: onlyPlugins("TaintNodesByCondition") } });

    const { body } = await server.call("POST", "/api/v1/nodes", { metadata: { name: "n" }, spec: { taints: own } });
    const patch = { spec: { taints: null } };
    const updated = await server.call("PATCH", "/api/v1/nodes/n", patch, { "content-type": "application/merge-patch+json" });

    assert.deepEqual(body.spec.taints, all);
    assert.equal(updated.body.spec.taints, undefined);
  });
}
