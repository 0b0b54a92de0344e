/** A kubelet on a machine: mounts volumes before containers start, resolves values, and releases everything. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { nodes } from "../api/core/v1/node.ts";
import { pods } from "../api/core/v1/pod.ts";
import type { Pod, PodSpec } from "../api/generated/core/v1.ts";
import type { Kubelet } from "./kubelet.ts";
import { ContainerConfigError, ImageVolumesError, MountError, PodNetworkError, PodRejectedError } from "./contracts/pod-machine.ts";
import { RuntimeError } from "./contracts/runtime.ts";
import { fakeMachine, realRuntime, type FakeMachine, type RealRuntime } from "./testing/fake-machine.ts";
import { startWorld, type World } from "./testing/world.ts";

interface Node {
  readonly world: World;
  readonly machine: FakeMachine;
  readonly runtime: RealRuntime;
  kubelet: Kubelet;
}

async function startNode(world: World): Promise<Node> {
  const machine = fakeMachine();
  const runtime = realRuntime(world.runtime("n1"));
  return { world, machine, runtime, kubelet: await world.kubelet("n1", { runtime, machine }) };
}

async function waitingOf(world: World, name = "p") {
  return (await world.get(name))?.status?.containerStatuses?.[0]?.state?.waiting;
}

const KEY = { namespace: "default", name: "p" };
const MISSING = 'MountVolume.SetUp failed for volume "config" : configmap "c" not found';

test("volumes are mounted before the sandbox runs, and containers are created with the resolved values", async () => {
  await using world = await startWorld();
  const { machine, runtime } = await startNode(world);
  machine.credentialsOf = [{ username: "u", password: "p" }];

  await world.pod("p");
  await world.clock.settle();

  assert.equal((await world.get("p"))?.status?.phase, "Running");
  assert.deepEqual(machine.calls, ["prepare p", "container p/c"]);
  assert.deepEqual(
    runtime.sandboxRuns.map((run) => run?.hostname),
    ["p"],
  );
  assert.deepEqual(
    runtime.configs.map(({ run, sandboxRun }) => [run?.logPath, sandboxRun?.hostname]),
    [["c/0.log", "p"]],
  );
  assert.deepEqual(
    runtime.pulls.map((options) => [options?.credentials, options?.runtimeHandler]),
    [[[{ username: "u", password: "p" }], "kata"]],
  );
});

test("a Pod that the machine rejects becomes Failed with the reason and is released", async () => {
  await using world = await startWorld();
  const { machine } = await startNode(world);
  machine.onPrepare = () => Promise.reject(new PodRejectedError("VolumeAttachmentLimitExceeded", "Node has reached its limit"));
  await world.pod("p");

  await world.clock.advance(5_000);

  const { phase, reason, message } = (await world.get("p"))?.status ?? {};
  assert.deepEqual([phase, reason, message], ["Failed", "VolumeAttachmentLimitExceeded", "Pod was rejected: Node has reached its limit"]);
  assert.deepEqual(await world.eventsOf("p"), ["Warning VolumeAttachmentLimitExceeded Node has reached its limit"]);
  assert.deepEqual(
    machine.calls.filter((call) => call.startsWith("release")),
    ["release p"],
  );
});

test("failed mounts emit FailedMount and are retried with backoff, while the Pod waits", async () => {
  await using world = await startWorld();
  const { machine } = await startNode(world);
  const triedAtMs: number[] = [];
  const begunAtMs = world.clock.now();
  machine.onPrepare = () => {
    triedAtMs.push(world.clock.now() - begunAtMs);
    return triedAtMs.length < 5 ? Promise.reject(new MountError(MISSING)) : Promise.resolve();
  };
  await world.pod("p");

  await world.clock.advance(4_000);
  const meanwhile = await world.get("p");
  await world.clock.advance(4_000);

  assert.deepEqual(triedAtMs, [0, 500, 1_500, 3_500, 7_500]);
  assert.deepEqual(meanwhile?.status?.containerStatuses?.[0]?.state, { waiting: { reason: "ContainerCreating" } });
  assert.deepEqual([...new Set(await world.eventsOf("p"))].slice(0, 1), [`Warning FailedMount ${MISSING}`]);
  assert.equal((await world.get("p"))?.status?.phase, "Running");
});

test("an image volume without its image has upstream's waiting states and events, and is pulled again with the back-off of images", async () => {
  await using world = await startWorld();
  const { machine } = await startNode(world);
  const triedAtMs: number[] = [];
  const begunAtMs = world.clock.now();
  const problem = { reason: "ErrImagePull", message: "no such image" } as const;
  machine.onPrepare = () => {
    triedAtMs.push(world.clock.now() - begunAtMs);
    return triedAtMs.length < 3 ? Promise.reject(new ImageVolumesError(new Map([["data:1", problem]]))) : Promise.resolve();
  };
  await world.pod("p", {
    containers: [
      { name: "c", image: "web:1", volumeMounts: [{ name: "v", mountPath: "/v" }] },
      { name: "other", image: "web:1" },
    ],
    volumes: [{ name: "v", image: { reference: "data:1" } }],
  });

  const states: unknown[] = [];
  for (const stepMs of [5_000, 20_000, 10_000]) {
    await world.clock.advance(stepMs);
    states.push((await world.get("p"))?.status?.containerStatuses?.map(({ state }) => state?.waiting));
  }

  const other = { reason: "ContainerCreating" };
  const later = { reason: "ImagePullBackOff", message: 'Back-off pulling image "data:1": ErrImagePull: no such image' };
  assert.deepEqual(triedAtMs, [0, 10_000, 30_000]);
  assert.deepEqual(states, [
    [problem, other],
    [later, other],
    [undefined, undefined],
  ]);
  assert.equal((await world.get("p"))?.status?.phase, "Running");
  assert.deepEqual((await world.eventsOf("p")).slice(0, 4), [
    'Warning Failed Failed to pull image "data:1": no such image',
    "Warning Failed Error: ErrImagePull",
    'Normal BackOff Back-off pulling image "data:1"',
    "Warning Failed Error: ImagePullBackOff",
  ]);
});

test("mounts are retried at once when an object that the Pod refers to changes", async () => {
  await using world = await startWorld();
  const { machine, kubelet } = await startNode(world);
  let isThere = false;
  machine.onPrepare = () => (isThere ? Promise.resolve() : Promise.reject(new MountError(MISSING)));
  const { metadata } = await world.pod("p");
  await world.clock.advance(200_000);

  isThere = true;
  kubelet.retry(metadata.uid ?? "");
  await world.clock.settle();

  assert.equal((await world.get("p"))?.status?.phase, "Running");
});

test("a Pod that is deleted while its volumes are mounted is removed at once, without leftovers", async () => {
  await using world = await startWorld();
  const { machine, kubelet } = await startNode(world);
  // Cancelling takes a while, during which there is still something to release.
  machine.onPrepare = async (_, signal) => {
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    await world.clock.sleep(500);
    machine.calls.push("given up");
    throw new Error("given up");
  };
  await world.pod("p");
  await world.clock.advance(1_000);

  await world.client.delete(pods, KEY);
  await world.clock.advance(1_000);

  assert.deepEqual([await world.get("p"), kubelet.podCount], [undefined, 0]);
  assert.deepEqual(machine.calls, ["prepare p", "update p", "given up", "release p"]);
  assert.deepEqual(await world.eventsOf("p"), []);
});

test("a container with an invalid configuration waits for a change of the Pod", async () => {
  await using world = await startWorld();
  const { machine } = await startNode(world);
  machine.onContainer = (pod) =>
    pod.metadata.annotations?.["mine"] === undefined
      ? Promise.reject(new ContainerConfigError('configmap "c" not found'))
      : Promise.resolve();
  await world.pod("p");
  await world.clock.settle();
  const waiting = await waitingOf(world);
  await world.clock.advance(25_000);
  const tries = machine.calls.filter((call) => call === "container p/c").length;

  await world.client.patch(pods, KEY, { type: "merge", value: { metadata: { annotations: { mine: "yes" } } } });
  await world.clock.settle();

  assert.deepEqual(waiting, { reason: "CreateContainerConfigError", message: 'configmap "c" not found' });
  assert.equal(tries, 3);
  assert((await world.eventsOf("p")).includes('Warning Failed Error: configmap "c" not found'));
  assert.equal((await world.get("p"))?.status?.phase, "Running");
  assert(machine.calls.includes("update p"));
});

test("a container whose network may not be used waits with FailedCreatePodSandBox and is retried soon", async () => {
  await using world = await startWorld();
  const { machine } = await startNode(world);
  let isNetworkReady = false;
  machine.onContainer = () =>
    isNetworkReady ? Promise.resolve() : Promise.reject(new PodNetworkError("network policies are not enforced"));
  await world.pod("p");
  await world.clock.settle();
  const waiting = await waitingOf(world);

  isNetworkReady = true;
  await world.clock.advance(2_000);

  assert.deepEqual(waiting, { reason: "ContainerCreating", message: "network policies are not enforced" });
  const [event] = await world.eventsOf("p").then((events) => events.filter((text) => text.startsWith("Warning")));
  assert.equal(event, "Warning FailedCreatePodSandBox Failed to create pod sandbox: network policies are not enforced");
  assert.equal((await world.get("p"))?.status?.phase, "Running");
});

test("failures of creating and starting a container are reported with their reason", async () => {
  const rows = [
    ["createContainer", "CreateContainerError"],
    ["startContainer", "RunContainerError"],
    ["imageStatus", "ImageInspectError"],
  ] as const;
  for (const [member, reason] of rows) {
    await using world = await startWorld();
    const { runtime } = await startNode(world);
    Object.assign(runtime, { [member]: () => Promise.reject(new RuntimeError("Unavailable", "no answer")) });
    await world.pod("p");
    await world.clock.settle();

    assert.equal((await waitingOf(world))?.reason, reason);
    assert.match((await waitingOf(world))?.message ?? "", /no answer/);
  }
});

test("an image pull that is no longer needed is cancelled", async () => {
  await using world = await startWorld();
  const { runtime } = await startNode(world);
  const cancelled: string[] = [];
  runtime.onPull = (options) =>
    new Promise((_, reject) =>
      options?.signal?.addEventListener("abort", () => {
        cancelled.push("yes");
        reject(new RuntimeError("ImagePull", "cancelled"));
      }),
    );
  await world.pod("p");
  await world.clock.advance(1_000);

  await world.client.delete(pods, KEY);
  await world.clock.advance(1_000);

  assert.deepEqual([await world.get("p"), cancelled], [undefined, ["yes"]]);
});

test("a deleted Pod is removed from the API only after its volumes are unmounted", async () => {
  await using world = await startWorld();
  const { machine } = await startNode(world);
  let isBusy = true;
  machine.onRelease = () => (isBusy ? Promise.reject(new Error("device or resource busy")) : Promise.resolve());
  await world.pod("p");
  await world.clock.settle();

  await world.client.delete(pods, KEY);
  await world.clock.advance(20_000);
  const held = await world.get("p");
  isBusy = false;
  await world.clock.advance(10_000);

  assert.deepEqual([held?.status?.phase, await world.get("p")], ["Failed", undefined]);
  assert.deepEqual(world.writes.slice(-1), ["delete pods of uid"]);
});

test("a completed Pod releases its volumes once and keeps its termination message", async () => {
  await using world = await startWorld();
  const { machine, runtime } = await startNode(world);
  const status = runtime.status.bind(runtime);
  let areWordsGone = false;
  Object.assign(runtime, {
    status: async (uid: string) => {
      const sandbox = await status(uid);
      const containers = sandbox?.containers.map((container) =>
        container.state.is === "exited" && !areWordsGone ? { ...container, state: { ...container.state, message: "bye" } } : container,
      );
      return sandbox && { ...sandbox, containers };
    },
  });
  machine.onRelease = async () => void (areWordsGone = true);
  await world.pod("p", { restartPolicy: "Never" }, { annotations: { "simulated.k8ts.dev/run-for": "5s" } });
  await world.clock.advance(10_000);
  await world.client.patch(pods, KEY, { type: "merge", value: { metadata: { labels: { any: "change" } } } });
  await world.clock.advance(10_000);

  const pod = await world.get("p");
  assert.deepEqual([pod?.status?.phase, pod?.status?.containerStatuses?.[0]?.state?.terminated?.message], ["Succeeded", "bye"]);
  assert.deepEqual(
    machine.calls.filter((call) => call.startsWith("release")),
    ["release p"],
  );
});

test("leftovers of Pods missing in the API are released when the kubelet starts, those of known Pods are kept", async () => {
  await using world = await startWorld();
  const node = await startNode(world);
  const { metadata } = await world.pod("p");
  await world.clock.settle();
  await node.kubelet.stop();
  const again = fakeMachine();
  again.left = ["unknown", metadata.uid ?? ""];

  await world.kubelet("n1", { runtime: node.runtime, machine: again });
  await world.clock.settle();

  assert.deepEqual(again.calls, ["release unknown", "prepare p"]);
  assert.equal((await world.get("p"))?.status?.containerStatuses?.[0]?.restartCount, 0);
});

const TWO_SPECS: Partial<PodSpec> = { terminationGracePeriodSeconds: 60 };

test("stopping a node with its Pods terminates all containers without writing to the API, and the next start runs them again", async () => {
  await using world = await startWorld();
  const { machine, runtime, kubelet } = await startNode(world);
  const stopping = { "simulated.k8ts.dev/stop-takes": "1h" };
  await world.pod("p", TWO_SPECS, { annotations: stopping });
  await world.pod("pulled", {}, { annotations: { "simulated.k8ts.dev/image-pull": "1h" } });
  await world.clock.advance(1_000);
  world.writes.length = 0;
  const before = await world.get("p");

  let isOver = false;
  void kubelet.stopPods({ graceMs: 5_000 }).then(() => (isOver = true));
  await world.clock.advance(4_900);
  const early = isOver;
  await world.clock.advance(200);

  const left = (await runtime.list()).map(({ name, state, containers }) => [name, state, containers.map((one) => one.state.is)]);
  assert.deepEqual([early, isOver, left, world.writes], [false, true, ["p", "pulled"].map((name) => [name, "not-ready", ["exited"]]), []]);
  assert.deepEqual(machine.calls.filter((call) => call.startsWith("release")).toSorted(), ["release p", "release pulled"]);
  assert.deepEqual((await world.get("p"))?.status, before?.status);
  await world.kubelet("n1", { runtime, machine: fakeMachine() });
  await world.clock.advance(20_000);
  const { phase, containerStatuses: [again] = [] } = (await world.get("p"))?.status ?? {};
  assert.deepEqual([phase, again?.restartCount, again?.lastState?.terminated?.exitCode], ["Running", 1, 137]);
});

test("stopping a node stops Pods of drivers last, because they unmount the volumes of the others", async () => {
  await using world = await startWorld();
  const { machine, kubelet } = await startNode(world);
  const hostPath = { path: "/var/lib/kubelet/plugins_registry" };
  await world.pod("driver", { volumes: [{ name: "registry", hostPath }] });
  await world.pod("slow", {}, { annotations: { "simulated.k8ts.dev/stop-takes": "3s" } });
  await world.clock.advance(1_000);

  const stopped = kubelet.stopPods({ graceMs: 5_000 });
  await world.clock.advance(5_000);
  await stopped;

  assert.deepEqual(
    machine.calls.filter((call) => call.startsWith("release")),
    ["release slow", "release driver"],
  );
});

for (const { title, isKilled } of [
  { title: "a stop of the node", isKilled: false },
  { title: "a stop of the node, before another kubelet was killed,", isKilled: true },
]) {
  test(`${title} is no crash: the first restart after it is counted and has no backoff`, async () => {
    await using world = await startWorld();
    const { runtime, kubelet } = await startNode(world);
    await world.pod("p", {}, { annotations: { "simulated.k8ts.dev/run-for": "20s", "simulated.k8ts.dev/exit-code": "1" } });
    await world.clock.advance(1_000);
    const second = await restarted(world, runtime, kubelet);
    if (isKilled) {
      await second.stop();
      await restarted(world, runtime);
    }
    const seen = async () => {
      const [{ restartCount, state } = {}] = (await world.get("p"))?.status?.containerStatuses ?? [];
      return [restartCount, state?.running !== undefined];
    };
    const before = await seen();
    await world.clock.advance(isKilled ? 15_000 : 20_000);

    assert.deepEqual(
      [before, await seen()],
      [
        [1, true],
        [2, true],
      ],
    );
  });
}

/** A kubelet after a previous one, which stopped its Pods first; without one, it was killed. */
async function restarted(world: World, runtime: RealRuntime, before?: Kubelet): Promise<Kubelet> {
  const stopped = before?.stopPods({ graceMs: 5_000 });
  await world.clock.advance(5_000);
  await stopped;
  const kubelet = await world.kubelet("n1", { runtime, machine: fakeMachine() });
  await world.clock.advance(1_000);
  return kubelet;
}

