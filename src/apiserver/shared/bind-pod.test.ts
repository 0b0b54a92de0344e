import assert from "node:assert/strict";
import { test } from "node:test";
import { startServer, type StartedServer } from "../testing/server.ts";

const PODS = "/api/v1/namespaces/default/pods";

async function withPod(): Promise<StartedServer> {
  const server = await startServer();
  await server.call("POST", PODS, { metadata: { name: "p" }, spec: { containers: [{ name: "c", image: "i" }] } });
  return server;
}

test("binding a Pod sets nodeName and the condition PodScheduled and keeps the generation", async () => {
  await using server = await withPod();

  const bound = await server.call("POST", `${PODS}/p/binding`, { metadata: { name: "p" }, target: { name: "n" } });
  const { body } = await server.call("GET", `${PODS}/p`);

  assert.deepEqual([bound.code, bound.body.status], [201, "Success"]);
  assert.deepEqual([body.spec.nodeName, body.metadata.generation], ["n", 1]);
  assert.deepEqual(body.status.conditions, [
    { type: "PodScheduled", status: "True", lastProbeTime: null, lastTransitionTime: "2026-01-01T00:00:00Z" },
  ]);
});

for (const [what, binding, code, message] of [
  ["without a target", { metadata: { name: "p" }, target: {} }, 500, /^target.name: Required value$/],
  [
    "to another kind than Node",
    { metadata: { name: "p" }, target: { kind: "Zz", name: "n" } },
    500,
    /^target.kind: Unsupported value: "Zz"/,
  ],
  ["with another uid", { metadata: { name: "p", uid: "u" }, target: { name: "n" } }, 409, /Precondition failed: UID in precondition: u,/],
  [
    "with an old resourceVersion",
    { metadata: { name: "p", resourceVersion: "1" }, target: { name: "n" } },
    409,
    /Precondition failed: ResourceVersion in precondition: 1,/,
  ],
] as const) {
  test(`a binding ${what} is rejected with ${code}`, async () => {
    await using server = await withPod();

    const answer = await server.call("POST", `${PODS}/p/binding`, binding);

    assert.equal(answer.code, code);
    assert.match(answer.body.message, message);
  });
}
