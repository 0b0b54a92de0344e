import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import { test } from "node:test";
import type { Pod } from "../../../api/generated/core/v1.ts";
import { driven } from "../../../testing/driven.ts";
import { virtualClock } from "../../../testing/virtual-clock.ts";
import { runtimeSuite, type Program } from "../../testing/runtime-suite.ts";
import type { Runtime } from "../../contracts/runtime.ts";
import { simulatedRuntime, type SimulatedRuntimeOptions } from "./simulated-runtime.ts";
import { Simulation, type SimulationOptions } from "./simulation.ts";
import { containerIn, reported, run, simulatedPod } from "./testing/pods.ts";

const PROGRAMS: Readonly<Record<Program, Readonly<Record<string, string>>>> = {
  waits: { exec: JSON.stringify({ "echo hello": "hello\n", cat: { echo: true }, false: { exitCode: 1 } }) },
  completes: { "run-for": "2s", "exit-message": "done" },
  fails: { "run-for": "0", "exit-code": "3" },
  stubborn: { logs: "stubborn\n", "stop-takes": "1h" },
  talks: { logs: "one\ntwo\nthree\n", "log-every": "500ms" },
};

runtimeSuite({
  name: "simulated",
  async open() {
    const clock = virtualClock();
    return {
      runtime: simulatedRuntime({ simulation: new Simulation(clock), node: "n1" }),
      pod: (name, program) => simulatedPod(name, { says: PROGRAMS[program] }),
      async passing<T>(promise: Promise<T>): Promise<T> {
        let isSettled = false;
        const settled = (): void => void (isSettled = true);
        promise.then(settled, settled);
        await clock.advanceUntil(() => isSettled, { withinMs: 60_000 });
        return promise;
      },
    };
  },
});

interface Given {
  readonly options?: SimulationOptions;
  readonly runtime?: Partial<SimulatedRuntimeOptions>;
}

function given({ options, runtime: parts }: Given = {}) {
  const clock = virtualClock();
  const simulation = new Simulation(clock, options);
  const runtime = simulatedRuntime({ simulation, node: "n1", ...parts });
  const reported: string[] = [];
  runtime.watch((podUid) => reported.push(podUid));
  return { clock, simulation, runtime, reported };
}

test("a simulated Pod without settings runs and is ready at once, and sets no timer", async () => {
  const { clock, runtime, reported } = given();
  const pod = simulatedPod("web");

  await driven(clock, run(runtime, pod));

  const { state, started, ready } = await containerIn(runtime, pod);
  deepEqual([state.is, started, ready, clock.sleeping, reported], ["running", true, true, 0, []]);
});

test("ten thousand simulated Pods on five thousand nodes set no timer, and one timer once any has a scheduled change", async () => {
  const { clock, simulation } = given();
  const runtimes = Array.from({ length: 5_000 }, (_, nodeIndex) => simulatedRuntime({ simulation, node: `n${nodeIndex}`, nodeIndex }));

  for (let index = 0; index < 10_000; index++) await run(runtimes[index % 5_000]!, simulatedPod(`p${index}`));
  equal(clock.sleeping, 0);

  for (const runtime of runtimes) await run(runtime, simulatedPod("later", { says: { "ready-after": "1m" } }));
  equal(clock.sleeping, 1);
  for (const runtime of runtimes) await runtime[Symbol.asyncDispose]();
  await clock.settle();
  equal(clock.sleeping, 0);
});

test("watchers of a simulated runtime are notified when a container becomes ready and when it exits, and at no other time", async () => {
  const { clock, runtime, reported } = given();
  const pod = simulatedPod("web", { says: { "ready-after": "5s", "run-for": "8s" } });
  await driven(clock, run(runtime, pod));
  const seen: unknown[] = [];

  for (let second = 1; second <= 9; second++) {
    await clock.advance(1_000);
    const { state, ready } = await containerIn(runtime, pod);
    seen.push([second, state.is, ready, reported.length]);
  }

  deepEqual(seen.slice(3), [
    [4, "running", false, 0],
    [5, "running", true, 1],
    [6, "running", true, 1],
    [7, "running", true, 1],
    [8, "exited", false, 2],
    [9, "exited", false, 2],
  ]);
});