test("a Pod that must not restart keeps the exit codes of containers that ran when the node was stopped", async () => {
  await using world = await startWorld();
  const { runtime, kubelet } = await startNode(world);
  await world.pod("p", { restartPolicy: "Never" }, { annotations: { "simulated.k8ts.dev/stop-takes": "1h" } });
  await world.clock.advance(1_000);

  await restarted(world, runtime, kubelet);

  const { phase, containerStatuses: [status] = [] } = (await world.get("p"))?.status ?? {};
  assert.deepEqual([phase, status?.restartCount, status?.state?.terminated?.exitCode, runtime.configs.length], ["Failed", 0, 137, 1]);
  assert.notEqual(status?.state?.terminated?.reason, "ContainerStatusUnknown");
});

test("lost containers of a Pod that must not restart are reported as such and do not run twice", async () => {
  await using world = await startWorld();
  const { kubelet } = await startNode(world);
  await world.pod("p", { restartPolicy: "Never" });
  await world.clock.advance(1_000);
  await kubelet.stop();
  const empty = realRuntime(world.runtime("n1"));
  for (const { id } of await empty.list()) await empty.removeSandbox(id);

  await world.kubelet("n1", { runtime: empty, machine: fakeMachine() });
  await world.clock.advance(1_000);

  const { phase, containerStatuses: [status] = [] } = (await world.get("p"))?.status ?? {};
  const { exitCode, reason } = status?.state?.terminated ?? {};
  assert.deepEqual([phase, exitCode, reason, empty.configs], ["Failed", 137, "ContainerStatusUnknown", []]);
});

