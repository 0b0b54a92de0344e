import assert from "node:assert/strict";
import { test } from "node:test";
import { pods } from "../api/core/v1/pod.ts";
import { StatusError } from "../api/machinery/status-error.ts";
import type { Transport } from "../api/machinery/transport.ts";
import { createLogger } from "../base/logger.ts";
import { nodes } from "../api/core/v1/node.ts";
import { readyCondition } from "../api/core/v1/node/health.ts";
import { driven } from "../testing/driven.ts";
import { leaseIntervalMs } from "./many-nodes.ts";
import { kubeletIdentity } from "./kubelet.ts";
import { startWorld, type World } from "./testing/world.ts";
import { buildPod } from "../api/testing/pod.ts";

async function readyOf(world: World, name: string): Promise<string> {
  const { status, reason } = readyCondition(await world.node(name)) ?? {};
  return `${status} ${reason}`;
}

test("the lease renewal interval grows with the number of nodes, and stays below the node monitor grace period", () => {
  const rows = [
    [1, 10_000],
    [500, 10_000],
    [1_000, 20_000],
    [5_000, 40_000],
    [15_000, 40_000],
  ] as const;
  for (const [count, intervalMs] of rows) assert.equal(leaseIntervalMs(count), intervalMs, `${count} nodes`);
});

test("simulated nodes become ready, in their zones, with addresses of their own", async () => {
  await using world = await startWorld();

  const fleet = await world.fleet(3, { zones: ["a", "b"], namePrefix: "w" });

  assert.deepEqual(fleet.names, ["w0", "w1", "w2"]);
  const { items } = await world.client.list(nodes);
  assert.deepEqual(
    items.map(({ metadata, status }) => [metadata.name, metadata.labels?.["topology.kubernetes.io/zone"], status?.addresses?.[0]?.address]),
    [
      ["w0", "a", "172.16.0.1"],
      ["w1", "b", "172.16.0.2"],
      ["w2", "a", "172.16.0.3"],
    ],
  );
});

test("each simulated node receives its own Pods, including those bound later", async () => {
  await using world = await startWorld();
  const fleet = await world.fleet(2);
  await world.pod("a", { nodeName: "node-0" });
  await world.pod("b", { nodeName: "node-1" });
  const { nodeName: _none, ...unbound } = { nodeName: "", containers: [{ name: "c", image: "web:1" }] };
  await world.client.create(pods, buildPod({ metadata: { name: "late", namespace: "default" }, spec: unbound }));
  await world.clock.settle();
  assert.deepEqual([fleet.get("node-0")?.podCount, fleet.get("node-1")?.podCount], [1, 1]);

  const target = { apiVersion: "v1", kind: "Node", name: "node-1" };
  const binding = { apiVersion: "v1", kind: "Binding", metadata: { name: "late" }, target };
  await world.client.post(pods, { namespace: "default", name: "late" }, "binding", binding);
  await world.clock.settle();

  assert.deepEqual([fleet.get("node-0")?.podCount, fleet.get("node-1")?.podCount], [1, 2]);
  assert.equal((await world.get("late"))?.status?.phase, "Running");
});

test("a stopped node becomes NotReady by its lease, and Ready with its Pods when it restarts", async () => {
  await using world = await startWorld(["node-lifecycle-controller"]);
  const fleet = await world.fleet(3);
  await world.pod("p", { nodeName: "node-1" });
  await world.clock.advance(20_000);
  assert.equal(await readyOf(world, "node-1"), "True KubeletReady");

  await fleet.stop("node-1");
  await world.clock.advance(60_000);
  assert.equal(await readyOf(world, "node-1"), "Unknown NodeStatusUnknown");
  assert.equal(await readyOf(world, "node-2"), "True KubeletReady");
  await fleet.start("node-1");
  await world.clock.advance(15_000);

  assert.equal(await readyOf(world, "node-1"), "True KubeletReady");
  const pod = await world.get("p");
  assert.deepEqual([pod?.status?.phase, pod?.status?.conditions?.find(({ type }) => type === "Ready")?.status], ["Running", "True"]);
  assert((await world.eventsOf("node-1")).includes("Normal NodeReady Node node-1 status is now: NodeReady"));
});

test("the last requested state of a node takes effect, even while it stops or starts", async () => {
  await using world = await startWorld();
  const fleet = await world.fleet(1);
  const isRunning = () => fleet.members.map((member) => member.isRunning);

  const stopped = fleet.stop("node-0");
  const begun = fleet.start("node-0");
  assert.deepEqual([fleet.get("node-0"), isRunning()], [undefined, [true]]);
  const kubelet = await driven(world.clock, begun);
  await stopped;
  assert.deepEqual([fleet.get("node-0") === kubelet, isRunning()], [true, [true]]);

  const again = Promise.all([fleet.stop("node-0"), fleet.start("node-0").catch(() => "given up"), fleet.stop("node-0")]);
  assert.deepEqual((await driven(world.clock, again))[1], "given up");
  assert.deepEqual([fleet.get("node-0"), isRunning()], [undefined, [false]]);
});

