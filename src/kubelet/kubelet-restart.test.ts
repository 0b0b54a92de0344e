/** A restarted kubelet with a stateless runtime continues like one that never stopped. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { pods } from "../api/core/v1/pod.ts";
import type { Pod, PodSpec } from "../api/generated/core/v1.ts";
import type { Kubelet } from "./kubelet.ts";
import { startWorld, type World } from "./testing/world.ts";

/** Annotations that define the behaviour of the containers. */
function scripted(settings: Readonly<Record<string, string>>) {
  return { annotations: Object.fromEntries(Object.entries(settings).map(([name, value]) => [`simulated.k8ts.dev/${name}`, value])) };
}

interface Twins {
  readonly world: World;
  /** Restarts the kubelet of the second node. */
  restart(): Promise<void>;
  /** The same Pod on both nodes. */
  pod(settings: Readonly<Record<string, string>>, spec?: Partial<PodSpec>): Promise<void>;
  delete(): Promise<void>;
  /** The observable state of both. */
  seen(look: (pod: Pod | undefined) => unknown): Promise<readonly [unknown, unknown]>;
}

/** Two nodes, of which only the second one's kubelet restarts. */
async function startTwins(world: World): Promise<Twins> {
  await world.kubelet("n1");
  let second: Kubelet = await world.kubelet("n2");
  return {
    world,
    async restart() {
      await second.stop();
      second = await world.kubelet("n2");
      await world.clock.settle();
    },
    async pod(settings, spec = {}) {
      for (const nodeName of ["n1", "n2"]) await world.pod(`on-${nodeName}`, { ...spec, nodeName }, scripted(settings));
      await world.clock.settle();
    },
    async delete() {
      for (const name of ["on-n1", "on-n2"]) await world.client.delete(pods, { namespace: "default", name });
      await world.clock.settle();
    },
    seen: async (look) => [look(await world.get("on-n1")), look(await world.get("on-n2"))],
  };
}

/** Restart count, state and its timestamp. */
function states(pod: Pod | undefined): unknown {
  const statuses = [...(pod?.status?.initContainerStatuses ?? []), ...(pod?.status?.containerStatuses ?? [])];
  return statuses.map(({ name, restartCount, state = {}, lastState }) => {
    const { waiting, running, terminated } = state;
    const now = [waiting?.reason, waiting?.message?.replace(/ pod=.*/, ""), running?.startedAt, terminated?.finishedAt];
    return [name, restartCount, ...now, lastState?.terminated?.finishedAt];
  });
}

interface Row {
  readonly title: string;
  readonly settings: Readonly<Record<string, string>>;
  readonly spec?: Partial<PodSpec>;
  /** Offset within a second at the start. Default: 345 ms. */
  readonly beginsAtMs?: number;
  readonly forSeconds: number;
  readonly everySeconds: number;
}

const rows: readonly Row[] = [
  { title: "exits repeatedly", settings: { "run-for": "1s", "exit-code": "1" }, forSeconds: 1_500, everySeconds: 7 },
  { title: "exits at once", settings: { "run-for": "0s", "exit-code": "1" }, forSeconds: 700, everySeconds: 13 },
  {
    title: "ran long enough in between to reset its backoff",
    settings: { "run-for": "601s", "fail-times": "3", "fail-after": "1s" },
    forSeconds: 3_000,
    everySeconds: 97,
  },
  {
    title: "starts slowly",
    settings: { "start-after": "37s", "run-for": "5s", "exit-code": "1" },
    forSeconds: 400,
    everySeconds: 11,
  },
  { title: "has no image", settings: { "image-pull": "fail: no such image" }, beginsAtMs: 0, forSeconds: 900, everySeconds: 17 },
  {
    title: "fails repeatedly as an init container",
    settings: { "run-for.first": "2s", "exit-code.first": "1" },
    spec: { initContainers: [{ name: "first", image: "i:1" }] },
    forSeconds: 400,
    everySeconds: 9,
  },
];

for (const { title, settings, spec, beginsAtMs = 345, forSeconds, everySeconds } of rows) {
  test(`repeated kubelet restarts do not change the history of a container that ${title}`, async () => {
    await using world = await startWorld();
    const twins = await startTwins(world);
    await world.clock.advance(1_000 - (world.clock.now() % 1_000) + beginsAtMs);
    await twins.pod(settings, spec);

    for (let second = 1; second <= forSeconds; second++) {
      await world.clock.advance(1_000);
      if (second % everySeconds === 0) await twins.restart();
      const [left, restarted] = await twins.seen(states);
      assert.deepEqual(restarted, left, `after ${second} s`);
    }
  });
}