test("init containers run again in a new sandbox, in order, before the others", async () => {
  await using world = await startWorld();
  const { runtime, kubelet } = await startNode(world);
  const initContainers = [
    { name: "first", image: "i:1" },
    { name: "second", image: "i:1" },
  ];
  const scripts = { "simulated.k8ts.dev/run-for.first": "3s", "simulated.k8ts.dev/run-for.second": "3s" };
  await world.pod("p", { initContainers }, { annotations: scripts });
  await world.clock.advance(8_000);
  runtime.configs.length = 0;

  await restarted(world, runtime, kubelet);
  const made = () => runtime.configs.map(({ container }) => container.name);
  const early = made();
  await world.clock.advance(10_000);

  assert.deepEqual([early, made()], [["first"], ["first", "second", "c"]]);
});

test("a Pod whose sandbox is being created when its node is stopped leaves nothing behind", async () => {
  await using world = await startWorld();
  const { runtime, kubelet } = await startNode(world);
  const runSandbox = runtime.runSandbox.bind(runtime);
  Object.assign(runtime, { runSandbox: (pod: Pod) => world.clock.sleep(1_000).then(() => runSandbox(pod)) });
  await world.pod("p");
  await world.clock.advance(500);

  const stopped = kubelet.stopPods({ graceMs: 5_000 });
  await world.clock.advance(5_000);
  await stopped;

  assert.deepEqual([await runtime.list(), runtime.configs], [[], []]);
});

