/** A Pod whose sandbox is lost while its containers run, and a runtime with stale answers. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { pods } from "../api/core/v1/pod.ts";
import type { Pod } from "../api/generated/core/v1.ts";
import type { Kubelet } from "./kubelet.ts";
import type { SandboxStatus } from "./contracts/runtime.ts";
import { fakeMachine, realRuntime, type RealRuntime } from "./testing/fake-machine.ts";
import { startWorld, type World } from "./testing/world.ts";

const KEY = { namespace: "default", name: "p" };

interface Node {
  readonly runtime: RealRuntime;
  readonly kubelet: Kubelet;
  /** As if its pause process were killed: the containers keep running. */
  lose(pod: Pod): Promise<void>;
}

async function startNode(world: World): Promise<Node> {
  const runtime = realRuntime(world.runtime("n1"));
  const [status, stopSandbox] = [runtime.status.bind(runtime), runtime.stopSandbox.bind(runtime)];
  let isLost = false;
  Object.assign(runtime, {
    async status(podUid: string): Promise<SandboxStatus | undefined> {
      const sandbox = await status(podUid);
      return isLost && sandbox !== undefined ? { ...sandbox, state: "not-ready", ips: [] } : sandbox;
    },
    stopSandbox(id: string) {
      isLost = false;
      return stopSandbox(id);
    },
  });
  const kubelet = await world.kubelet("n1", { runtime, machine: fakeMachine() });
  return {
    runtime,
    kubelet,
    async lose({ metadata }) {
      isLost = true;
      kubelet.retry(metadata.uid ?? "");
      await world.clock.advance(1_000);
    },
  };
}

async function seen(world: World) {
  const { phase, conditions = [], containerStatuses: [main] = [] } = (await world.get("p"))?.status ?? {};
  const hasPlace = conditions.find(({ type }) => type === "PodReadyToStartContainers")?.status;
  return [phase, hasPlace, Object.keys(main?.state ?? {})[0], main?.restartCount];
}

/** Exits 3 seconds after SIGTERM. */
const SLOW = { annotations: { "simulated.k8ts.dev/stop-takes": "3s" } };
const HOOKED = { name: "c", image: "web:1", lifecycle: { preStop: { exec: { command: ["bye"] } } } };

test("containers that outlive their sandbox get their preStop hook, SIGTERM and grace period before a new sandbox is created", async () => {
  await using world = await startWorld();
  const { runtime, lose } = await startNode(world);
  const pod = await world.pod("p", { containers: [HOOKED] }, SLOW);
  await world.clock.advance(1_000);

  await lose(pod);
  const meanwhile = await seen(world);
  const placesMeanwhile = runtime.sandboxRuns.length;
  await world.clock.advance(5_000);

  assert.deepEqual([meanwhile, placesMeanwhile], [["Running", "False", "running", 0], 1]);
  assert.deepEqual([await seen(world), runtime.sandboxRuns.length], [["Running", "True", "running", 1], 2]);
  assert.deepEqual(runtime.commands, ["bye"]);
  const ended = (await world.get("p"))?.status?.containerStatuses?.[0]?.lastState?.terminated;
  assert.notEqual(ended?.exitCode, 137);
  const reported = (await world.eventsOf("p")).map((line) => line.split(" ").slice(1).join(" "));
  const [changed, killing] = ["SandboxChanged Pod sandbox changed, it will be killed and re-created.", "Killing Stopping container c"];
  assert.deepEqual(
    reported.filter((line) => /^(SandboxChanged|Killing) /.test(line)),
    [changed, killing],
  );
});

test("losing the sandbox is no crash of a container: its first restart has no backoff", async () => {
  await using world = await startWorld();
  const { lose } = await startNode(world);
  const script = { "simulated.k8ts.dev/run-for": "20s", "simulated.k8ts.dev/exit-code": "1" };
  const pod = await world.pod("p", {}, { annotations: script });
  await world.clock.advance(1_000);

  await lose(pod);
  const before = await seen(world);
  await world.clock.advance(21_000);

  assert.deepEqual(
    [before, await seen(world)],
    [
      ["Running", "True", "running", 1],
      ["Running", "True", "running", 2],
    ],
  );
});

