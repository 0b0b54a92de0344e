/** Lifecycle hooks: postStart and preStop. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { pods } from "../api/core/v1/pod.ts";
import type { Lifecycle, PodSpec } from "../api/generated/core/v1.ts";
import { fakeMachine, realRuntime, type FakeMachine, type RealRuntime } from "./testing/fake-machine.ts";
import { startWorld, type World } from "./testing/world.ts";

async function startNode(world: World): Promise<{ readonly machine: FakeMachine; readonly runtime: RealRuntime }> {
  const machine = fakeMachine();
  const runtime = realRuntime(world.runtime("n1"));
  await world.kubelet("n1", { runtime, machine });
  return { machine, runtime };
}

function withHooks(lifecycle: Lifecycle, more: Partial<PodSpec> = {}): Partial<PodSpec> {
  return { containers: [{ name: "c", image: "web:1", lifecycle }], terminationGracePeriodSeconds: 10, ...more };
}

const KEY = { namespace: "default", name: "p" };

async function first(world: World) {
  return (await world.get("p"))?.status?.containerStatuses?.[0];
}

test("the postStart hook runs before the container counts as started", async () => {
  await using world = await startWorld();
  const { runtime } = await startNode(world);
  runtime.onExec = () => world.clock.sleep(5_000).then(() => 0);
  await world.pod("p", withHooks({ postStart: { exec: { command: ["warm", "up"] } } }));

  await world.clock.advance(4_000);
  const meanwhile = await first(world);
  await world.clock.advance(2_000);

  assert.deepEqual(runtime.commands, ["warm up"]);
  assert.deepEqual([meanwhile?.state?.running !== undefined, meanwhile?.ready, (await first(world))?.ready], [true, false, true]);
});

test("a container whose postStart hook fails is killed and restarted", async () => {
  await using world = await startWorld();
  const { runtime } = await startNode(world);
  runtime.onExec = () => 3;
  runtime.says = "no";
  const { metadata } = await world.pod("p", withHooks({ postStart: { exec: { command: ["warm", "up"] } } }));

  await world.clock.advance(3_000);
  const failed = await first(world);
  runtime.onExec = () => 0;
  await world.clock.advance(12_000);

  const where = `Container "c" in Pod "p_default(${metadata.uid})"`;
  const message = `Exec lifecycle hook ([warm up]) for ${where} failed - error: command 'warm up' exited with 3: no, message: "no"`;
  assert.deepEqual(failed?.state?.waiting, { reason: "PostStartHookError", message });
  const reported = await world.eventsOf("p");
  assert(reported.includes("Warning FailedPostStartHook PostStartHook failed"));
  assert(reported.includes("Normal Killing FailedPostStartHook"));
  assert.deepEqual([(await first(world))?.ready, (await first(world))?.restartCount], [true, 1]);
});

test("HTTP hooks request the Pod's IP unless they name a host, and accept any status code", async () => {
  await using world = await startWorld();
  const { machine } = await startNode(world);
  const asked: string[] = [];
  machine.onHttp = ({ scheme, host, port, path, headers }) => {
    asked.push(`${scheme}://${host}:${port}${path} by ${headers.find(([name]) => name === "User-Agent")?.[1]}`);
    return { result: "failure", output: "HTTP probe failed with statuscode: 404", code: 404 };
  };
  const postStart = { httpGet: { path: "/begin", port: 80 } };
  const preStop = { httpGet: { path: "/end?x=1", port: 8443, host: "192.0.2.9", scheme: "HTTPS" as const } };
  await world.pod("p", withHooks({ postStart, preStop }));
  await world.clock.settle();
  const { podIP } = (await world.get("p"))?.status ?? {};
  await world.client.delete(pods, KEY);
  await world.clock.advance(3_000);

  assert.deepEqual(asked, [`http://${podIP}:80/begin by kube-lifecycle/1.36`, "https://192.0.2.9:8443/end?x=1 by kube-lifecycle/1.36"]);
  assert.equal(await world.get("p"), undefined);
  assert.deepEqual(
    (await world.eventsOf("p")).filter((line) => line.startsWith("Warning")),
    [],
  );
});

test("the preStop hook uses up part of the grace period, and its failure emits FailedPreStopHook", async () => {
  await using world = await startWorld();
  const { machine } = await startNode(world);
  machine.onHttp = () => world.clock.sleep(4_000).then(() => ({ result: "failure" as const, output: 'Get "http://x": EOF' }));
  await world.pod("p", withHooks({ preStop: { httpGet: { port: 80 } } }), { annotations: { "simulated.k8ts.dev/stop-takes": "1h" } });
  await world.clock.settle();
  await world.client.delete(pods, KEY);

  await world.clock.advance(9_500);
  const before = await world.get("p");
  await world.clock.advance(1_000);

  assert.deepEqual([before === undefined, await world.get("p")], [false, undefined]);
  assert((await world.eventsOf("p")).includes("Warning FailedPreStopHook PreStopHook failed"));
});

test("a preStop hook that never ends is cancelled at the end of the grace period", async () => {
  await using world = await startWorld();
  const { runtime } = await startNode(world);
  runtime.onExec = () => new Promise(() => undefined);
  await world.pod("p", withHooks({ preStop: { exec: { command: ["drain"] } } }));
  await world.clock.settle();
  await world.client.delete(pods, KEY);
  await world.clock.advance(9_500);
  assert.notEqual(await world.get("p"), undefined);
  await world.clock.advance(3_000);

  assert.deepEqual([runtime.commands, await world.get("p")], [["drain"], undefined]);
});

test("deleting a Pod does not wait for its running postStart hook", async () => {
  await using world = await startWorld();
  const { runtime } = await startNode(world);
  runtime.onExec = () => new Promise(() => undefined);
  await world.pod("p", withHooks({ postStart: { exec: { command: ["warm"] } } }));
  await world.clock.advance(1_000);
  await world.client.delete(pods, KEY);
  await world.clock.advance(3_000);

  assert.equal(await world.get("p"), undefined);
});