test("an unhealthy runtime makes the node not ready, and ready again about a second after it recovers", async () => {
  await using world = await startWorld();
  const runtime = realRuntime(world.runtime("n1"));
  let reason: string | undefined = "container runtime network not ready: NetworkReady=false";
  Object.assign(runtime, { notReadyReason: () => Promise.resolve(reason) });
  await world.kubelet("n1", { runtime, machine: fakeMachine() });
  const ready = async () => (await world.node("n1")).status?.conditions?.find(({ type }) => type === "Ready");
  const first = await ready();

  reason = undefined;
  await world.clock.advance(1_500);

  assert.deepEqual(
    [first?.status, first?.reason, first?.message],
    ["False", "KubeletNotReady", "container runtime network not ready: NetworkReady=false"],
  );
  assert.equal((await ready())?.status, "True");
});

test("volumes in use are in the Node's status before they are needed, shared by concurrent reports, and removed with the next heartbeat", async () => {
  await using world = await startWorld();
  const { machine, kubelet } = await startNode(world);
  const shown = async () => (await world.client.get(nodes, { name: "n1" })).status?.volumesInUse;

  machine.inUse = ["kubernetes.io/csi/d^1"];
  const reports = Promise.all([kubelet.reportVolumesInUse(), kubelet.reportVolumesInUse(), kubelet.reportVolumesInUse()]);
  await world.clock.settle();
  assert.deepEqual([await reports, await shown()], [[machine.inUse, machine.inUse, machine.inUse], machine.inUse]);

  machine.inUse = [];
  await world.clock.advance(15_000);
  assert.equal(await shown(), undefined);
});