test("starting a container takes as long as its script defines, and one stopped meanwhile does not start", async () => {
  const { clock, runtime } = given();
  const slow = simulatedPod("slow", { says: { "start-after": "10s" } });
  const startedAt: number[] = [];
  void run(runtime, slow).then(() => startedAt.push(clock.monotonic()));
  await clock.advance(9_999);
  equal((await containerIn(runtime, slow)).state.is, "created");
  await clock.advance(60_000);
  deepEqual(startedAt, [10_000]);

  const stopped = simulatedPod("stopped", { says: { "start-after": "10s" } });
  const starting = rejects(run(runtime, stopped), { reason: "CannotRun", message: "Cannot start container main: it was stopped before" });
  await clock.settle();
  await driven(clock, runtime.stopContainer((await containerIn(runtime, stopped)).id, 5_000));
  await starting;
  await clock.advance(60_000);
  equal((await containerIn(runtime, stopped)).state.is, "exited");
});

test("an image pull takes as long as the script defines, or fails", async () => {
  const { clock, runtime } = given();
  const slow = simulatedPod("slow", { says: { "image-pull": "3s" } });
  const lost = simulatedPod("lost", { says: { "image-pull": "fail: no such host" } });

  const pulled = runtime.pullImage("app:1", slow).then(() => clock.monotonic());
  await clock.advance(2_999);
  equal(await runtime.imageStatus("app:1"), undefined);
  await clock.advance(1);
  equal(await pulled, 3_000);
  await rejects(runtime.pullImage("app:1", lost), { reason: "ImagePull", message: `Cannot pull image "app:1": no such host` });
});

test("a second stop of a container can only shorten its grace period", async () => {
  const { clock, runtime } = given();
  const pod = simulatedPod("web", { says: { "stop-takes": "20s" } });
  const id = await driven(clock, run(runtime, pod));
  const endedAt: number[] = [];
  const stop = (graceMs: number): void => void runtime.stopContainer(id, graceMs).then(() => endedAt.push(clock.monotonic()));

  stop(30_000);
  await clock.advance(5_000);
  stop(30_000);
  stop(10_000);
  await clock.advance(60_000);

  deepEqual(endedAt, [15_000, 15_000, 15_000]);
});

test("an invalid annotation prevents a Pod from running, and the error names it and the expected format", async () => {
  const { runtime } = given();
  await rejects(runtime.runSandbox(simulatedPod("web", { says: { "ready-after": "soon" } })), {
    reason: "CannotRun",
    message: `Cannot run Pod default/web: annotation simulated.k8ts.dev/ready-after is "soon" and should be a duration such as 1.5s, 0 or longer`,
  });
  deepEqual(await runtime.list(), []);
});

test("a command that takes longer than its container runs ends with the container", async () => {
  const { clock, runtime } = given();
  const pod = simulatedPod("web", { says: { "run-for": "2s", exec: `{"sleep": {takes: 10s}, "*": "anything"}` } });
  const id = await driven(clock, run(runtime, pod));
  const output: string[] = [];
  const streams = { output: (chunk: Uint8Array) => void output.push(new TextDecoder().decode(chunk)), error: () => undefined };

  equal(await runtime.exec(id, ["ls", "-l"], streams, new AbortController().signal), 0);
  const ended = runtime.exec(id, ["sleep"], streams, new AbortController().signal).then((code) => [code, clock.monotonic()]);
  await clock.advance(60_000);

  deepEqual([await ended, output], [[137, 2_000], ["anything"]]);
});

test("addresses come from the node's podCIDR once it has one, the lowest free one first", async () => {
  let podCidrs: readonly string[] = [];
  const { runtime } = given({ runtime: { podCidrs: () => podCidrs, nodeIndex: 258 } });
  const ipsOf = async (name: string): Promise<readonly string[]> => (await runtime.runSandbox(simulatedPod(name))).ips;
  const stop = async (name: string): Promise<void> => runtime.stopSandbox((await runtime.status(`uid-of-${name}`))!.id);

  deepEqual(await ipsOf("a"), ["10.129.2.2"]);
  podCidrs = ["10.244.1.0/29", "fd00:1::/64"];
  deepEqual(await ipsOf("b"), ["10.244.1.2", "fd00:1::2"]);
  for (const name of ["c", "d", "e", "f"]) await ipsOf(name);
  await rejects(ipsOf("g"), { reason: "CannotRun", message: "Cannot allocate an address for a Pod: all 5 of 10.244.1.0/29 are in use" });
  await stop("d");
  await stop("b");
  deepEqual(
    [await ipsOf("g"), await ipsOf("h")],
    [
      ["10.244.1.2", "fd00:1::2"],
      ["10.244.1.4", "fd00:1::4"],
    ],
  );
});

