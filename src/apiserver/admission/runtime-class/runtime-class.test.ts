import assert from "node:assert/strict";
import { test } from "node:test";
import { onlyPlugins } from "../../testing/admission.ts";
import { startServer, type StartedServer } from "../../testing/server.ts";

const PODS = "/api/v1/namespaces/default/pods";

const CLASSES = {
  plain: {},
  costly: { overhead: { podFixed: { cpu: "1000m", memory: "1Gi" } } },
  free: { overhead: {} },
  placed: { scheduling: { nodeSelector: { a: "b" }, tolerations: [{ key: "k", operator: "Exists" }] } },
};

async function withClasses(): Promise<StartedServer> {
  const server = await startServer({ config: { admission: onlyPlugins("RuntimeClass") } });
  for (const [name, more] of Object.entries(CLASSES)) {
    const { code } = await server.call("POST", "/apis/node.k8s.io/v1/runtimeclasses", { metadata: { name }, handler: "h", ...more });
    assert.equal(code, 201);
  }
  return server;
}

function pod(spec: object) {
  return { metadata: { generateName: "p-" }, spec: { containers: [{ name: "c", image: "i" }], ...spec } };
}

const COST = { cpu: "1", memory: "1Gi" };

for (const [what, spec, wanted] of [
  ["no class", {}, {}],
  ["a class without overhead and scheduling", { runtimeClassName: "plain" }, {}],
  ["a class with a cost", { runtimeClassName: "costly" }, { overhead: COST }],
  [
    "a class with overhead, set to the same",
    { runtimeClassName: "costly", overhead: { cpu: "1", memory: "1073741824" } },
    { overhead: COST },
  ],
  ["a class with empty overhead", { runtimeClassName: "free" }, {}],
  ["a class with a place", { runtimeClassName: "placed" }, { nodeSelector: { a: "b" }, tolerations: [{ key: "k", operator: "Exists" }] }],
  [
    "a class with a place, and has its own",
    {
      runtimeClassName: "placed",
      nodeSelector: { c: "d", a: "b" },
      tolerations: [
        { key: "k", operator: "Equal", value: "v" },
        { key: "m", operator: "Exists" },
      ],
    },
    {
      nodeSelector: { c: "d", a: "b" },
      tolerations: [
        { key: "m", operator: "Exists" },
        { key: "k", operator: "Exists" },
      ],
    },
  ],
] as const) {
  test(`a pod of ${what} gets overhead and scheduling constraints from its RuntimeClass`, async () => {
    await using server = await withClasses();

    const { code, body } = await server.call("POST", PODS, pod(spec));

    assert.equal(code, 201);
    const { overhead, nodeSelector, tolerations } = body.spec;
    assert.deepEqual(
      { overhead, nodeSelector, tolerations },
      { overhead: undefined, nodeSelector: undefined, tolerations: undefined, ...wanted },
    );
  });
}

const OTHER = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead";
const NONE = "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead";

for (const [what, spec, why] of [
  ["of an unknown class", { runtimeClassName: "nope" }, 'pod rejected: RuntimeClass "nope" not found'],
  ["with other overhead", { runtimeClassName: "costly", overhead: { cpu: "2", memory: "1Gi" } }, OTHER],
  ["with partial overhead", { runtimeClassName: "costly", overhead: { cpu: "1" } }, OTHER],
  ["with overhead where the class has empty overhead", { runtimeClassName: "free", overhead: { cpu: "1" } }, OTHER],
  ["with overhead where the class has none", { runtimeClassName: "plain", overhead: { cpu: "1" } }, NONE],
  ["with overhead without a class", { overhead: { cpu: "1" } }, NONE],
  [
    "with a conflicting node selector",
    { runtimeClassName: "placed", nodeSelector: { a: "z" } },
    "conflict: runtimeClass.scheduling.nodeSelector[a] = b; pod.spec.nodeSelector[a] = z",
  ],
] as const) {
  test(`the RuntimeClass plugin rejects a pod ${what}`, async () => {
    await using server = await withClasses();

    const { code, body } = await server.call("POST", PODS, pod(spec));

    assert.equal(code, 403);
    assert.match(body.message, /^pods "p-\w*" is forbidden: /);
    assert(body.message.endsWith(`: ${why}`), body.message);
  });
}

test("deleting or changing a RuntimeClass later changes no pod", async () => {
  await using server = await withClasses();
  const { body } = await server.call("POST", PODS, pod({ runtimeClassName: "costly" }));
  await server.call("DELETE", "/apis/node.k8s.io/v1/runtimeclasses/costly");

  const patch = { metadata: { labels: { a: "b" } } };
  const updated = await server.call("PATCH", `${PODS}/${body.metadata.name}`, patch, { "content-type": "application/merge-patch+json" });

  assert.deepEqual([updated.code, updated.body.spec.overhead], [200, COST]);
});
