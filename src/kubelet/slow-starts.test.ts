/** A slow start of one container does not delay the others of its Pod. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { pods } from "../api/core/v1/pod.ts";
import { startWorld } from "./testing/world.ts";

/** Annotations that define the behaviour of the containers. */
function scripted(settings: Readonly<Record<string, string>>) {
  return { annotations: Object.fromEntries(Object.entries(settings).map(([name, value]) => [`simulated.k8ts.dev/${name}`, value])) };
}

const SLOW = [
  { "start-after": "5m" },
  { "image-pull": "5m" },
  { "start-after.b": "5m", "stop-takes.a": "3s" },
  { "image-pull.b": "5m", "stop-takes.a": "3s" },
] as const;
const CONTAINERS = [
  { name: "a", image: "a:1" },
  { name: "b", image: "b:1" },
];

for (const settings of SLOW) {
  test(`a Pod that is deleted while it starts is removed within its grace period: ${JSON.stringify(settings)}`, async () => {
    await using world = await startWorld();
    const kubelet = await world.kubelet("n1");
    await world.pod("p", { containers: CONTAINERS, terminationGracePeriodSeconds: 5 }, scripted(settings));
    await world.clock.advance(1_000);

    await world.client.delete(pods, { namespace: "default", name: "p" });
    await world.clock.advance(5_000);

    assert.deepEqual([await world.get("p"), kubelet.podCount, await kubelet.runtime.list()], [undefined, 0, []]);
    const bad = (await world.eventsOf("p")).filter((line) => line.startsWith("Warning"));
    assert.deepEqual(bad, []);
    await world.clock.advance(600_000);
    assert.deepEqual(await kubelet.runtime.list(), []);
  });

  test(`a Pod that is still starting at its deadline fails then: ${JSON.stringify(settings)}`, async () => {
    await using world = await startWorld();
    await world.kubelet("n1");
    await world.pod("p", { containers: CONTAINERS, activeDeadlineSeconds: 10 }, scripted(settings));
    const phase = async () => [(await world.get("p"))?.status?.phase, (await world.get("p"))?.status?.reason];
    await world.clock.advance(8_900);
    const before = await phase();

    await world.clock.advance(4_200);

    assert.deepEqual([before[1], await phase()], [undefined, ["Failed", "DeadlineExceeded"]]);
    await world.clock.advance(600_000);
    assert.deepEqual(await phase(), ["Failed", "DeadlineExceeded"]);
  });

  test(`a Pod that vanishes from the API while it starts leaves nothing behind: ${JSON.stringify(settings)}`, async () => {
    await using world = await startWorld();
    const kubelet = await world.kubelet("n1");
    await world.pod("p", { containers: CONTAINERS }, scripted(settings));
    await world.clock.advance(1_000);

    await world.client.delete(pods, { namespace: "default", name: "p" }, { gracePeriodSeconds: 0 });
    await world.clock.advance(3_000);

    assert.deepEqual([kubelet.podCount, await kubelet.runtime.list()], [0, []]);
  });
}

test("a container is restarted while another one of its Pod is still starting, and the status shows both", async () => {
  await using world = await startWorld();
  await world.kubelet("n1");
  await world.pod("p", { containers: CONTAINERS }, scripted({ "run-for.a": "2s", "exit-code.a": "1", "start-after.b": "60s" }));
  const restarts = async () =>
    (await world.get("p"))?.status?.containerStatuses?.map(({ name, restartCount, state }) => [
      name,
      restartCount,
      ...Object.keys(state ?? {}),
    ]);

  await world.clock.advance(3_000);
  assert.deepEqual(await restarts(), [
    ["a", 1, "running"],
    ["b", 0, "waiting"],
  ]);
  await world.clock.advance(2_000);
  assert.deepEqual(await restarts(), [
    ["a", 1, "waiting"],
    ["b", 0, "waiting"],
  ]);
  await world.clock.advance(10_000);
  assert.deepEqual(await restarts(), [
    ["a", 2, "running"],
    ["b", 0, "waiting"],
  ]);
  await world.clock.advance(45_500);

  assert.deepEqual((await restarts())?.[1], ["b", 0, "running"]);
});

test("containers of a Pod start concurrently", async () => {
  await using world = await startWorld();
  await world.kubelet("n1");
  await world.pod("p", { containers: CONTAINERS }, scripted({ "start-after.a": "30s", "image-pull.b": "20s", "start-after.b": "10s" }));

  await world.clock.advance(30_000);

  const started = (await world.get("p"))?.status?.containerStatuses?.map(({ state }) => state?.running?.startedAt);
  assert.equal(started?.length, 2);
  assert(started[0] !== undefined && started[0] === started[1]);
});