test("an evicted Pod is stopped at once, stays in the API as Failed, and is not started again", async () => {
  await using world = await startWorld();
  const { kubelet, machine } = await startNode(world);
  await world.pod("p", { terminationGracePeriodSeconds: 600 });
  await world.clock.settle();
  const uid = (await world.get("p"))?.metadata.uid ?? "";
  assert.equal(kubelet.activePods().length, 1);

  kubelet.evict(uid, { message: 'Usage of EmptyDir volume "v" exceeds the limit "1Mi". ' });
  kubelet.evict(uid, { message: "Again" });
  await world.clock.advance(5_000);

  const status = (await world.get("p"))?.status;
  assert.deepEqual(
    [status?.phase, status?.reason, status?.message, kubelet.activePods(), machine.calls.at(-1)],
    ["Failed", "Evicted", 'Usage of EmptyDir volume "v" exceeds the limit "1Mi". ', [], "release p"],
  );
  assert.notEqual(status?.containerStatuses?.[0]?.state?.terminated, undefined);
});

test("a node under pressure reports it, rejects Pods, and an evicted Pod gets the condition DisruptionTarget", async () => {
  await using world = await startWorld();
  const { kubelet } = await startNode(world);
  await world.pod("p");
  await world.clock.settle();
  const uid = (await world.get("p"))?.metadata.uid ?? "";

  kubelet.setPressure(["DiskPressure"]);
  kubelet.evict(uid, { message: "The node was low on resource: ephemeral-storage. ", isDisruption: true });
  await world.clock.advance(5_000);
  const condition = (await world.node("n1")).status?.conditions?.find(({ type }) => type === "DiskPressure");
  assert.deepEqual(
    [condition?.status, condition?.reason, condition?.message],
    ["True", "KubeletHasDiskPressure", "kubelet has disk pressure"],
  );
  const target = (await world.get("p"))?.status?.conditions?.find(({ type }) => type === "DisruptionTarget");
  assert.deepEqual(
    [target?.status, target?.reason, target?.message],
    ["True", "TerminationByKubelet", "The node was low on resource: ephemeral-storage. "],
  );

  await world.pod("q");
  await world.clock.settle();
  const rejected = (await world.get("q"))?.status;
  assert.deepEqual(
    [rejected?.phase, rejected?.reason, rejected?.message],
    ["Failed", "Evicted", "Pod was rejected: The node had condition: [DiskPressure]. "],
  );

  kubelet.setPressure([]);
  await world.pod("r");
  await world.clock.advance(5_000);
  assert.equal((await world.get("r"))?.status?.phase, "Running");
  const events = (await world.eventsOf("n1")).filter((line) => line.includes("DiskPressure"));
  assert.deepEqual(events, [
    "Normal NodeHasNoDiskPressure Node n1 status is now: NodeHasNoDiskPressure",
    "Normal NodeHasDiskPressure Node n1 status is now: NodeHasDiskPressure",
  ]);
});

test("what an orphaned Pod left is released at the start and, if that failed or came later, within some minutes", async () => {
  await using world = await startWorld();
  const { machine } = await startNode(world);
  await world.pod("p");
  await world.clock.settle();

  machine.left = ["orphan", (await world.get("p"))?.metadata.uid ?? ""];
  await world.clock.advance(180_000);

  assert.deepEqual(
    machine.calls.filter((call) => call.startsWith("release")),
    ["release orphan"],
  );
});
