/** Resize of a running Pod: whether its resources fit on the node, and how they are applied. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { pods } from "../api/core/v1/pod.ts";
import { priorityClasses } from "../api/scheduling.k8s.io/v1/priority-class.ts";
import type { Container, Pod, PodSpec } from "../api/generated/core/v1.ts";
import { isReason } from "../api/machinery/status-error.ts";
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

test("a container is resized while it runs, and its status reports the actual resources", async () => {
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

  // A restarted kubelet restores the actual resources from the status.
  assert.deepEqual([runtime.resizes.at(-1), await seen(world)], [3000, ["3k", "3k", 0]]);
  await kubelet.stop();
});

test("a container with resizePolicy RestartContainer is restarted with the new resources", async () => {
  await using world = await startWorld();
  const [runtime, machine] = [realRuntime(world.runtime("n1")), fakeMachine()];
  machine.resize = async ({ spec }) => void machine.calls.push(`resize to ${spec?.containers[0]?.resources?.limits?.["memory"]}`);
  await world.kubelet("n1", { runtime, machine });
  const resizePolicy = [{ resourceName: "memory", restartPolicy: "RestartContainer" }];
  await world.pod("p", { containers: limited("1000", { resizePolicy }) });
  await world.clock.settle();

  await resize(world, "2000");
  await world.clock.advance(3_000);

  // The whole Pod first: its cgroup must never be smaller than the container's.
  const starts = machine.calls.filter((call) => !call.startsWith("update"));
  assert.deepEqual(starts, ["prepare p", "container p/c", "resize to 2k", "container p/c"]);
  assert.deepEqual([runtime.resizes, await seen(world)], [[], ["2k", "2k", 1]]);
  assert((await world.eventsOf("p")).includes("Normal Killing Container c resize requires restart"));
});

test("a container without a limit is restarted once if the Pod's limit, which it has, changes and its resizePolicy demands it", async () => {
  await using world = await startWorld();
  const [runtime, machine] = [realRuntime(world.runtime("n1")), fakeMachine()];
  // The Pod as a whole is not resized yet, and tried again.
  machine.resize = () => Promise.reject(new Error("busy"));
  await world.kubelet("n1", { runtime, machine });
  const restarting = { name: "c", image: "web:1", resizePolicy: [{ resourceName: "cpu", restartPolicy: "RestartContainer" }] };
  const resources = (cpu: string) => ({ requests: { cpu, memory: "4k" }, limits: { cpu, memory: "4k" } });
  await world.pod("p", { containers: [restarting, { name: "other", image: "web:1" }], resources: resources("1") });
  await world.clock.settle();

  await world.client.patch(pods, KEY, { type: "strategic", value: { spec: { resources: resources("2") } } }, { subresource: "resize" });
  await world.clock.advance(60_000);

  const restarts = (await world.get("p"))?.status?.containerStatuses?.map(({ name, restartCount }) => [name, restartCount]);
  assert.deepEqual(restarts, [
    ["c", 1],
    ["other", 0],
  ]);
});

test("a runtime without support for updates is not called to resize", async () => {
  await using world = await startWorld();
  const runtime = realRuntime(world.runtime("n1"));
  Object.assign(runtime, { updateContainer: undefined });
  await world.kubelet("n1", { runtime, machine: fakeMachine() });
  await world.pod("p", { containers: limited("1000") });
  await world.clock.settle();

  await resize(world, "2000");

  assert.deepEqual(await seen(world), ["2k", "2k", 0]);
});

// ── fit ─────────────────────────────────────────────────────────────────────────────────────────────

const asking = (cpu: string): Container => ({ name: "c", image: "web:1", resources: { requests: { cpu } } });

const aPodOf = (cpu: string, more: Partial<PodSpec> = {}): Partial<PodSpec> => ({ containers: [asking(cpu)], ...more });

async function resizeCpu(world: World, name: string, cpu: string): Promise<void> {
  const value = { spec: { containers: [{ name: "c", resources: { requests: { cpu } } }] } };
  await world.client.patch(pods, { namespace: "default", name }, { type: "strategic", value }, { subresource: "resize" });
  await world.clock.settle();
}

/** "2 PodResizePending Deferred …", the generation first; and the allocated and actual resources. */
async function resizesOf(world: World, name: string) {
  const pod = await world.get(name);
  const { resources, allocatedResources } = pod?.status?.containerStatuses?.[0] ?? {};
  return [...resizeConditions(pod), allocatedResources?.["cpu"], resources?.requests?.["cpu"], pod?.status?.allocatedResources?.["cpu"]];
}

