/**
 * Schedulers as processes on one API server: whatever happens to the leader, the other one takes over, and every Pod is bound once; and
 * schedulers of different names run side by side.
 */
import { deepEqual, equal, ok } from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { events } from "../../src/api/core/v1/event.ts";
import { nodes } from "../../src/api/core/v1/node.ts";
import { pods } from "../../src/api/core/v1/pod.ts";
import type { Pod } from "../../src/api/generated/core/v1.ts";
import { Disposables } from "../../src/base/disposables.ts";
import { seededRandom } from "../../src/base/random.ts";
import type { Client } from "../../src/client/client.ts";
import type { Informer } from "../../src/client/informer/informer.ts";
import { aNode, aPod, type PodParts } from "../../src/scheduler/framework/testing/builders.ts";
import { on, overCapacity } from "../../src/scheduler/framework/testing/naive-rules.ts";
import { startTestApiServer, type TestApiServer } from "../../src/testing/servers/api-server.ts";
import { rounds, testSeed } from "../../src/testing/rounds.ts";
import { startSchedulerProcess } from "../../src/testing/servers/scheduler-process.ts";
import { observeCluster, until } from "../../src/testing/servers/observed-cluster.ts";

const SHORT = ["--leader-elect-lease-duration=3s", "--leader-elect-renew-deadline=2s", "--leader-elect-retry-period=500ms"];
const NODES = 5;
/** Capacity of a node, in Pods. */
const PER_NODE = 20;
const ROUNDS = rounds({ quick: 2, full: 20 });

interface Stage extends AsyncDisposable {
  readonly server: TestApiServer;
  readonly client: Client;
  readonly seen: Informer<Pod>;
  /** How often each Pod was bound, by name. */
  readonly bindings: ReadonlyMap<string, number>;
  make(name: string, parts?: PodParts): Promise<void>;
}

async function startStage(): Promise<Stage> {
  await using starting = new Disposables();
  const server = starting.use(await startTestApiServer());
  const { client, informers } = starting.use(await observeCluster(server.kubeconfig));
  const seen = informers.of(pods);
  const bindings = new Map<string, number>();
  const look = ({ metadata, spec }: Pod, previous?: Pod): void => {
    if (spec?.nodeName !== undefined && previous?.spec?.nodeName !== spec.nodeName)
      bindings.set(metadata.name, (bindings.get(metadata.name) ?? 0) + 1);
  };
  seen.listen({ added: (pod) => look(pod), updated: look, deleted: () => undefined });
  await seen.synced();
  for (let index = 0; index < NODES; index++) await client.create(nodes, aNode(`n${index}`, { cpu: String(PER_NODE) }));
  const owned = starting.move();
  return {
    ...{ server, client, seen, bindings },
    async make(name, parts = {}) {
      const { status: _status, ...pod } = aPod(name, { cpu: "1", ...parts, tolerations: [{ operator: "Exists" }] });
      await client.create(pods, pod);
    },
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  };
}

function placed({ seen }: Stage): readonly Pod[] {
  return seen.list().filter(({ spec }) => spec?.nodeName !== undefined);
}

test(`the leading scheduler is killed ${ROUNDS} times while Pods are created, and each Pod is bound once, by the current leader`, async () => {
  await using stage = await startStage();
  await using processes = new Disposables();
  const { kubeconfig } = stage.server;
  const start = async () => processes.use(await startSchedulerProcess({ kubeconfig, flags: SHORT }));
  const random = seededRandom(testSeed());
  let leader = await start();
  await leader.becomesLeader();
  let other = await start();
  let made = 0;

  for (let round = 1; round <= ROUNDS; round++) {
    const wanted = made + Math.floor((NODES * PER_NODE) / ROUNDS);
    const amidst = until(stage.seen, () => placed(stage).length > made + random.below(10));
    const making = (async () => {
      for (let index = made; index < wanted; index++) await stage.make(`p${index}`);
    })();
    await amidst;
    await leader[Symbol.asyncDispose]();
    await making;
    await other.becomesLeader();
    await until(stage.seen, () => placed(stage).length === wanted);
    made = wanted;
    [leader, other] = [other, await start()];
  }

  deepEqual(new Set(stage.bindings.values()), new Set([1]), "each Pod was bound once");
  equal(stage.bindings.size, made);
  const state = { nodes: (await stage.client.list(nodes)).items, placed: placed(stage) };
  deepEqual(
    state.nodes.flatMap((node) => overCapacity(node, on(node, state))),
    [],
  );
});

test("schedulers of different names run side by side, each with its own Pods and lease", async () => {
  await using stage = await startStage();
  const { kubeconfig, directory } = stage.server;
  const config = join(directory, "second.yaml");
  const packed = { scoringStrategy: { type: "MostAllocated", resources: [{ name: "cpu", weight: 1 }] } };
  const plugins = { score: { disabled: [{ name: "*" }], enabled: [{ name: "NodeResourcesFit" }] } };
  await writeFile(
    config,
    JSON.stringify({
      apiVersion: "kubescheduler.config.k8s.io/v1",
      kind: "KubeSchedulerConfiguration",
      leaderElection: { resourceName: "second-scheduler" },
      profiles: [{ schedulerName: "second", plugins, pluginConfig: [{ name: "NodeResourcesFit", args: packed }] }],
    }),
  );
  await using first = await startSchedulerProcess({ kubeconfig, flags: [] });
  await using second = await startSchedulerProcess({ kubeconfig, flags: [`--config=${config}`] });
  await Promise.all([first.becomesLeader(), second.becomesLeader()]);

  // The fullest node must not change while the second one packs.
  for (let index = 0; index < 10; index++) await stage.make(`first-${index}`);
  await until(stage.seen, () => placed(stage).length === 10);
  for (let index = 0; index < 10; index++) await stage.make(`second-${index}`, { schedulerName: "second" });
  await stage.make("unscheduled", { schedulerName: "third" });
  await until(stage.seen, () => placed(stage).length === 20);

  const nodesOf = (name: string) =>
    new Set(placed(stage).flatMap(({ metadata, spec }) => (metadata.name.startsWith(name) ? (spec?.nodeName ?? "") : [])));
  equal(nodesOf("second").size, 1, "the first scheduler packs its Pods on one node");
  ok(nodesOf("first").size > 1, "the other scheduler spreads them");
  equal(stage.seen.get({ namespace: "default", name: "unscheduled" })?.spec?.nodeName, undefined);
  const decided = async (scheduler: typeof first, pod: string) => {
    const { items } = JSON.parse(await scheduler.page(`/debug/k8ts/decisions?pod=default/${pod}`)) as { readonly items: readonly object[] };
    return items.length;
  };
  deepEqual([await decided(first, "first-0"), await decided(first, "second-0"), await decided(second, "second-0")], [1, 0, 1]);
  for (const scheduler of [first, second]) {
    scheduler.program.signal("SIGTERM");
    deepEqual(await scheduler.program.exited, { code: 0, signal: null });
  }
  // Events are written asynchronously; when a scheduler has stopped, all of its events are written.
  const scheduled = (await stage.client.list(events)).items.filter(({ reason }) => reason === "Scheduled");
  const who = (name: string) =>
    new Set(scheduled.filter(({ involvedObject }) => involvedObject.name?.startsWith(name)).map((event) => event.reportingComponent));
  deepEqual([who("first"), who("second")], [new Set(["default-scheduler"]), new Set(["second"])]);
});
