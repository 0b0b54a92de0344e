import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { leases } from "../../api/coordination.k8s.io/v1/lease.ts";
import { nodes } from "../../api/core/v1/node.ts";
import { pods } from "../../api/core/v1/pod.ts";
import type { Node, Taint } from "../../api/generated/core/v1.ts";
import { formatMicroTime, formatTime } from "../../api/machinery/time.ts";
import { StatusError } from "../../api/machinery/status-error.ts";
import { silentLogger } from "../../base/logger.ts";
import type { Client } from "../../client/client.ts";
import { everyStepMayBeTheLast } from "../../testing/every-step.ts";
import { given, type Given } from "../../testing/given.ts";
import { rounds } from "../../testing/rounds.ts";
import { virtualClock } from "../../testing/virtual-clock.ts";
import { after, onChange, type Pass } from "../runtime/controller.ts";
import { nodeLifecycleController } from "./node-lifecycle-controller.ts";
import { stub } from "../../base/testing/stub.ts";
import { buildPod } from "../../api/testing/pod.ts";

const LONG_AGO = "2020-01-01T00:00:00Z";
const HEARTBEAT_MS = 10_000;

/** `ready` "": no status was posted yet. */
function aNode(name: string, ready = "True", labels: Readonly<Record<string, string>> = {}): object {
  const said = { type: "Ready", status: ready, lastHeartbeatTime: LONG_AGO, lastTransitionTime: LONG_AGO };
  const conditions = ready === "" ? [] : [said];
  return { apiVersion: "v1", kind: "Node", metadata: { name, labels }, status: { conditions } };
}

function aLease(name: string): object {
  const spec = { holderIdentity: name, leaseDurationSeconds: 40, renewTime: "2020-01-01T00:00:00.000000Z" };
  return { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { name, namespace: "kube-node-lease" }, spec };
}

function aPod(name: string, nodeName: string): object {
  return buildPod({
    metadata: { name, namespace: "default" },
    spec: { nodeName, containers: [{ name: "c", image: "i" }] },
    status: { phase: "Running", conditions: [{ type: "Ready", status: "True", lastTransitionTime: LONG_AGO }] },
  });
}

/** Advances time while these Nodes renew their leases as kubelets do. */
async function live(cluster: Given, durationMs: number, ...names: readonly string[]): Promise<void> {
  for (let leftMs = durationMs; leftMs > 0; leftMs -= HEARTBEAT_MS) {
    await Promise.all(names.map((name) => renew(cluster.client, name, cluster.clock.now())));
    await cluster.clock.advance(Math.min(leftMs, HEARTBEAT_MS));
  }
}

function renew(client: Client, name: string, timeMs: number): Promise<unknown> {
  const value = { spec: { renewTime: formatMicroTime(timeMs) } };
  return client.patch(leases, { namespace: "kube-node-lease", name }, { type: "merge", value });
}

function say(client: Client, name: string, status: string, time: string): Promise<unknown> {
  const conditions = [{ type: "Ready", status, lastHeartbeatTime: time, lastTransitionTime: time }];
  return client.patch(nodes, { name }, { type: "strategic", value: { status: { conditions } } }, { subresource: "status" });
}

function nodeOf(cluster: Given, name: string): Promise<Node> {
  return cluster.client.get(nodes, { name });
}

async function readiness(cluster: Given, name: string): Promise<string | undefined> {
  return (await nodeOf(cluster, name)).status?.conditions?.find(({ type }) => type === "Ready")?.status;
}

async function taints(cluster: Given, name: string): Promise<readonly string[]> {
  return ((await nodeOf(cluster, name)).spec?.taints ?? []).map(({ key, effect }: Taint) => `${key.split("/")[1]}:${effect}`);
}

