/** Resources of a running Pod that are changed. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { pods } from "../api/core/v1/pod.ts";
import type { Container } from "../api/generated/core/v1.ts";
import { fakeMachine, realRuntime } from "./testing/fake-machine.ts";
import { startWorld, type World } from "./testing/world.ts";

const KEY = { namespace: "default", name: "p" };

function limited(memory: string, more: Partial<Container> = {}): readonly Container[] {
  return [{ name: "c", image: "web:1", resources: { limits: { memory }, requests: { memory } }, ...more }];
}

async function resize(world: World, memory: string): Promise<void> {
  const value = { spec: { containers: [{ name: "c", resources: { limits: { memory }, requests: { memory } } }] } };
  await world.client.patch(pods, KEY, { type: "strategic", value }, { subresource: "resize" });
  await world.clock.settle();
}

async function seen(world: World) {
  const { resources, allocatedResources, restartCount } = (await world.get("p"))?.status?.containerStatuses?.[0] ?? {};
  return [resources?.limits?.["memory"], allocatedResources?.["memory"], restartCount];
}

test("a container is given what it is to have while it runs, and its status says what it was given", async () => {
  await using world = await startWorld();
  const [runtime, machine] = [realRuntime(world.runtime("n1")), fakeMachine()];
  let kubelet = await world.kubelet("n1", { runtime, machine });
  await world.pod("p", { containers: limited("1000") });
  await world.clock.settle();

  await resize(world, "2000");
  assert.deepEqual([runtime.resizes, await seen(world)], [[2000], ["2k", "2k", 0]]);
  runtime.onResize = () => Promise.reject(new Error("no room"));
  await resize(world, "3000");
  assert.deepEqual(await seen(world), ["2k", "3k", 0]);
  await kubelet.stop();
  runtime.onResize = () => Promise.resolve();
  kubelet = await world.kubelet("n1", { runtime, machine });
  await world.clock.advance(10_000);

  // Whoever comes later knows by the status what it was given.
  assert.deepEqual([runtime.resizes.at(-1), await seen(world)], [3000, ["3k", "3k", 0]]);
  await kubelet.stop();
});

test("a container that wants it so is restarted with what it is to have", async () => {
  await using world = await startWorld();
  const runtime = realRuntime(world.runtime("n1"));
  await world.kubelet("n1", { runtime, machine: fakeMachine() });
  const resizePolicy = [{ resourceName: "memory", restartPolicy: "RestartContainer" }];
  await world.pod("p", { containers: limited("1000", { resizePolicy }) });
  await world.clock.settle();

  await resize(world, "2000");
  await world.clock.advance(3_000);

  assert.deepEqual([runtime.resizes, await seen(world)], [[], ["2k", "2k", 1]]);
  assert((await world.eventsOf("p")).includes("Normal Killing Container c resize requires restart"));
});

test("a runtime that cannot change what runs is not asked to", async () => {
  await using world = await startWorld();
  const runtime = realRuntime(world.runtime("n1"));
  Object.assign(runtime, { updateContainer: undefined });
  await world.kubelet("n1", { runtime, machine: fakeMachine() });
  await world.pod("p", { containers: limited("1000") });
  await world.clock.settle();

  await resize(world, "2000");

  assert.deepEqual(await seen(world), ["2k", "2k", 0]);
});
