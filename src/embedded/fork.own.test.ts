/** "fork() copies the store in O(1) and restarts the components on the copy": same state, same time, both on their own from then on. */
import { deepEqual, equal, notDeepEqual, notEqual, ok, rejects } from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { Node, Pod } from "../api/generated/core/v1.ts";
import { aConfigMap, aDeployment, aPod } from "../testing/clients/manifests.ts";
import { EventLog } from "../testing/event-log.ts";
import type { Cluster } from "./cluster.ts";
import { startCluster } from "./start-cluster.ts";
import { isReady, isRolledOut } from "./conditions.ts";

/** Fields that would change if a Pod were touched. */
async function podsOf(cluster: Cluster) {
  const pods = await cluster.until<Pod>("pods", () => true);
  return pods.map(({ metadata, spec, status }) => ({
    ...{ name: metadata.name, uid: metadata.uid, resourceVersion: metadata.resourceVersion, node: spec?.nodeName, ips: status?.podIPs },
    containers: status?.containerStatuses?.map(({ containerID, restartCount, state }) => ({ containerID, restartCount, state })),
  }));
}

async function withPods(options: Parameters<typeof startCluster>[0]): Promise<Cluster> {
  const cluster = await startCluster(options);
  await cluster.apply(aDeployment("web", { replicas: 6 }));
  await cluster.until("deployment/web", isRolledOut);
  return cluster;
}

for (const clock of ["virtual", "real"] as const) {
  test(`under ${clock} time Pods of a fork keep running: none is restarted, moved or written to`, async () => {
    await using cluster = await withPods({ nodes: 3, clock });
    if (clock === "virtual") await cluster.advance("7m");
    const before = await podsOf(cluster);
    equal(before.length, 6);
    ok(before.every(({ containers }) => containers?.every(({ restartCount }) => restartCount === 0)));

    await using fork = await cluster.fork();

    if (clock === "virtual") equal(fork.clock.now(), cluster.clock.now());
    deepEqual(await podsOf(fork), before);
    if (clock === "virtual") await fork.advance("7m");
    deepEqual(await podsOf(fork), before);
    deepEqual(await podsOf(cluster), before);
  });
}

test("under real time the nodes of a fork are usable before they have begun, and so are those of its fork", async () => {
  await using cluster = await startCluster({ nodes: 40 });
  const annotations = { "simulated.k8ts.dev/exec": '{"hostname": {"stdout": "web"}}' };
  const containers = [{ name: "main", image: "example/app:1" }];
  await cluster.apply({ apiVersion: "v1", kind: "Pod", metadata: { name: "p", annotations }, spec: { containers } });
  const { spec } = await cluster.until<Pod>("pod/p", isReady);
  const own = spec?.nodeName ?? "";
  // The scheduler may still choose the stopped node, whose Lease is not old yet.
  const [stopped = "", nodeName = ""] = cluster.nodes.names().filter((name) => name !== own);

  await using fork = await cluster.fork();
  await fork.nodes.stop(stopped);
  await using second = await fork.fork();

  for (const one of [fork, second]) {
    deepEqual(one.nodes.names(), cluster.nodes.names());
    equal(one.nodes.isRunning(own), true);
    equal(one.nodes.isRunning(stopped), false);
    equal((await one.exec("p", ["hostname"])).stdout, "web");
    await one.apply({ apiVersion: "v1", kind: "Pod", metadata: { name: "new" }, spec: { nodeName, containers } });
    await one.until<Pod>("pod/new", isReady);
  }
});

test("original and fork continue independently, and so do forks of forks", async () => {
  await using a = await startCluster({ clock: "virtual" });
  await a.apply(aConfigMap("shared", { by: "a" }));
  await using b = await a.fork();
  await using c = await b.fork();
  const all = { a, b, c };
  for (const [name, cluster] of Object.entries(all)) await cluster.apply([aConfigMap("shared", { by: name }), aConfigMap(`of-${name}`)]);
  await b.advance("1h");
  await c.delete("configmap/shared");

  for (const [name, cluster] of Object.entries({ a, b })) {
    deepEqual((await cluster.get("configmap/shared"))["data" as never], { by: name });
    for (const other of Object.keys(all).filter((candidate) => candidate !== name)) {
      await rejects(cluster.get(`configmap/of-${other}`), /not found/);
    }
  }
  equal(b.clock.now() - a.clock.now(), 3_600_000);
  equal(c.clock.now(), a.clock.now());
  await a.close();
  await c.apply(aConfigMap("after-its-origin-is-closed"));
});