test("a Node that is silent for 50 s is lost: it gets NoSchedule and NoExecute taints, and its Pods become not ready", async () => {
  await using cluster = await given(aNode("n1"), aLease("n1"), aNode("n2"), aLease("n2"), aPod("p", "n1"));
  await cluster.run(nodeLifecycleController());
  await live(cluster, 49_999, "n2");
  equal(await readiness(cluster, "n1"), "True");
  const lostAt = formatTime(cluster.clock.now() + 1);

  await live(cluster, 1, "n2");

  const { status, spec, metadata } = await nodeOf(cluster, "n1");
  const never = { status: "Unknown", reason: "NodeStatusNeverUpdated", message: "Kubelet never posted node status." };
  const times = { lastHeartbeatTime: metadata.creationTimestamp, lastTransitionTime: lostAt };
  deepEqual(status?.conditions, [
    {
      type: "Ready",
      status: "Unknown",
      reason: "NodeStatusUnknown",
      message: "Kubelet stopped posting node status.",
      lastHeartbeatTime: LONG_AGO,
      lastTransitionTime: lostAt,
    },
    { type: "MemoryPressure", ...never, ...times },
    { type: "DiskPressure", ...never, ...times },
    { type: "PIDPressure", ...never, ...times },
  ]);
  deepEqual(spec?.taints, [
    { key: "node.kubernetes.io/unreachable", effect: "NoSchedule", timeAdded: lostAt },
    { key: "node.kubernetes.io/unreachable", effect: "NoExecute", timeAdded: lostAt },
  ]);
  const pod = await cluster.client.get(pods, { namespace: "default", name: "p" });
  deepEqual(
    pod.status?.conditions?.map(({ type, status: word, lastTransitionTime }) => [type, word, lastTransitionTime]),
    [["Ready", "False", lostAt]],
  );
  equal(await readiness(cluster, "n2"), "True");
  deepEqual(cluster.events, [
    "Normal RegisteredNode Node/n1 Node n1 event: Registered Node n1 in Controller",
    "Normal RegisteredNode Node/n2 Node n2 event: Registered Node n2 in Controller",
    "Normal NodeNotReady Node/n1 Node n1 status is now: NodeNotReady",
    "Warning NodeNotReady Pod/p Node is not ready",
  ]);
});

test("a Node that never posted status has 60 s", async () => {
  await using cluster = await given(aNode("n1", ""), aNode("n2"), aLease("n2"));
  await cluster.run(nodeLifecycleController());

  await live(cluster, 59_999, "n2");
  equal(await readiness(cluster, "n1"), undefined);
  await live(cluster, 1, "n2");
  equal(await readiness(cluster, "n1"), "Unknown");
  deepEqual(await taints(cluster, "n1"), ["unreachable:NoSchedule", "unreachable:NoExecute"]);
});

test("a Node's clock does not matter: it is alive as long as its heartbeat changes", async () => {
  await using cluster = await given(
    aNode("past"),
    aLease("past"),
    aNode("future"),
    aLease("future"),
    aNode("speaks"),
    aNode("mute"),
    aLease("mute"),
  );
  await cluster.run(nodeLifecycleController());
  await renew(cluster.client, "mute", cluster.clock.now() + 3_600_000);

  for (let heartbeat = 1; heartbeat <= 6; heartbeat++) {
    await cluster.clock.advance(HEARTBEAT_MS);
    await renew(cluster.client, "past", Date.parse(LONG_AGO) + heartbeat);
    await renew(cluster.client, "future", cluster.clock.now() + 3_600_000);
    await say(cluster.client, "speaks", "True", formatTime(Date.parse(LONG_AGO) + heartbeat * 1_000));
  }

  deepEqual(await Promise.all(["past", "future", "speaks", "mute"].map((name) => readiness(cluster, name))), [
    "True",
    "True",
    "True",
    "Unknown",
  ]);
});

