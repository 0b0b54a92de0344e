import assert from "node:assert/strict";
import { test } from "node:test";
import { events } from "../api/core/v1/event.ts";
import { leases } from "../api/coordination.k8s.io/v1/lease.ts";
import { nodes } from "../api/core/v1/node.ts";
import { pods } from "../api/core/v1/pod.ts";
import type { Pod } from "../api/generated/core/v1.ts";
import { StatusError } from "../api/machinery/status-error.ts";
import type { Transport } from "../api/machinery/transport.ts";
import { kubeletIdentity } from "./kubelet.ts";
import { factsOf, startWorld, type World } from "./testing/world.ts";

/** "Ready=False ContainersNotReady", in order. */
function conditionsOf(pod: Pod | undefined): readonly string[] {
  return (pod?.status?.conditions ?? []).map(({ type, status, reason }) => `${type}=${status}${reason === undefined ? "" : ` ${reason}`}`);
}

function stateOf(pod: Pod | undefined, name = "c") {
  return pod?.status?.containerStatuses?.find((status) => status.name === name);
}

test("a kubelet registers its Node as upstream does, ready, with a lease that the Node owns", async () => {
  await using world = await startWorld();

  await world.kubelet("n1");
  await world.clock.settle();

  const node = await world.node("n1");
  assert.deepEqual(node.metadata.labels, {
    "beta.kubernetes.io/arch": "amd64",
    "beta.kubernetes.io/os": "linux",
    "kubernetes.io/arch": "amd64",
    "kubernetes.io/hostname": "n1",
    "kubernetes.io/os": "linux",
  });
  assert.deepEqual(
    node.status?.conditions?.map(({ type, status, reason }) => `${type}=${status} ${reason}`),
    [
      "MemoryPressure=False KubeletHasSufficientMemory",
      "DiskPressure=False KubeletHasNoDiskPressure",
      "PIDPressure=False KubeletHasSufficientPID",
      "Ready=True KubeletReady",
    ],
  );
  assert.deepEqual(node.status?.allocatable, { cpu: "4", memory: "8Gi", "ephemeral-storage": "10Gi", pods: "10" });
  assert.equal(node.status?.nodeInfo?.kubeletVersion, "v1.36.0");
  const lease = await world.client.get(leases, { namespace: "kube-node-lease", name: "n1" });
  assert.deepEqual(lease.metadata.ownerReferences, [{ apiVersion: "v1", kind: "Node", name: "n1", uid: node.metadata.uid }]);
  assert.deepEqual([lease.spec?.holderIdentity, lease.spec?.leaseDurationSeconds], ["n1", 40]);
  assert.deepEqual(world.writes, ["create nodes"]);
  assert.deepEqual(await world.eventsOf("n1"), [
    "Normal Starting Starting kubelet.",
    "Normal NodeHasSufficientMemory Node n1 status is now: NodeHasSufficientMemory",
    "Normal NodeHasNoDiskPressure Node n1 status is now: NodeHasNoDiskPressure",
    "Normal NodeHasSufficientPID Node n1 status is now: NodeHasSufficientPID",
    "Normal NodeReady Node n1 status is now: NodeReady",
  ]);
});