function resizeConditions(pod: Pod | undefined): readonly string[] {
  const own = (pod?.status?.conditions ?? []).filter(({ type }) => type.startsWith("PodResize"));
  return own.map(({ observedGeneration, type, status, reason = "-", message = "-" }) => {
    return `${observedGeneration} ${type} ${status} ${reason} ${message}`;
  });
}

async function resizeEvents(world: World, name: string): Promise<readonly string[]> {
  return (await world.eventsOf(name)).filter((event) => event.includes(" Resize"));
}

const deferred = (requested: number, used: number, generation = 2): string =>
  `${generation} PodResizePending True Deferred Node didn't have enough resource: cpu, requested: ${requested}, used: ${used}, capacity: 4000`;

test("a resize beyond the node's capacity is rejected as infeasible, and nothing changes", async () => {
  await using world = await startWorld();
  await world.kubelet("n1", { runtime: realRuntime(world.runtime("n1")), machine: fakeMachine() });
  await world.pod("p", aPodOf("500m"));
  await world.clock.settle();

  await assert.rejects(resizeCpu(world, "p", "100"), (error) => isReason(error, "Forbidden"));

  assert.deepEqual(await resizesOf(world, "p"), ["500m", "500m", "500m"]);
});

for (const [what, end] of [
  ["another Pod is deleted", (world: World) => world.client.delete(pods, { namespace: "default", name: "big" })],
  ["another Pod is shrunk", (world: World) => resizeCpu(world, "big", "500m")],
] as const) {
  test(`a resize that does not fit is deferred and changes nothing until ${what}`, async () => {
    await using world = await startWorld();
    const [runtime, machine] = [realRuntime(world.runtime("n1")), fakeMachine()];
    let kubelet = await world.kubelet("n1", { runtime, machine });
    await world.pod("big", aPodOf("3", { terminationGracePeriodSeconds: 1 }));
    await world.pod("p", aPodOf("500m"));
    await world.clock.settle();

    await resizeCpu(world, "p", "1500m");
    assert.deepEqual(await resizesOf(world, "p"), [deferred(1500, 3000), "500m", "500m", "500m"]);
    assert.deepEqual(await resizeEvents(world, "p"), [
      `Warning ResizeDeferred Pod resize OutOfcpu: {"containers":[{"name":"c","resources":{"requests":{"cpu":"1500m"}}}],"generation":2,` +
        `"error":"Node didn't have enough resource: cpu, requested: 1500, used: 3000, capacity: 4000"}`,
    ]);

    // A restarted kubelet restores the allocated resources from the status.
    await kubelet.stop();
    kubelet = await world.kubelet("n1", { runtime, machine });
    await world.clock.advance(30_000);
    assert.deepEqual([runtime.resizes, await resizesOf(world, "p")], [[], [deferred(1500, 3000), "500m", "500m", "500m"]]);

    await end(world);
    await world.clock.advance(5_000);
    assert.deepEqual(await resizesOf(world, "p"), ["1500m", "1500m", "1500m"]);
    assert.deepEqual((await resizeEvents(world, "p")).slice(1), [
      `Normal ResizeStarted Pod resize started: {"containers":[{"name":"c","resources":{"requests":{"cpu":"1500m"}}}],"generation":2}`,
      `Normal ResizeCompleted Pod resize completed: {"containers":[{"name":"c","resources":{"requests":{"cpu":"1500m"}}}],"generation":2}`,
    ]);
    await kubelet.stop();
  });
}

test("of several deferred resizes, the one of the Pod with the highest priority is retried first", async () => {
  await using world = await startWorld();
  await world.kubelet("n1");
  await world.client.create(priorityClasses, {
    apiVersion: "scheduling.k8s.io/v1",
    kind: "PriorityClass",
    metadata: { name: "high" },
    value: 7,
  });
  await world.pod("big", aPodOf("2500m", { terminationGracePeriodSeconds: 1 }));
  await world.pod("early", aPodOf("500m"));
  await world.pod("high", aPodOf("500m", { priorityClassName: "high" }));
  await world.clock.settle();
  for (const name of ["early", "high"]) {
    await resizeCpu(world, name, "3");
    await world.clock.advance(5_000);
  }

  await world.client.delete(pods, { namespace: "default", name: "big" });
  await world.clock.advance(5_000);

  assert.deepEqual(await resizesOf(world, "high"), ["3", "3", "3"]);
  assert.deepEqual(await resizesOf(world, "early"), [deferred(3000, 3000), "500m", "500m", "500m"]);
});

