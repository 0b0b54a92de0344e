import assert from "node:assert/strict";
import { test } from "node:test";
import { onlyPlugins } from "../../testing/admission.ts";
import { startServer, type StartedServer } from "../../testing/server.ts";

const PODS = "/api/v1/namespaces/default/pods";
const ZONE = "topology.kubernetes.io/zone";
const REGION = "topology.kubernetes.io/region";
const OF_NODE = { [ZONE]: "z", [REGION]: "r" };

async function withNodes(): Promise<StartedServer> {
  const server = await startServer({ config: { admission: onlyPlugins("PodTopologyLabels") } });
  for (const [name, labels] of Object.entries({ there: { ...OF_NODE, other: "o" }, plain: { other: "o" }, half: { [ZONE]: "h" } })) {
    assert.equal((await server.call("POST", "/api/v1/nodes", { metadata: { name, labels } })).code, 201);
  }
  return server;
}

function pod(labels: object, nodeName = "") {
  const spec = { containers: [{ name: "c", image: "i" }], ...(nodeName === "" ? {} : { nodeName }) };
  return { metadata: { name: "p", labels: labels as never }, spec };
}

for (const [what, target, own, labels] of [
  ["a node", { kind: "Node", name: "there" }, {}, OF_NODE],
  ["a node with half of them", { kind: "Node", name: "half" }, { [REGION]: "own" }, { [ZONE]: "h", [REGION]: "own" }],
  ["a node, whatever its own labels are", { kind: "Node", name: "there" }, { [ZONE]: "own", a: "b" }, { ...OF_NODE, a: "b" }],
  ["a node without such labels", { kind: "Node", name: "plain" }, { a: "b" }, { a: "b" }],
  ["an unknown node", { kind: "Node", name: "nowhere" }, {}, undefined],
  ["what does not say that it is a node", { name: "there" }, {}, undefined],
] as const) {
  test(`a pod bound to ${what} gets the topology labels ${JSON.stringify(labels)}`, async () => {
    await using server = await withNodes();
    await server.call("POST", PODS, pod(own));

    const bound = await server.call("POST", `${PODS}/p/binding`, { metadata: { name: "p" }, target });

    assert.equal(bound.code, 201);
    assert.deepEqual((await server.call("GET", `${PODS}/p`)).body.metadata.labels, labels);
  });
}

test("a pod created with a node name gets the node's topology labels; a binding by the legacy path does not, as upstream", async () => {
  await using server = await withNodes();

  const made = await server.call("POST", PODS, pod({ [ZONE]: "own" }, "there"));
  await server.call("POST", PODS, { ...pod({}), metadata: { name: "q" } });
  await server.call("POST", "/api/v1/namespaces/default/bindings", { metadata: { name: "q" }, target: { kind: "Node", name: "there" } });

  assert.deepEqual(made.body.metadata.labels, OF_NODE);
  assert.equal((await server.call("GET", `${PODS}/q`)).body.metadata.labels, undefined);
});

test("a dry-run binding adds no topology labels", async () => {
  await using server = await withNodes();
  await server.call("POST", PODS, pod({}));

  const target = { kind: "Node", name: "there" };
  assert.equal((await server.call("POST", `${PODS}/p/binding?dryRun=All`, { metadata: { name: "p" }, target })).code, 201);

  const { metadata, spec } = (await server.call("GET", `${PODS}/p`)).body;
  assert.deepEqual([metadata.labels, spec.nodeName], [undefined, undefined]);
});