test("a Pod that is bound to the node runs after one write of its status", async () => {
  await using world = await startWorld();
  await world.kubelet("n1");
  world.writes.length = 0;

  await world.pod("p");
  await world.clock.settle();

  const pod = await world.get("p");
  assert.deepEqual(world.writes, ["update pods/status"]);
  assert.equal(pod?.status?.phase, "Running");
  assert.deepEqual(conditionsOf(pod), [
    "PodReadyToStartContainers=True",
    "Initialized=True",
    "Ready=True",
    "ContainersReady=True",
    "PodScheduled=True",
  ]);
  assert.deepEqual(pod?.status?.hostIPs, [{ ip: "192.0.2.1" }]);
  assert.notEqual(pod?.status?.podIP, undefined);
  assert.equal(pod?.status?.observedGeneration, pod?.metadata.generation);
  const status = stateOf(pod);
  assert.deepEqual([status?.ready, status?.started, status?.restartCount, status?.image], [true, true, 0, "web:1"]);
  assert.match(status?.containerID ?? "", /^simulated:\/\//);
  assert.deepEqual(
    (await world.eventsOf("p")).map((line) => line.replace(/ in .*/, "")),
    [
      'Normal Pulling Pulling image "web:1"',
      'Normal Pulled Successfully pulled image "web:1"',
      "Normal Created Container created",
      "Normal Started Container started",
    ],
  );
});

const SIMULATED = "simulated.k8ts.dev/";

/** Annotations that define the behaviour of the containers. */
function scripted(settings: Readonly<Record<string, string>>) {
  return { annotations: Object.fromEntries(Object.entries(settings).map(([name, value]) => [SIMULATED + name, value])) };
}

test("an idle node writes its status at most every five minutes, and renews its lease every ten seconds", async () => {
  await using world = await startWorld();
  await world.kubelet("n1");
  await world.pod("p");
  await world.clock.settle();
  world.writes.length = 0;
  const renewed = async () => (await world.client.get(leases, { namespace: "kube-node-lease", name: "n1" })).metadata.resourceVersion;
  const before = await renewed();

  await world.clock.advance(11_000);
  assert.notEqual(await renewed(), before);
  // The first report after a change has random delay, the others follow every five minutes and a heartbeat.
  await world.clock.advance(30 * 60_000);

  const reports = world.writes.filter((line) => line === "update nodes/status").length;
  assert(reports >= 5 && reports <= 7, `${reports} reports in half an hour`);
  assert.equal(world.writes.length, reports);
});

test("resources that other clients patch into the Node survive reports and restarts of the kubelet", async () => {
  await using world = await startWorld();
  const kubelet = await world.kubelet("n1");
  const value = { status: { capacity: { "example.com/foo": "5" }, allocatable: { "example.com/foo": "5" } } };
  await world.client.patch(nodes, { name: "n1" }, { type: "merge", value }, { subresource: "status" });

  await world.clock.advance(10 * 60_000);
  await kubelet.stop();
  await world.kubelet("n1");
  await world.clock.advance(10 * 60_000);

  const { status } = await world.node("n1");
  assert.deepEqual([status?.capacity?.["example.com/foo"], status?.allocatable?.["example.com/foo"]], ["5", "5"]);
});

test("a restarted kubelet corrects its labels, keeps those of other clients, and keeps its Pods running", async () => {
  await using world = await startWorld();
  const kubelet = await world.kubelet("n1");
  await world.pod("p");
  await world.clock.settle();
  const before = await world.get("p");
  await kubelet.stop();
  const value = { metadata: { labels: { "kubernetes.io/arch": "wrong", mine: "yes" } } };
  await world.client.patch(nodes, { name: "n1" }, { type: "merge", value });
  await world.clock.advance(120_000);

  await world.kubelet("n1");
  await world.clock.settle();

  const { labels } = (await world.node("n1")).metadata;
  assert.deepEqual([labels?.["kubernetes.io/arch"], labels?.["mine"]], ["amd64", "yes"]);
  assert.deepEqual((await world.get("p"))?.status, before?.status);
});

test("a container that fails repeatedly is restarted at once, then after 10 s, 20 s, 40 s", async () => {
  await using world = await startWorld();
  await world.kubelet("n1");
  await world.pod("p", {}, scripted({ "run-for": "1s", "exit-code": "3" }));
  await world.clock.settle();
  const startedAt: number[] = [];
  const begun = world.clock.monotonic();
  for (let restarts = 1; restarts <= 4; restarts++) {
    while ((stateOf(await world.get("p"))?.restartCount ?? 0) < restarts) await world.clock.advance(500);
    startedAt.push(Math.round((world.clock.monotonic() - begun) / 1000));
  }

  // Each ran for a second: 1, then 1+1+10, and so on.
  assert.deepEqual(startedAt, [1, 12, 33, 74]);
  await world.clock.advance(1_500);
  const pod = await world.get("p");
  const { uid = "" } = pod?.metadata ?? {};
  assert.deepEqual(stateOf(pod)?.state, {
    waiting: { reason: "CrashLoopBackOff", message: `back-off 1m20s restarting failed container=c pod=p_default(${uid})` },
  });
  assert.deepEqual([stateOf(pod)?.lastState?.terminated?.exitCode, stateOf(pod)?.lastState?.terminated?.reason], [3, "Error"]);
  assert.equal(pod?.status?.phase, "Running");
  assert.deepEqual(conditionsOf(pod).slice(2, 4), ["Ready=False ContainersNotReady", "ContainersReady=False ContainersNotReady"]);
  const backOffs = (await world.eventsOf("p")).filter((line) => line.includes("BackOff"));
  assert.deepEqual(backOffs, [`Warning BackOff Back-off restarting failed container c in pod p_default(${uid})`]);
});

test("a failed image pull is reported by events and retried with backoff", async () => {
  await using world = await startWorld();
  await world.kubelet("n1");
  await world.pod("p", {}, scripted({ "image-pull": "fail: no such image" }));
  await world.clock.settle();
  const first = stateOf(await world.get("p"))?.state?.waiting;
  await world.clock.advance(10_500);
  const second = stateOf(await world.get("p"))?.state?.waiting;
  await world.clock.advance(10_500);
  const third = stateOf(await world.get("p"))?.state?.waiting;

  assert.deepEqual([first?.reason, second?.reason, third?.reason], ["ErrImagePull", "ErrImagePull", "ImagePullBackOff"]);
  assert.match(first?.message ?? "", /no such image/);
  assert.match(third?.message ?? "", /^Back-off pulling image "web:1": ErrImagePull: .*no such image/);
  const reported = (await world.eventsOf("p")).map((line) => line.split(" ").slice(0, 5).join(" "));
  assert.deepEqual(
    [...new Set(reported)],
    [
      'Normal Pulling Pulling image "web:1"',
      "Warning Failed Failed to pull",
      "Warning Failed Error: ErrImagePull",
      "Normal BackOff Back-off pulling image",
      "Warning Failed Error: ImagePullBackOff",
    ],
  );
  assert.equal((await world.get("p"))?.status?.phase, "Pending");
});

test("a Pod is reported as ContainerCreating during a slow image pull", async () => {
  await using world = await startWorld();
  await world.kubelet("n1");
  await world.pod("p", {}, scripted({ "image-pull": "30s" }));

  await world.clock.advance(1_000);
  const meanwhile = await world.get("p");
  await world.clock.advance(30_000);

  assert.deepEqual(stateOf(meanwhile)?.state, { waiting: { reason: "ContainerCreating" } });
  assert.deepEqual(conditionsOf(meanwhile).slice(0, 3), [
    "PodReadyToStartContainers=True",
    "Initialized=True",
    "Ready=False ContainersNotReady",
  ]);
  assert.equal((await world.get("p"))?.status?.phase, "Running");
});

test("init containers run in order, and sidecars keep running beside the regular ones", async () => {
  await using world = await startWorld();
  await world.kubelet("n1");
  const settings = { "run-for.first": "5s", "started-after.side": "3s", "run-for.last": "5s" };
  const initContainers = [
    { name: "first", image: "i:1" },
    { name: "side", image: "i:1", restartPolicy: "Always" as const },
    { name: "last", image: "i:1" },
  ];
  await world.pod("p", { initContainers }, scripted(settings));
  const seen: string[] = [];
  for (let second = 0; second <= 14; second++) {
    await world.clock.advance(second === 0 ? 200 : 1_000);
    const { status } = (await world.get("p")) ?? {};
    const message = status?.conditions?.find(({ type }) => type === "Initialized")?.message ?? "initialized";
    const line = `${status?.phase} ${message}`;
    if (line !== seen.at(-1)) seen.push(line);
  }

  assert.deepEqual(seen, [
    "Pending containers with incomplete status: [first side last]",
    "Pending containers with incomplete status: [side last]",
    "Pending containers with incomplete status: [last]",
    "Running initialized",
  ]);
  const { status } = (await world.get("p")) ?? {};
  assert.deepEqual(
    status?.initContainerStatuses?.map(({ name, ready, started, state }) => [name, ready, started, Object.keys(state ?? {})]),
    [
      ["first", true, false, ["terminated"]],
      ["side", true, true, ["running"]],
      ["last", true, false, ["terminated"]],
    ],
  );
});

test("a completed Pod is Succeeded, its sidecars are stopped, and its sandbox is stopped", async () => {
  await using world = await startWorld();
  await world.kubelet("n1");
  const initContainers = [{ name: "side", image: "i:1", restartPolicy: "Always" as const }];
  await world.pod("p", { restartPolicy: "Never", initContainers }, scripted({ "run-for.c": "5s" }));

  await world.clock.advance(10_000);

  const pod = await world.get("p");
  assert.equal(pod?.status?.phase, "Succeeded");
  assert.deepEqual(conditionsOf(pod), [
    "PodReadyToStartContainers=False",
    "Initialized=True PodCompleted",
    "Ready=False PodCompleted",
    "ContainersReady=False PodCompleted",
    "PodScheduled=True",
  ]);
  assert.notEqual(pod?.status?.initContainerStatuses?.[0]?.state?.terminated, undefined);
});

test("a Pod past its deadline is stopped and Failed", async () => {
  await using world = await startWorld();
  await world.kubelet("n1");
  await world.pod("p", { activeDeadlineSeconds: 30 });

  await world.clock.advance(29_000);
  assert.equal((await world.get("p"))?.status?.phase, "Running");
  await world.clock.advance(2_000);

  const { status } = (await world.get("p")) ?? {};
  assert.deepEqual(
    [status?.phase, status?.reason, status?.message],
    ["Failed", "DeadlineExceeded", "Pod was active on the node longer than the specified deadline"],
  );
});

test("a deleted Pod gets its grace period; then its final status is written, and it is deleted", async () => {
  await using world = await startWorld();
  const kubelet = await world.kubelet("n1");
  await world.pod(
    "p",
    { terminationGracePeriodSeconds: 20 },
    { finalizers: ["example.com/hold"], ...scripted({ "stop-takes": "10s", "stop-exit-code": "0" }) },
  );
  await world.clock.settle();

  await world.client.delete(pods, { namespace: "default", name: "p" });
  await world.clock.advance(9_000);
  const going = await world.get("p");
  await world.clock.advance(2_000);
  const last = await world.get("p");

  assert.deepEqual([going?.status?.phase, Object.keys(stateOf(going)?.state ?? {})], ["Running", ["running"]]);
  assert.deepEqual([last?.status?.phase, stateOf(last)?.state?.terminated?.exitCode], ["Succeeded", 0]);
  assert.deepEqual((await world.eventsOf("p")).at(-1), "Normal Killing Stopping container c");
  assert.deepEqual(world.writes.slice(-2), ["update pods/status", "delete pods of uid"]);
  await world.client.patch(pods, { namespace: "default", name: "p" }, { type: "merge", value: { metadata: { finalizers: null } } });
  await world.clock.settle();
  assert.deepEqual([await world.get("p"), kubelet.podCount, await kubelet.runtime.list()], [undefined, 0, []]);
});

test("a force-deleted Pod has its containers killed", async () => {
  await using world = await startWorld();
  const kubelet = await world.kubelet("n1");
  await world.pod("p", {}, scripted({ "stop-takes": "1h" }));
  await world.clock.settle();
  await world.client.delete(pods, { namespace: "default", name: "p" });
  await world.clock.advance(5_000);

  await world.client.delete(pods, { namespace: "default", name: "p" }, { gracePeriodSeconds: 0 });
  await world.clock.advance(3_000);

  assert.deepEqual([await world.get("p"), await kubelet.runtime.list(), kubelet.podCount], [undefined, [], 0]);
});

test("a Pod that is deleted during its image pull is removed at once", async () => {
  await using world = await startWorld();
  const kubelet = await world.kubelet("n1");
  await world.pod("p", {}, scripted({ "image-pull": "1h" }));
  await world.clock.advance(1_000);

  await world.client.delete(pods, { namespace: "default", name: "p" });
  await world.clock.advance(1_000);

  assert.deepEqual([await world.get("p"), kubelet.podCount], [undefined, 0]);
});

test("a Pod that vanishes from the API during its image pull leaves nothing behind", async () => {
  await using world = await startWorld();
  const kubelet = await world.kubelet("n1");
  await world.pod("p", {}, scripted({ "image-pull": "1h" }));
  await world.clock.advance(1_000);

  await world.client.delete(pods, { namespace: "default", name: "p" }, { gracePeriodSeconds: 0 });
  await world.clock.advance(3_000);

  assert.deepEqual([kubelet.podCount, await kubelet.runtime.list()], [0, []]);
});

test("containers of Pods missing in the API are removed when the kubelet starts, even if they ignore SIGTERM", async () => {
  await using world = await startWorld();
  const runtime = world.runtime("n1");
  const kubelet = await world.kubelet("n1", { runtime });
  await world.pod("p", {}, scripted({ "stop-takes": "1h" }));
  await world.clock.settle();
  await kubelet.stop();
  await world.client.delete(pods, { namespace: "default", name: "p" }, { gracePeriodSeconds: 0 });

  await world.kubelet("n1", { runtime });
  await world.clock.advance(3_000);

  assert.deepEqual(await runtime.list(), []);
});

test("a node rejects a Pod that does not fit: the Pod fails with upstream's reason", async () => {
  await using world = await startWorld();
  await world.kubelet("n1");
  const cpu = (amount: string) => ({ containers: [{ name: "c", image: "web:1", resources: { requests: { cpu: amount } } }] });
  await world.pod("a", cpu("3"));
  await world.clock.settle();

  await world.pod("b", cpu("2"));
  await world.pod("elsewhere", { nodeSelector: { disk: "ssd" } });
  await world.clock.settle();

  const reported = async (name: string) => {
    const { status } = (await world.get(name)) ?? {};
    return [status?.phase, status?.reason, status?.message];
  };
  assert.deepEqual(await reported("b"), [
    "Failed",
    "OutOfcpu",
    "Pod was rejected: Node didn't have enough resource: cpu, requested: 2000, used: 3000, capacity: 4000",
  ]);
  assert.deepEqual(await reported("elsewhere"), [
    "Failed",
    "NodeAffinity",
    "Pod was rejected: Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector",
  ]);
  assert.equal((await reported("a"))[0], "Running");
  assert.deepEqual(await world.eventsOf("b"), [
    "Warning OutOfcpu Node didn't have enough resource: cpu, requested: 2000, used: 3000, capacity: 4000",
  ]);
});

test("a node rejects a Pod whose host port is in use, and reports the observed generation", async () => {
  await using world = await startWorld();
  await world.kubelet("n1");
  const containers = [{ name: "c", image: "web:1", ports: [{ containerPort: 80, hostPort: 8080 }] }];
  await world.pod("a", { containers });
  await world.clock.settle();

  await world.pod("b", { containers });
  await world.clock.settle();

  const { status, metadata } = (await world.get("b")) ?? {};
  assert.deepEqual([status?.phase, status?.reason], ["Failed", "NodePorts"]);
  assert(metadata?.generation !== undefined && status?.observedGeneration === metadata.generation);
});

test("a Node that the API server rejects permanently is not retried: the start fails with its message", async () => {
  await using world = await startWorld();
  const rows = [
    ["cpu", "lots", /lots|quantit/],
    ["memory", "-1", /memory/],
  ] as const;
  for (const [name, amount, expected] of rows) {
    const facts = { ...factsOf("n1"), capacity: { pods: "10", [name]: amount } };
    await assert.rejects(world.kubelet("n1", { facts }), expected);
  }
});

test("conditions of other clients are kept, and readiness gates wait for theirs", async () => {
  await using world = await startWorld();
  await world.kubelet("n1");
  await world.pod("p", { readinessGates: [{ conditionType: "example.com/gate" }] });
  await world.clock.settle();
  const closed = await world.get("p");
  const { status = {} } = closed ?? {};
  const conditions = [...(status.conditions ?? []), { type: "example.com/gate", status: "True" }];
  await world.client.updateStatus(pods, { ...(closed as Pod), status: { ...status, conditions } });
  await world.clock.settle();

  assert(conditionsOf(closed).includes("Ready=False ReadinessGatesNotReady"));
  assert.deepEqual(conditionsOf(await world.get("p")).slice(0, 4), [
    "example.com/gate=True",
    "PodReadyToStartContainers=True",
    "Initialized=True",
    "Ready=True",
  ]);
});

test("a container whose image is changed is restarted with the new one", async () => {
  await using world = await startWorld();
  await world.kubelet("n1");
  await world.pod("p");
  await world.clock.settle();

  await world.client.patch(
    pods,
    { namespace: "default", name: "p" },
    { type: "strategic", value: { spec: { containers: [{ name: "c", image: "web:2" }] } } },
  );
  await world.clock.advance(3_000);

  const pod = await world.get("p");
  assert.deepEqual(
    [stateOf(pod)?.image, stateOf(pod)?.restartCount, pod?.status?.observedGeneration],
    ["web:2", 1, pod?.metadata.generation],
  );
  assert((await world.eventsOf("p")).includes("Normal Killing Container c definition changed, will be restarted"));
});

test("another image ends the back-off of a container, and its own crashes count from the first", async () => {
  await using world = await startWorld();
  await world.kubelet("n1");
  await world.pod("p", {}, scripted({ "run-for": "1s", "exit-code": "1" }));
  await world.clock.advance(60_000);
  const waitingBefore = stateOf(await world.get("p"))?.state?.waiting?.message;

  await world.client.patch(
    pods,
    { namespace: "default", name: "p" },
    { type: "strategic", value: { spec: { containers: [{ name: "c", image: "web:2" }] } } },
  );
  await world.clock.advance(500);
  const started = stateOf(await world.get("p"));
  await world.clock.advance(2_000);

  assert.match(waitingBefore ?? "", /^back-off 40s restarting failed container=c /);
  assert.deepEqual([started?.image, started?.state?.running !== undefined], ["web:2", true]);
  assert.match(stateOf(await world.get("p"))?.state?.waiting?.message ?? "", /^back-off 10s restarting failed container=c /);
});

/** A transport that can be disconnected. */
function cuttable(world: World, nodeName: string) {
  const transport = world.transportFor(kubeletIdentity(nodeName));
  const line = { isCut: false };
  const cut: Transport = {
    ...transport,
    request: (request) => (line.isCut ? Promise.reject(new StatusError("ServiceUnavailable", "away")) : transport.request(request)),
  };
  return { line, transport: cut };
}

test("after an outage of the API server the lease is renewed and pending statuses are written", async () => {
  await using world = await startWorld();
  const { line, transport } = cuttable(world, "n1");
  await world.kubelet("n1", { transport });
  await world.pod("p", {}, scripted({ "ready-after": "30s" }));
  await world.clock.settle();
  const lease = async () => (await world.client.get(leases, { namespace: "kube-node-lease", name: "n1" })).spec?.renewTime ?? "";

  line.isCut = true;
  const before = await lease();
  await world.clock.advance(120_000);
  assert.equal(await lease(), before);
  assert.equal(stateOf(await world.get("p"))?.ready, false);
  line.isCut = false;
  await world.clock.advance(15_000);

  assert((await lease()) > before);
  assert.equal(stateOf(await world.get("p"))?.ready, true);
});

test("a deleted lease is created again", async () => {
  await using world = await startWorld();
  await world.kubelet("n1");
  await world.client.delete(leases, { namespace: "kube-node-lease", name: "n1" });

  await world.clock.advance(15_000);

  assert.equal((await world.client.get(leases, { namespace: "kube-node-lease", name: "n1" })).spec?.holderIdentity, "n1");
});

test("a Pod with the name of a deleted one is a different Pod", async () => {
  await using world = await startWorld();
  const kubelet = await world.kubelet("n1");
  await world.pod("p", {}, scripted({ "stop-takes": "10s" }));
  await world.clock.settle();
  await world.client.delete(pods, { namespace: "default", name: "p" }, { gracePeriodSeconds: 0 });

  const second = await world.pod("p");
  await world.clock.settle();
  const both = (await kubelet.runtime.list()).length;
  await world.clock.advance(20_000);

  assert.equal((await world.get("p"))?.status?.phase, "Running");
  assert.equal(both, 2);
  assert.deepEqual(
    (await kubelet.runtime.list()).map(({ podUid }) => podUid),
    [second.metadata.uid],
  );
});

test("a Pod that terminated before the kubelet started is left as it is, and is removed when it is deleted", async () => {
  await using world = await startWorld();
  await world.pod("p", { restartPolicy: "Never" });
  const pod = (await world.get("p")) as Pod;
  const status = { ...pod.status, phase: "Failed", reason: "Evicted", message: "previous message" } as const;
  await world.client.updateStatus(pods, { ...pod, status });
  await world.kubelet("n1");
  await world.clock.settle();
  assert.deepEqual(world.writes, ["create nodes"]);
  const { reason, message } = (await world.get("p"))?.status ?? {};

  await world.client.delete(pods, { namespace: "default", name: "p" });
  await world.clock.settle();

  assert.deepEqual([reason, message, await world.get("p")], ["Evicted", "previous message", undefined]);
});

test("cordoning a node emits NodeNotSchedulable", async () => {
  await using world = await startWorld();
  await world.kubelet("n1");

  await world.client.patch(nodes, { name: "n1" }, { type: "merge", value: { spec: { unschedulable: true } } });
  await world.clock.advance(15_000);

  assert.equal((await world.eventsOf("n1")).at(-1), "Normal NodeNotSchedulable Node n1 status is now: NodeNotSchedulable");
});

test("a kubelet whose Node was deleted does not keep a lease for it, and registers when it restarts", async () => {
  await using world = await startWorld();
  const kubelet = await world.kubelet("n1");
  await world.client.delete(nodes, { name: "n1" });
  await world.clock.advance(15_000);
  await world.client.delete(leases, { namespace: "kube-node-lease", name: "n1" });
  await world.clock.advance(60_000);
  const { items } = await world.client.list(leases, { namespace: "kube-node-lease" });
  assert.deepEqual([items, (await world.client.list(nodes)).items], [[], []]);

  await kubelet.stop();
  await world.kubelet("n1");

  assert.equal((await world.client.list(nodes)).items.length, 1);
});

test("a node whose runtime does not respond is registered, and not ready until it does", async () => {
  await using world = await startWorld();
  const runtime = world.runtime("n1");
  let isDown = true;
  const status: typeof runtime.status = (uid) => (isDown ? Promise.reject(new Error("no answer")) : runtime.status(uid));
  const failing = new Proxy(runtime, {
    get(target, member) {
      const value: unknown = Reflect.get(target, member, target);
      if (member === "status") return status;
      return typeof value === "function" ? (value as () => unknown).bind(target) : value;
    },
  });
  await world.kubelet("n1", { runtime: failing });
  const ready = async () => (await world.node("n1")).status?.conditions?.at(-1);
  const first = await ready();

  isDown = false;
  await world.clock.advance(15_000);

  assert.deepEqual([first?.status, first?.message], ["False", "container runtime is down"]);
  assert.equal((await ready())?.status, "True");
  assert.equal((await world.eventsOf("n1")).at(-1), "Normal NodeReady Node n1 status is now: NodeReady");
});

test("events of two containers are separate, each with the field path of its container", async () => {
  await using world = await startWorld();
  await world.kubelet("n1");
  await world.pod("p", {
    containers: [
      { name: "a", image: "web:1" },
      { name: "b", image: "web:1" },
    ],
  });
  await world.clock.settle();

  const { items } = await world.client.list(events, { namespace: "default" });
  const created = items.filter(({ reason }) => reason === "Created");
  assert.deepEqual(
    created.map(({ involvedObject, count, source }) => [involvedObject?.fieldPath, count, source]),
    [
      ["spec.containers{a}", 1, { component: "kubelet", host: "n1" }],
      ["spec.containers{b}", 1, { component: "kubelet", host: "n1" }],
    ],
  );
});