test("a fork copies nothing of the store: all objects are shared", async () => {
  await using cluster = await startCluster({ nodes: 0, controllers: [], scheduler: false, clock: "virtual" });
  await cluster.apply(Array.from({ length: 300 }, (_, index) => aConfigMap(`c-${index}`)));
  const before = await cluster.until("configmaps", () => true);

  await using fork = await cluster.fork();

  const after = await fork.until("configmaps", () => true);
  equal(after.length, before.length);
  ok(before.length >= 300);
  after.forEach((object, index) => equal(object, before[index], "it is the same object, not an equal one"));
});

test("stopped, removed and added nodes are the same in a fork, with their addresses", async () => {
  await using cluster = await startCluster({ nodes: 3, clock: "virtual" });
  await cluster.nodes.remove("node-1");
  await cluster.delete("node/node-1");
  await cluster.nodes.add("extra");
  await cluster.nodes.stop("node-2");
  await using fork = await cluster.fork();

  deepEqual(fork.nodes.names(), ["node-0", "node-2", "extra"]);
  deepEqual(
    fork.nodes.names().map((name) => fork.nodes.isRunning(name)),
    [true, false, true],
  );
  for (const name of ["node-0", "extra"])
    deepEqual((await fork.get<Node>(`node/${name}`)).status, (await cluster.get<Node>(`node/${name}`)).status);
  equal(await fork.nodes.add(), await cluster.nodes.add());

  await fork.until("node/node-2", (node) => !isReady(node));
  await fork.nodes.start("node-2");
  await fork.until("node/node-2", isReady);
  equal(cluster.nodes.isRunning("node-2"), false);
});

async function historyOf(cluster: Cluster): Promise<EventLog> {
  const log = await EventLog.follow(cluster.client);
  await cluster.apply(aDeployment("late", { replicas: 5 }));
  await cluster.until("deployment/late", isRolledOut);
  await cluster.advance("2m");
  return log;
}

test("forks of one instant with one seed have the same history; with another seed, or none, another", async () => {
  await using cluster = await withPods({ nodes: 3, clock: "virtual" });
  const histories: EventLog[] = [];
  for (const options of [{ seed: 7 }, { seed: 7 }, { seed: 8 }, {}, {}]) {
    await using fork = await cluster.fork(options);
    equal(fork.seed, options.seed ?? 1);
    histories.push(await historyOf(fork));
  }
  const [first, same, ...others] = histories as [EventLog, EventLog, ...EventLog[]];
  equal(same.differenceFrom(first), undefined);
  others.forEach((other, index) => notEqual(other.differenceFrom(first), undefined, `history ${index + 2}`));
  notDeepEqual(others[1]?.lines, others[2]?.lines, "each fork without a seed has chance of its own");
});

test("forks in the same order have the same histories in every run", async () => {
  const run = async () => {
    await using cluster = await withPods({ nodes: 2, clock: "virtual", seed: 3 });
    await using fork = await cluster.fork();
    await using second = await fork.fork();
    return await historyOf(second);
  };
  equal((await run()).differenceFrom(await run()), undefined);
});

test("no UID is repeated, in any sequence of forks", async () => {
  const uids: (string | undefined)[] = [];
  let cluster = await startCluster({ clock: "virtual" });
  for (let generation = 0; generation < 4; generation++) {
    await cluster.apply(aPod(`p-${generation}`));
    const next = await cluster.fork();
    await cluster.close();
    cluster = next;
  }
  for (const { metadata } of await cluster.until<Pod>("pods", () => true)) uids.push(metadata.uid);
  await cluster.close();
  equal(uids.length, 4);
  equal(new Set(uids).size, 4);
});

test("forking a cluster whose store is on disk is rejected with the remedy", async () => {
  const dataDirectory = mkdtempSync(join(tmpdir(), "k8ts-test-"));
  try {
    await using cluster = await startCluster({ store: { driver: "embedded", dataDirectory } });
    await rejects(cluster.fork(), /^Error: Cannot fork this cluster: only the memory store can be forked; use snapshot$/);
  } finally {
    rmSync(dataDirectory, { recursive: true });
  }
});