test("a Pod with restartPolicy Never terminates with its containers' exit codes when its sandbox is lost", async () => {
  await using world = await startWorld();
  const { runtime, lose } = await startNode(world);
  const pod = await world.pod("p", { restartPolicy: "Never" }, SLOW);
  await world.clock.advance(1_000);

  await lose(pod);
  await world.clock.advance(5_000);

  const [phase, , state, restartCount] = await seen(world);
  assert.deepEqual([phase !== "Running", state, restartCount, runtime.sandboxRuns.length], [true, "terminated", 0, 1]);
  assert.deepEqual(
    (await world.eventsOf("p")).filter((line) => line.includes("SandboxChanged")),
    [],
  );
});

for (const { it, exitCode, is } of [
  { it: "completes then is done, and no new sandbox is created", exitCode: "0", is: ["Succeeded", "terminated", 0, 1] },
  { it: "fails then runs again, in one new sandbox", exitCode: "3", is: ["Running", "running", 1, 2] },
]) {
  test(`a container with restartPolicy OnFailure that loses its sandbox and ${it}`, async () => {
    await using world = await startWorld();
    const { runtime, lose } = await startNode(world);
    // It exits while it is being stopped.
    const script = { "stop-takes": "1m", "run-for": "10s", "exit-code": exitCode };
    const annotations = Object.fromEntries(Object.entries(script).map(([setting, value]) => [`simulated.k8ts.dev/${setting}`, value]));
    const spec = { restartPolicy: "OnFailure", initContainers: [{ name: "i", image: "init:1" }] } as const;
    const pod = await world.pod("p", spec, { annotations });
    await world.clock.advance(2_000);

    await lose(pod);
    await world.clock.advance(12_000);

    const [phase, , state, restartCount] = await seen(world);
    assert.deepEqual([phase, state, restartCount, runtime.sandboxRuns.length], is);
    const changes = (await world.eventsOf("p")).filter((line) => line.includes("SandboxChanged"));
    assert.equal(changes.length, 1);
    await world.client.delete(pods, KEY);
    await world.clock.advance(40_000);
    assert.equal(await world.get("p"), undefined);
  });
}

test("a Pod that is deleted while it loses its sandbox gets no new one", async () => {
  await using world = await startWorld();
  const { runtime, lose } = await startNode(world);
  const pod = await world.pod("p", {}, SLOW);
  await world.clock.advance(1_000);

  await lose(pod);
  await world.client.delete(pods, KEY);
  await world.clock.advance(5_000);

  assert.deepEqual([await world.get("p"), runtime.sandboxRuns.length, runtime.configs.length], [undefined, 1, 1]);
});

test("a container that starts while the runtime is queried is started and reported once", async () => {
  await using world = await startWorld();
  const { runtime, kubelet } = await startNode(world);
  const [status, start] = [runtime.status.bind(runtime), runtime.startContainer.bind(runtime)];
  let starts = 0;
  Object.assign(runtime, {
    // The answer is stale by one operation.
    async status(podUid: string) {
      const sandbox = await status(podUid);
      await world.clock.sleep(50);
      return sandbox;
    },
    async startContainer(id: string) {
      starts++;
      await world.clock.sleep(1_000);
      await start(id);
    },
  });
  const { metadata } = await world.pod("p", { containers: [{ ...HOOKED, lifecycle: { postStart: { exec: { command: ["hello"] } } } }] });
  while (starts === 0) await world.clock.advance(10);
  await world.clock.advance(980);
  kubelet.retry(metadata.uid ?? "");
  await world.clock.advance(5_000);

  assert.deepEqual([starts, runtime.commands, (await seen(world))[2]], [1, ["hello"], "running"]);
  const reported = (await world.eventsOf("p")).filter((line) => line.includes("Started"));
  assert.deepEqual(reported, ["Normal Started Container started"]);
});