test("a rewritten script applies as if it had always been so, whether the kubelet restarts or not", async () => {
  await using world = await startWorld();
  const twins = await startTwins(world);
  const rewrite = async (settings: Readonly<Record<string, string | null>>) => {
    const annotations = Object.fromEntries(Object.entries(settings).map(([name, value]) => [`simulated.k8ts.dev/${name}`, value]));
    const patch = { type: "merge", value: { metadata: { annotations } } } as const;
    for (const name of ["on-n1", "on-n2"]) await world.client.patch(pods, { namespace: "default", name }, patch);
    await world.clock.settle();
  };
  const rewritings = [
    { "ready-after": "20s" },
    { "run-for": "15s", "exit-code": "2" },
    { "run-for": "40s", "exit-code": "3" },
    { "run-for": "1s" },
    { "run-for": null, "exit-code": null, "start-after": "30s" },
  ];
  await twins.pod({});
  const seen: unknown[] = [];
  for (const rewriting of rewritings) {
    await world.clock.advance(5_000);
    await rewrite(rewriting);
    await twins.restart();
    for (let second = 0; second < 20; second++) {
      await world.clock.advance(1_000);
      const [left, restarted] = await twins.seen(states);
      assert.deepEqual(restarted, left, `${JSON.stringify(rewriting)}, after ${second} s`);
      if (second === 0) seen.push(...(await twins.seen((pod) => pod?.status?.containerStatuses?.[0]?.restartCount)).slice(0, 1));
    }
  }
  assert.deepEqual(seen, [0, 1, 2, 3, 3]);
});

test("a restarted kubelet does not emit the event of a waiting container again", async () => {
  await using world = await startWorld();
  const twins = await startTwins(world);
  await twins.pod({ "run-for": "1s", "exit-code": "1" });
  await world.clock.advance(20_000);

  await twins.restart();
  await world.clock.advance(1_000);

  const count = async (name: string) => (await world.eventsOf(name)).filter((line) => line.includes("BackOff")).length;
  assert.deepEqual([await count("on-n1"), await count("on-n2")], [1, 1]);
});

test("a container that was being started when the kubelet stopped is not counted as restarted, and starts on time", async () => {
  await using world = await startWorld();
  const twins = await startTwins(world);
  await twins.pod({ "start-after": "1m" });
  await world.clock.advance(20_250);

  await twins.restart();
  await world.clock.advance(39_500);
  const before = await twins.seen(({ status } = {} as Pod) => status?.phase);
  await world.clock.advance(500);

  assert.deepEqual(before, ["Pending", "Pending"]);
  const [left, restarted] = await twins.seen(({ status } = {} as Pod) => [status?.phase, status?.containerStatuses?.[0]?.restartCount]);
  assert.deepEqual(
    [left, restarted],
    [
      ["Running", 0],
      ["Running", 0],
    ],
  );
});

/** Seconds from deletion to removal of the Pods: of both nodes, the second of which restarts its kubelet meanwhile. */
async function goneAfter(settings: Readonly<Record<string, string>>, spec: Partial<PodSpec>, restartAfterMs: readonly number[]) {
  await using world = await startWorld();
  const twins = await startTwins(world);
  await twins.pod(settings, spec);
  // At a whole second, as a status counts.
  await world.clock.advance(1_000 - (world.clock.now() % 1_000));
  await twins.delete();
  const gone: (number | undefined)[] = [undefined, undefined];
  for (let ms = 0; ms <= 60_000; ms += 500) {
    const there = await twins.seen((pod) => pod !== undefined);
    for (const index of [0, 1]) if (there[index] !== true) gone[index] ??= ms / 1_000;
    if (restartAfterMs.includes(ms)) await twins.restart();
    await world.clock.advance(500);
  }
  return gone;
}

test("a kubelet restarted during termination of a Pod restarts neither the grace period nor the preStop hook", async () => {
  const sleeping = { lifecycle: { preStop: { sleep: { seconds: 12 } } } };
  const containers = [{ name: "c", image: "web:1", ...sleeping }];
  assert.deepEqual(await goneAfter({ "stop-takes": "1h" }, { terminationGracePeriodSeconds: 30 }, [20_000]), [30, 30]);
  assert.deepEqual(await goneAfter({ "stop-takes": "1h" }, { terminationGracePeriodSeconds: 30 }, [10_000, 29_500]), [30, 30]);
  assert.deepEqual(await goneAfter({ "stop-takes": "10s" }, { terminationGracePeriodSeconds: 30 }, [4_000, 8_000]), [10, 10]);
  assert.deepEqual(await goneAfter({ "stop-takes": "5s" }, { containers, terminationGracePeriodSeconds: 30 }, [4_000, 14_000]), [17, 17]);
});