test("a reverted resize is no longer pending", async () => {
  await using world = await startWorld();
  await world.kubelet("n1");
  await world.pod("big", aPodOf("3"));
  await world.pod("p", aPodOf("500m"));
  await world.clock.settle();
  await resizeCpu(world, "p", "2");

  await resizeCpu(world, "p", "500m");

  assert.deepEqual([await resizesOf(world, "p"), (await resizeEvents(world, "p")).length], [["500m", "500m", "500m"], 1]);
});

// ── actuation ───────────────────────────────────────────────────────────────────────────────────────

test("a resize in progress is reported, with its errors until it succeeds", async () => {
  await using world = await startWorld();
  const runtime = realRuntime(world.runtime("n1"));
  await world.kubelet("n1", { runtime, machine: fakeMachine() });
  await world.pod("p", { containers: limited("2000") }, { annotations: { "simulated.k8ts.dev/memory": "500" } });
  await world.clock.settle();
  let fail = (_error: Error): void => undefined;
  const attempt = new Promise<void>((_resolve, reject) => (fail = reject));
  runtime.onResize = () => attempt;

  await resize(world, "1000");
  assert.deepEqual(resizeConditions(await world.get("p")), ["2 PodResizeInProgress True - -"]);
  fail(new Error("unable to set memory limit to 1000 (current usage: 1500)"));
  await world.clock.settle();
  const failed = "2 PodResizeInProgress True Error unable to set memory limit to 1000 (current usage: 1500)";
  assert.deepEqual([resizeConditions(await world.get("p")), await seen(world)], [[failed], ["2k", "1k", 0]]);
  await world.clock.advance(30_000);
  assert.deepEqual(resizeConditions(await world.get("p")), [failed]);
  runtime.onResize = () => Promise.resolve();
  await world.clock.advance(10_000);

  assert.deepEqual([resizeConditions(await world.get("p")), await seen(world)], [[], ["1k", "1k", 0]]);
  const amounts = `{"containers":[{"name":"c","resources":{"limits":{"memory":"1k"},"requests":{"memory":"1k"}}}],"generation":2`;
  assert.deepEqual(await resizeEvents(world, "p"), [
    `Normal ResizeStarted Pod resize started: ${amounts}}`,
    `Warning ResizeError Pod resize error: ${amounts},"error":"unable to set memory limit to 1000 (current usage: 1500)"}`,
    `Normal ResizeCompleted Pod resize completed: ${amounts}}`,
  ]);
});

test("sidecars and Pod-level resources are resized", async () => {
  await using world = await startWorld();
  const [runtime, machine] = [realRuntime(world.runtime("n1")), fakeMachine()];
  const wholes: unknown[] = [];
  machine.resize = async ({ spec }) => void wholes.push(spec?.resources?.limits?.["cpu"]);
  await world.kubelet("n1", { runtime, machine });
  const [sidecar] = limited("1000", { name: "s", restartPolicy: "Always" });
  await world.pod("p", {
    initContainers: sidecar === undefined ? [] : [sidecar],
    containers: [{ name: "c", image: "web:1" }],
    resources: { requests: { cpu: "1", memory: "4k" }, limits: { cpu: "1", memory: "4k" } },
  });
  await world.clock.settle();

  const value = {
    spec: {
      resources: { requests: { cpu: "2" }, limits: { cpu: "2" } },
      initContainers: [{ name: "s", resources: { limits: { memory: "2000" }, requests: { memory: "2000" } } }],
    },
  };
  await world.client.patch(pods, KEY, { type: "strategic", value }, { subresource: "resize" });
  await world.clock.settle();

  const { status } = (await world.get("p")) ?? {};
  assert.deepEqual([runtime.resizes, wholes.at(-1), resizeConditions(await world.get("p"))], [[2000, undefined], "2", []]);
  assert.deepEqual([status?.initContainerStatuses?.[0]?.resources?.limits?.["memory"], status?.resources?.limits?.["cpu"]], ["2k", "2"]);
});
