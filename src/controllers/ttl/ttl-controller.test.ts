import assert from "node:assert/strict";
import { test } from "node:test";
import { nodes } from "../../api/core/v1/node.ts";
import { everyStepMayBeTheLast } from "../../testing/every-step.ts";
import { given } from "../../testing/given.ts";
import { rounds } from "../../testing/rounds.ts";
import { secretTtlSeconds } from "./secret-ttl.ts";
import { ttlController } from "./ttl-controller.ts";

const ANNOTATION = "node.alpha.kubernetes.io/ttl";
const node = (name: string, ttl?: string) => ({
  apiVersion: "v1" as const,
  kind: "Node" as const,
  metadata: { name, ...(ttl === undefined ? {} : { annotations: { [ANNOTATION]: ttl } }) },
});

const SIZES: readonly [nodeCount: number, current: number | undefined, ttlSeconds: number][] = [
  [0, undefined, 0],
  [100, undefined, 0],
  [101, undefined, 15],
  [95, undefined, 0],
  [95, 15, 15],
  [89, 15, 0],
  [100, 0, 0],
  [101, 0, 15],
  [1_900, 60, 60],
  [1_900, 300, 300],
  [5_000, 0, 300],
  [7, 12_345, 0],
];
for (const [nodeCount, current, ttlSeconds] of SIZES) {
  test(`with ${nodeCount} Nodes and a current TTL of ${current} s the TTL is ${ttlSeconds} s`, () => {
    assert.equal(secretTtlSeconds(nodeCount, current), ttlSeconds);
  });
}

test("every Node is annotated once, a changed annotation is corrected, and nothing is written without a change", async () => {
  await using cluster = await given(node("one"), node("two", "later"));
  await cluster.run(ttlController);
  await cluster.settled();
  assert.deepEqual(new Set(cluster.actions.map((line) => line.split(" {")[0])), new Set(["patch nodes one", "patch nodes two"]));

  const { name } = node("one").metadata;
  await cluster.client.patch(nodes, { name }, { type: "merge", value: { metadata: { annotations: { [ANNOTATION]: "60" } } } });
  await cluster.settled();

  const found = await cluster.list(nodes);
  assert.deepEqual(
    found.map(({ metadata }) => metadata.annotations?.[ANNOTATION]),
    ["0", "0"],
  );
  assert.equal(cluster.actions.length, 3);
});

test("a cluster that grows beyond a step changes all its Nodes, and stays there while it shrinks a little", async () => {
  const names = Array.from({ length: 101 }, (_, index) => `n${index}`);
  await using cluster = await given(...names.map((name) => node(name)));
  await cluster.run(ttlController);
  await cluster.settled();
  const ttls = async () => [...new Set((await cluster.list(nodes)).map(({ metadata }) => metadata.annotations?.[ANNOTATION]))];
  assert.deepEqual(await ttls(), ["15"]);

  for (const name of names.slice(0, 6)) await cluster.client.delete(nodes, { name });
  await cluster.settled();

  assert.deepEqual(await ttls(), ["15"]);
});

test("after a crash at any step every Node has the TTL of the cluster's size", () =>
  everyStepMayBeTheLast(
    {
      objects: [node("one"), node("two", "15")],
      controllers: () => [ttlController],
      restMs: 20_000,
      steps: [async ({ client }) => void (await client.create(nodes, node("three")))],
    },
    { disturbedRuns: rounds({ quick: 2, full: 20 }) },
  ));