test("after ten minutes of downtime the controller gives every Node its whole grace period", async () => {
  await using cluster = await given(aNode("n1"), aNode("n2"), aLease("n2"));
  const controller = nodeLifecycleController();
  deepEqual(await cluster.reconcile(controller, "n1"), after(50_000));

  await cluster.clock.advance(600_000);
  deepEqual(await cluster.reconcile(controller, "n1"), after(50_000));
  for (let period = 0; period < 10; period++) {
    await cluster.reconcile(controller, "ourselves listening");
    await cluster.clock.advance(5_000);
  }
  deepEqual(await cluster.reconcile(controller, "n1"), onChange);
  equal(await readiness(cluster, "n1"), "Unknown");
});

test("silence while the API server does not respond does not count", async () => {
  const clock = virtualClock();
  const node = {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name: "n1", uid: "1" },
    status: { conditions: [{ type: "Ready", status: "True" }] },
  };
  let isDown = true;
  let isLost = false;
  const write = {
    get: () => (isDown ? Promise.reject(new StatusError("ServiceUnavailable", "no connection")) : Promise.resolve(node)),
    updateStatus: () => Promise.resolve(((isLost = true), node)),
    patch: () => Promise.resolve(node),
  };
  const read = {
    get: ({ kind }: { readonly kind: string }) => (kind === "Node" ? node : undefined),
    indexed: () => [],
    list: () => [node],
  };
  const pass = stub<Pass>({ read, write, clock, log: silentLogger, events: { record: () => undefined } });
  const reconcile = nodeLifecycleController().start({ ...pass, kinds: () => [], wake: () => undefined });
  const liveOn = async (periods: number): Promise<void> => {
    for (let period = 0; period < periods; period++) {
      await reconcile({ kind: "ourselves", name: "listening" }, pass);
      await reconcile({ name: "n1" }, pass);
      await clock.advance(5_000);
    }
  };

  await liveOn(60);
  equal(isLost, false);
  isDown = false;
  await liveOn(9);
  equal(isLost, false);
  await liveOn(3);
  equal(isLost, true);
});

test("of several lost Nodes of a zone one is evicted every 10 s", async () => {
  const dead = ["d1", "d2"];
  const alive = ["a1", "a2", "a3"];
  await using cluster = await given(...[...dead, ...alive].map((name) => aNode(name)), ...alive.map(aLease));
  await cluster.run(nodeLifecycleController());
  const driving = async (): Promise<number> => {
    const all = await Promise.all(dead.map((name) => taints(cluster, name)));
    return all.filter((found) => found.includes("unreachable:NoExecute")).length;
  };

  await live(cluster, 50_000, ...alive);
  equal(await driving(), 1);
  await live(cluster, 9_999, ...alive);
  equal(await driving(), 1);
  await live(cluster, 1, ...alive);
  equal(await driving(), 2);

  // A Node that was evicted before waits for the rate limiter again.
  await say(cluster.client, "d1", "True", formatTime(cluster.clock.now()));
  await cluster.settled();
  await say(cluster.client, "d1", "False", formatTime(cluster.clock.now() + 1_000));
  await cluster.settled();
  deepEqual(await taints(cluster, "d1"), ["not-ready:NoSchedule"]);
  await live(cluster, 10_000, ...alive);
  deepEqual(await taints(cluster, "d1"), ["not-ready:NoSchedule", "not-ready:NoExecute"]);
});

test("if all Nodes are lost none is evicted, and existing NoExecute taints are removed", async () => {
  await using cluster = await given(aNode("n1"), aNode("n2"), aLease("n2"));
  await cluster.run(nodeLifecycleController());
  await live(cluster, 50_000, "n2");
  deepEqual(await taints(cluster, "n1"), ["unreachable:NoSchedule", "unreachable:NoExecute"]);

  await cluster.clock.advance(50_000);
  deepEqual(await taints(cluster, "n1"), ["unreachable:NoSchedule"]);
  deepEqual(await taints(cluster, "n2"), ["unreachable:NoSchedule"]);

  await say(cluster.client, "n2", "True", formatTime(cluster.clock.now()));
  await cluster.settled();
  deepEqual(await taints(cluster, "n2"), []);
  deepEqual(await taints(cluster, "n1"), ["unreachable:NoSchedule", "unreachable:NoExecute"]);
});

