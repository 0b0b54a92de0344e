import { equal, notEqual, ok } from "node:assert/strict";
import { test } from "node:test";
import type { Deployment } from "../../src/api/generated/apps/v1.ts";
import type { Lease } from "../../src/api/generated/coordination.k8s.io/v1.ts";
import type { Node, Pod } from "../../src/api/generated/core/v1.ts";
import { EventLog } from "../../src/testing/event-log.ts";
import { rounds, testSeed } from "../../src/testing/rounds.ts";
import type { Cluster } from "../../src/embedded/cluster.ts";
import { startCluster } from "../../src/embedded/start-cluster.ts";
import { isRolledOut } from "../../src/embedded/conditions.ts";

const NODES = 5;
const DEPLOYMENTS = 20;
const REPLICAS = 5;
const RUNS = rounds({ quick: 4, full: 100 });

function deployment(index: number, image: string) {
  const name = `web-${index}`;
  const labels = { app: name };
  const resources = { requests: { cpu: "100m", memory: "64Mi" } };
  const template = { metadata: { labels }, spec: { containers: [{ name: "c", image, resources }] } };
  const spec = { replicas: REPLICAS, selector: { matchLabels: labels }, template };
  return { apiVersion: "apps/v1", kind: "Deployment", metadata: { name }, spec };
}

/** Passive objects, so that there are 200 with those that run. */
function configMap(index: number) {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name: `c-${index}` }, data: { index: String(index) } };
}

const indexes = (count: number) => Array.from({ length: count }, (_, index) => index);

/** Rolling updates while a node is lost and recovers. */
async function runRollouts(cluster: Cluster): Promise<EventLog> {
  const log = await EventLog.follow(cluster.client);
  await cluster.apply(indexes(60).map(configMap));
  await cluster.apply(indexes(DEPLOYMENTS).map((index) => deployment(index, "web:1")));
  for (const index of indexes(DEPLOYMENTS)) await cluster.until(`deployment/web-${index}`, isRolledOut);
  await cluster.apply(indexes(DEPLOYMENTS).map((index) => deployment(index, "web:2")));
  await cluster.nodes.stop("node-3");
  await cluster.advance("7m");
  await cluster.nodes.start("node-3");
  for (const index of indexes(DEPLOYMENTS)) await cluster.until<Deployment>(`deployment/web-${index}`, isRolledOut);
  await cluster.advance("1m");
  return log;
}

async function run(seed: number): Promise<EventLog> {
  await using cluster = await startCluster({ nodes: NODES, clock: "virtual", seed });
  return await runRollouts(cluster);
}

const command = (seed: number) => `K8TS_SEED=${seed} npm test -- determinism`;

test(`${RUNS} runs with the same seed have identical histories, event for event`, async () => {
  const seed = testSeed();
  const first = await run(seed);
  ok(first.lines.length > 1_000, `${first.lines.length} events`);
  for (let round = 1; round < RUNS; round++) {
    const difference = (await run(seed)).differenceFrom(first);
    equal(difference, undefined, `Seed ${seed} produced two different histories; repeat it with: ${command(seed)}`);
  }
});

test("different seeds produce different histories", async () => {
  const seed = testSeed();
  const logs = [await run(seed), await run(seed + 1)];
  notEqual(logs[0]?.differenceFrom(logs[1] as EventLog), undefined, `Repeat it with: ${command(seed)}`);
});

test("a lost node is unreachable 50 seconds after its last lease renewal, and its Pods are evicted exactly 300 seconds later", async () => {
  await using cluster = await startCluster({ nodes: 2, clock: "virtual", seed: testSeed() });
  await cluster.apply({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "p" },
    spec: { nodeName: "node-1", containers: [{ name: "c", image: "x" }] },
  });
  await cluster.advance("65s");
  const lease = await cluster.get<Lease>("lease/node-1", { namespace: "kube-node-lease" });
  const lastSeenMs = Date.parse(lease.spec?.renewTime ?? "");
  await cluster.nodes.stop("node-1");

  const unreachable = (node: Node | undefined) => node?.spec?.taints?.find(({ effect }) => effect === "NoExecute");
  const lost = await cluster.until<Node>("node/node-1", (node) => unreachable(node) !== undefined);
  equal(cluster.clock.now() - lastSeenMs, 50_000);

  // The timeAdded of a taint has whole seconds.
  const taintedAtMs = Date.parse(unreachable(lost)?.timeAdded ?? "");
  equal(taintedAtMs, Math.floor(cluster.clock.now() / 1_000) * 1_000);
  await cluster.until<Pod>("pod/p", (pod) => pod?.metadata.deletionTimestamp !== undefined);
  equal(cluster.clock.now() - taintedAtMs, 300_000);
});