test("disposing a simulated runtime rejects all waiters and stops all activity", async () => {
  const { clock, runtime, reported } = given();
  const pod = simulatedPod("web", { says: { "stop-takes": "1h", "ready-after": "1m", "image-pull.side": "1h" }, spec: TWO_CONTAINERS });
  const id = await driven(clock, run(runtime, pod));
  const waiting = [runtime.stopContainer(id, 1e6), runtime.pullImage("side:1", pod)].map((promise) =>
    rejects(promise, { reason: "Unavailable" }),
  );
  await clock.settle();

  await runtime[Symbol.asyncDispose]();
  await Promise.all(waiting);
  await rejects(runtime.runSandbox(simulatedPod("other")), { reason: "Unavailable" });
  await clock.advance(120_000);

  deepEqual([reported, clock.sleeping], [[], 0]);
});

const TWO_CONTAINERS = {
  containers: [
    { name: "main", image: "app:1" },
    { name: "side", image: "side:1" },
  ],
};

// ── recovery by a restarted runtime ───────────────────────────────────────────────────────────────────

/** A second runtime of the same node, which knows only what the API has of these Pods. */
async function restarted(runtime: Runtime, simulation: Simulation, pods: readonly Pod[]): Promise<Runtime> {
  const again = simulatedRuntime({ simulation, node: "n1" });
  again.recover?.(await Promise.all(pods.map(async (pod) => reported(pod, await runtime.status(pod.metadata.uid!)))));
  return again;
}

test("a restarted simulated runtime has the same Pods, addresses and images, and allocates no address twice", async () => {
  const { clock, simulation, runtime } = given();
  const pods = ["a", "b", "c"].map((name) => simulatedPod(name));
  for (const pod of pods) await run(runtime, pod);
  await runtime.stopSandbox((await runtime.status("uid-of-b"))!.id);
  await clock.advance(123_456);

  const again = await restarted(runtime, simulation, [...pods, simulatedPod("new")]);

  deepEqual(await again.list(), await runtime.list());
  deepEqual(await again.images(), await runtime.images());
  const next = simulatedPod("next");
  deepEqual(await again.runSandbox(next), await runtime.runSandbox(next));
});

test("of two Pods that claim one address the second must be run again", async () => {
  const { simulation, runtime } = given();
  const [a, b] = [simulatedPod("a"), simulatedPod("b")];
  await run(runtime, a);
  const theirs = (await runtime.status("uid-of-a"))!;
  const again = simulatedRuntime({ simulation, node: "n1" });

  again.recover?.([reported(a, theirs), { ...reported(b, theirs) }]);

  equal((await again.status("uid-of-b"))?.state, "not-ready");
  ok(!(await again.runSandbox(b)).ips.includes(theirs.ips[0]!));
});

test("a Pod whose annotations became invalid after its start keeps running, and cannot be restarted", async () => {
  const { simulation, runtime } = given();
  const pod = simulatedPod("web");
  const id = await run(runtime, pod);
  const spoilt = { ...pod, metadata: { ...pod.metadata, annotations: { "simulated.k8ts.dev/exit-code": "a" } } };

  const again = await restarted(runtime, simulation, [spoilt]);

  const { id: sandboxId, containers } = (await again.status("uid-of-web"))!;
  deepEqual([containers[0]?.id, containers[0]?.state.is], [id, "running"]);
  const config = { pod: spoilt, container: pod.spec!.containers[0]!, attempt: 1, imageId: "" };
  await rejects(again.createContainer(sandboxId, config), { reason: "CannotRun" });
});