test("when the first Node is back after all were lost, the others have their whole grace period again", async () => {
  await using cluster = await given(aNode("n1"), aNode("n2"), aLease("n2"));
  await cluster.run(nodeLifecycleController());
  await live(cluster, 50_000, "n2");
  await say(cluster.client, "n2", "False", formatTime(cluster.clock.now()));
  await cluster.clock.advance(40_000);

  await say(cluster.client, "n1", "True", formatTime(cluster.clock.now()));
  await cluster.clock.advance(49_999);
  equal(await readiness(cluster, "n2"), "False");
  await cluster.clock.advance(1);
  equal(await readiness(cluster, "n2"), "Unknown");
});

test("a Node that returns as not ready changes its taints, and when ready it has none", async () => {
  await using cluster = await given(aNode("n1"), aNode("n2"), aLease("n2"));
  await cluster.run(nodeLifecycleController());
  await live(cluster, 50_000, "n2");

  await say(cluster.client, "n1", "False", formatTime(cluster.clock.now()));
  await cluster.settled();
  deepEqual(await taints(cluster, "n1"), ["not-ready:NoSchedule", "not-ready:NoExecute"]);
  await say(cluster.client, "n1", "True", formatTime(cluster.clock.now() + 1_000));
  await cluster.settled();
  deepEqual(await taints(cluster, "n1"), []);
});

test("deprecated labels follow the new ones, and an unschedulable Node is tainted, in one write", async () => {
  await using cluster = await given(aNode("n1", "True", { "kubernetes.io/os": "linux" }));
  await cluster.client.patch(nodes, { name: "n1" }, { type: "merge", value: { spec: { unschedulable: true } } });

  await cluster.reconcile(nodeLifecycleController(), "n1");

  equal(cluster.actions.length, 1);
  const { metadata } = await nodeOf(cluster, "n1");
  equal(metadata.labels?.["beta.kubernetes.io/os"], "linux");
  deepEqual(await taints(cluster, "n1"), ["unschedulable:NoSchedule"]);
});

test("a deleted Node is reported once", async () => {
  await using cluster = await given(aNode("n1"));
  await cluster.run(nodeLifecycleController());
  await cluster.settled();
  await cluster.client.delete(nodes, { name: "n1" });
  await cluster.clock.advance(100_000);

  deepEqual(cluster.events, [
    "Normal RegisteredNode Node/n1 Node n1 event: Registered Node n1 in Controller",
    "Normal RemovingNode Node/n1 Node n1 event: Removing Node n1 from Controller",
  ]);
});

test("healthy Nodes that renew their leases cause no writes", async () => {
  await using cluster = await given(aNode("n1"), aLease("n1"));
  await cluster.run(nodeLifecycleController());
  await live(cluster, 120_000, "n1");
  deepEqual(cluster.actions, []);
});

test("a crash at any step does not change the final state", async () => {
  const heartbeat = async ({ client, clock }: { readonly client: Client; readonly clock: Given["clock"] }): Promise<void> => {
    await say(client, "n2", "True", formatTime(clock.now()));
  };
  await everyStepMayBeTheLast(
    {
      objects: [aNode("n1"), aNode("n2"), aPod("p", "n1")],
      controllers: () => [nodeLifecycleController()],
      // A restarted process waits the whole grace period before it marks a Node as lost.
      steps: Array.from({ length: 8 }, () => heartbeat),
      restMs: 40_000,
      // Then the live one is missed, too.
      idleMs: 8_000,
    },
    { deathsMax: rounds({ quick: 8, full: 100 }), disturbedRuns: rounds({ quick: 1, full: 20 }) },
  );
});