test("simulated nodes can be added and removed", async () => {
  await using world = await startWorld();
  const fleet = await world.fleet(1);

  await fleet.add();
  await fleet.add("special");
  await fleet.remove("node-0");

  assert.deepEqual(fleet.names, ["node-1", "special"]);
  assert.equal(await readyOf(world, "special"), "True KubeletReady");
});

test("a fleet that continues another one writes nothing, and renews its leases as before", async () => {
  await using world = await startWorld();
  const members = ["node-0", "node-1"].map((name, index) => ({ name, index, isRunning: true }));
  const before = await world.fleet(2);
  await world.pod("p", { nodeName: "node-1" });
  await world.clock.settle();
  await before[Symbol.asyncDispose]();
  const written = world.writes.length;

  const fleet = await world.fleet(2, { members, continues: "meanwhile" });

  assert.equal(fleet.isRunning("node-0"), true);
  assert.equal((await driven(world.clock, fleet.whenBegun("node-1")))?.podCount, 1);
  await world.clock.settle();
  assert.deepEqual([fleet.get("node-0")?.nodeName, world.writes.slice(written)], ["node-0", []]);
  await world.clock.advance(60_000);
  assert.deepEqual([await readyOf(world, "node-0"), await readyOf(world, "node-1")], ["True KubeletReady", "True KubeletReady"]);
});

test("an idle node has one timer, and running Pods add none", async () => {
  await using world = await startWorld();
  const fleet = await world.fleet(1);
  await world.clock.settle();
  const before = world.clock.sleeping;

  for (let index = 1; index < 10; index++) await fleet.add();
  await world.clock.settle();
  const idle = world.clock.sleeping - before;
  for (let index = 0; index < 10; index++) await world.pod(`p${index}`, { nodeName: `node-${index}` });
  await world.clock.settle();

  assert.deepEqual([idle, world.clock.sleeping - before], [9, 9]);
});

/** The history of all objects, in order. */
async function historyOf(): Promise<readonly string[]> {
  await using world = await startWorld();
  const fleet = await world.fleet(5);
  for (let index = 0; index < 20; index++) {
    const annotations = index % 3 === 0 ? { "simulated.k8ts.dev/run-for": "7s", "simulated.k8ts.dev/exit-code": "1" } : {};
    await world.pod(`p${index}`, { nodeName: `node-${index % 5}` }, { annotations, uid: `${index}` });
  }
  await world.clock.advance(30_000);
  await fleet.stop("node-2");
  await world.clock.advance(60_000);
  await fleet.start("node-2");
  await world.clock.advance(60_000);
  const { items } = await world.client.list(pods);
  return [
    ...world.writes,
    ...items.map(({ metadata, status }) => `${metadata.name} ${metadata.resourceVersion} ${JSON.stringify(status)}`),
  ];
}

test("the same seed yields the same history", async () => {
  assert.deepEqual(await historyOf(), await historyOf());
});

test("starting all nodes can be cancelled while it waits for a server", async () => {
  await using world = await startWorld();
  const stop = new AbortController();
  let requests = 0;
  const request = (): Promise<never> => {
    // The nodes that start concurrently: each has sent a request, and waits.
    if (++requests === 32) stop.abort(new Error("start cancelled"));
    return Promise.reject(new Error("server unavailable"));
  };
  const away = { ...world.transportFor({ name: "unknown", groups: [] }), request };

  await assert.rejects(
    world.fleet(40, { transportFor: () => away, signal: stop.signal }),
    /start cancelled|was stopped before it had started/,
  );
});

/** A server that can become unavailable, and the warnings of its clients. */
function lostServer(world: World) {
  const state = { isAway: false };
  const lines: string[] = [];
  const log = createLogger({ sink: ({ level, sentence }) => void lines.push(`${level} ${sentence}`), clock: world.clock, level: "warn" });
  const lossy = (transport: Transport): Transport => ({
    ...transport,
    watch: (request, listener) => transport.watch(request, listener),
    document: (path, options) => transport.document(path, options),
    request: (request) =>
      state.isAway ? Promise.reject(new StatusError("ServiceUnavailable", "connect ECONNREFUSED")) : transport.request(request),
  });
  return { state, lines, log, lossy };
}

test("nodes log an unavailable server once for all of them, and once when it recovers", async () => {
  await using world = await startWorld();
  const { state, lines, log, lossy } = lostServer(world);
  await world.fleet(20, { log, transportFor: (identity) => lossy(world.transportFor(identity)) });

  state.isAway = true;
  await world.clock.advance(60_000);
  assert.deepEqual(lines, ["warn Cannot renew the lease of the node"]);
  state.isAway = false;
  await world.clock.advance(15_000);

  assert.deepEqual(lines, ["warn Cannot renew the lease of the node", "warn All nodes recovered"]);
});

test("a single kubelet logs each failed attempt", async () => {
  await using world = await startWorld();
  const { state, lines, log, lossy } = lostServer(world);
  await world.kubelet("n1", { log, transport: lossy(world.transportFor(kubeletIdentity("n1"))) });

  state.isAway = true;
  await world.clock.advance(60_000);

  const reported = lines.filter((line) => line === "warn Cannot renew the lease of the node").length;
  assert(reported > 5, `${reported} of ${lines.join(", ")}`);
});
