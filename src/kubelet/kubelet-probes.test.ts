/** Probes by the kubelet and their effect on Pods. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { pods } from "../api/core/v1/pod.ts";
import { prometheusText, type Family, type HistogramFamily } from "../base/metrics/prometheus-text.ts";
import type { Container, PodSpec } from "../api/generated/core/v1.ts";
import type { Kubelet } from "./kubelet.ts";
import { KubeletMetrics } from "./kubelet-metrics.ts";
import type { HttpProbeRequest } from "./contracts/probe-actions.ts";
import { fakeMachine, realRuntime, SUCCESS, type FakeMachine, type RealRuntime } from "./testing/fake-machine.ts";
import { startWorld, type World } from "./testing/world.ts";

interface Node {
  readonly machine: FakeMachine;
  readonly runtime: RealRuntime;
  readonly kubelet: Kubelet;
  readonly metrics: KubeletMetrics;
}

/** A Pod that has run for a while: its probes are not spread. */
async function startNode(world: World): Promise<Node> {
  const machine = fakeMachine();
  const runtime = realRuntime(world.runtime("n1"));
  const metrics = new KubeletMetrics();
  const kubelet = await world.kubelet("n1", { runtime, machine, metrics });
  await world.clock.advance(120_000);
  return { machine, runtime, kubelet, metrics };
}

function withProbes(probes: Partial<Container>, more: Partial<PodSpec> = {}): Partial<PodSpec> {
  return { containers: [{ name: "c", image: "web:1", ...probes }], ...more };
}

async function statusOf(world: World, name = "c") {
  const { status } = (await world.get("p")) ?? {};
  const statuses = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  return statuses.find((status) => status.name === name);
}

const FAILED = { result: "failure", output: "HTTP probe failed with statuscode: 500", code: 500 } as const;
const HTTP = { httpGet: { path: "/", port: 80 } };

test("a container becomes ready when its probe succeeds, not before the initial delay, and unready when it fails", async () => {
  await using world = await startWorld();
  const { machine } = await startNode(world);
  const asked: HttpProbeRequest[] = [];
  machine.onHttp = (request) => {
    asked.push(request);
    return SUCCESS;
  };
  await world.pod("p", withProbes({ readinessProbe: { ...HTTP, initialDelaySeconds: 15, periodSeconds: 5, failureThreshold: 2 } }));
  await world.clock.settle();
  const first = await statusOf(world);
  await world.clock.advance(14_900);
  const before = await statusOf(world);
  await world.clock.advance(200);
  const ready = await statusOf(world);
  machine.onHttp = () => FAILED;
  await world.clock.advance(5_000);
  const still = await statusOf(world);
  await world.clock.advance(5_000);

  assert.deepEqual(
    [first, before, ready, still, await statusOf(world)].map((status) => [status?.started, status?.ready]),
    [
      [true, false],
      [true, false],
      [true, true],
      [true, true],
      [true, false],
    ],
  );
  const podIp = (await world.get("p"))?.status?.podIP;
  assert.deepEqual([asked.length, asked[0]?.host, asked[0]?.port], [1, podIp, 80]);
  const reported = (await world.eventsOf("p")).filter((line) => line.includes("Unhealthy"));
  assert.deepEqual([...new Set(reported)], ["Warning Unhealthy Readiness probe failed: HTTP probe failed with statuscode: 500"]);
  assert.equal((await statusOf(world))?.restartCount, 0);
});

test("a container that fails its liveness probe is restarted each time, and the events name the reason", async () => {
  await using world = await startWorld();
  const { runtime } = await startNode(world);
  runtime.onExec = () => 1;
  runtime.says = "cat: no such file\n";
  const livenessProbe = { exec: { command: ["cat", "/tmp/health"] }, periodSeconds: 5, failureThreshold: 2 };
  await world.pod("p", withProbes({ livenessProbe }, { terminationGracePeriodSeconds: 3 }));

  await world.clock.advance(4_900);
  assert.deepEqual(runtime.commands, []);
  await world.clock.advance(4_900);
  assert.deepEqual([runtime.commands.length, (await statusOf(world))?.restartCount], [1, 0]);
  await world.clock.advance(3_000);
  assert.equal((await statusOf(world))?.restartCount, 1);

  const reported = (await world.eventsOf("p")).filter((line) => /Unhealthy|Killing/.test(line));
  assert.deepEqual(
    [...new Set(reported)],
    ["Warning Unhealthy Liveness probe failed: cat: no such file\n", "Normal Killing Container c failed liveness probe, will be restarted"],
  );
  await world.clock.advance(120_000);
  assert(((await statusOf(world))?.restartCount ?? 0) >= 4);
  assert.equal((await world.get("p"))?.status?.phase, "Running");
});

test("a container that fails its startup probe is restarted; until it succeeds no other probe runs and it is not ready", async () => {
  await using world = await startWorld();
  const { runtime } = await startNode(world);
  runtime.onExec = (command) => (command === "startup" ? 1 : 0);
  const probe = (command: string) => ({ exec: { command: [command] }, periodSeconds: 2, failureThreshold: 3 });
  await world.pod(
    "p",
    withProbes({ startupProbe: probe("startup"), livenessProbe: probe("liveness"), readinessProbe: probe("readiness") }),
  );

  await world.clock.advance(5_000);
  const status = await statusOf(world);
  assert.deepEqual([status?.started, status?.ready], [false, false]);
  await world.clock.advance(4_000);
  assert.equal((await statusOf(world))?.restartCount, 1);
  assert.deepEqual(new Set(runtime.commands), new Set(["startup"]));
  assert((await world.eventsOf("p")).includes("Normal Killing Container c failed startup probe, will be restarted"));

  runtime.onExec = () => 0;
  await world.clock.advance(2_500);
  const started = await statusOf(world);
  // The readiness probe runs as soon as it has started.
  assert.deepEqual([started?.started, started?.ready], [true, true]);
  runtime.commands.length = 0;
  await world.clock.advance(10_000);
  assert.deepEqual(new Set(runtime.commands), new Set(["liveness", "readiness"]));
});

test("a probe that exceeds its timeout fails and reports that", async () => {
  await using world = await startWorld();
  const { runtime } = await startNode(world);
  runtime.onExec = (_, signal) => new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(new Error("cut"))));
  await world.pod("p", withProbes({ readinessProbe: { exec: { command: ["sleep", "9"] }, timeoutSeconds: 3, periodSeconds: 60 } }));

  await world.clock.advance(4_000);

  const reported = (await world.eventsOf("p")).filter((line) => line.includes("Unhealthy"));
  assert.deepEqual(reported, ['Warning Unhealthy Readiness probe failed: command timed out: "sleep 9" timed out after 3s']);
});

test("a probe that cannot run emits an event and changes nothing", async () => {
  await using world = await startWorld();
  const { runtime } = await startNode(world);
  runtime.onExec = () => Promise.reject(new Error("no such program"));
  await world.pod("p", withProbes({ livenessProbe: { exec: { command: ["x"] }, periodSeconds: 1, failureThreshold: 1 } }));

  await world.clock.advance(10_000);

  assert.equal((await statusOf(world))?.restartCount, 0);
  const reported = (await world.eventsOf("p")).filter((line) => line.includes("Unhealthy"));
  assert.deepEqual([...new Set(reported)], ["Warning Unhealthy Liveness probe errored and resulted in unknown state: no such program"]);
});

test("a Pod with restartPolicy Never fails with a container that fails its liveness probe", async () => {
  await using world = await startWorld();
  const { machine } = await startNode(world);
  machine.onTcp = () => ({ result: "failure", output: "dial tcp: connect: connection refused" });
  const livenessProbe = { tcpSocket: { port: 80 }, periodSeconds: 1, failureThreshold: 1, terminationGracePeriodSeconds: 2 };
  await world.pod("p", withProbes({ livenessProbe }, { restartPolicy: "Never" }), {
    annotations: { "simulated.k8ts.dev/stop-takes": "1h" },
  });

  await world.clock.advance(4_000);

  assert.equal((await world.get("p"))?.status?.phase, "Failed");
  assert((await world.eventsOf("p")).includes("Normal Killing Container c failed liveness probe"));
});

test("a sidecar is probed: later containers wait for it, and it is restarted", async () => {
  await using world = await startWorld();
  const { runtime } = await startNode(world);
  runtime.onExec = () => 1;
  const probe = { exec: { command: ["x"] }, periodSeconds: 2, failureThreshold: 2 };
  const side = { name: "side", image: "web:1", restartPolicy: "Always" as const, startupProbe: probe };
  await world.pod("p", { initContainers: [side] });

  await world.clock.advance(10_000);
  const waiting = await statusOf(world);
  assert.deepEqual(waiting?.state, { waiting: { reason: "PodInitializing" } });
  assert((await world.eventsOf("p")).includes("Normal Killing Init container side failed startup probe"));
  runtime.onExec = () => 0;
  await world.clock.advance(30_000);

  assert.equal((await world.get("p"))?.status?.phase, "Running");
  assert.equal((await statusOf(world, "side"))?.ready, true);
});

test("a terminating Pod is still probed for readiness, and not for liveness", async () => {
  await using world = await startWorld();
  const { runtime } = await startNode(world);
  const probe = (command: string) => ({ exec: { command: [command] }, periodSeconds: 2, failureThreshold: 1 });
  const spec = withProbes({ livenessProbe: probe("liveness"), readinessProbe: probe("readiness") }, { terminationGracePeriodSeconds: 20 });
  await world.pod("p", spec, { annotations: { "simulated.k8ts.dev/stop-takes": "1h" } });
  await world.clock.advance(5_000);
  await world.client.delete(pods, { namespace: "default", name: "p" });
  await world.clock.settle();
  runtime.commands.length = 0;
  runtime.onExec = () => 1;

  await world.clock.advance(6_000);

  assert.deepEqual(new Set(runtime.commands), new Set(["readiness"]));
  assert.equal((await statusOf(world))?.ready, false);
  await world.clock.advance(20_000);
  assert.equal(await world.get("p"), undefined);
  runtime.commands.length = 0;
  await world.clock.advance(60_000);
  assert.deepEqual(runtime.commands, []);
});

test("a restarted kubelet keeps the readiness of containers, and probes with random delay within the period", async () => {
  await using world = await startWorld();
  const { runtime, machine, kubelet } = await startNode(world);
  const readinessProbe = { exec: { command: ["x"] }, periodSeconds: 10, failureThreshold: 1 };
  await world.pod("p", withProbes({ readinessProbe }));
  await world.clock.advance(30_000);
  const before = await statusOf(world);
  await kubelet.stop();
  runtime.commands.length = 0;
  await world.clock.advance(30_000);
  assert.deepEqual(runtime.commands, []);

  await world.kubelet("n1", { runtime, machine });
  await world.clock.settle();
  const after = await statusOf(world);
  runtime.onExec = () => 1;
  await world.clock.advance(10_000);

  assert.deepEqual([before?.ready, after], [true, before]);
  assert.deepEqual([runtime.commands.length, (await statusOf(world))?.ready], [1, false]);
});

test("probes of Pods that exist when the kubelet starts are spread over the period", async () => {
  await using world = await startWorld();
  const { runtime, machine, kubelet } = await startNode(world);
  const readinessProbe = { exec: { command: ["x"] }, periodSeconds: 60 };
  for (const name of ["p", "q", "r"]) await world.pod(name, withProbes({ readinessProbe }));
  await world.clock.advance(1_000);
  await kubelet.stop();
  const askedAtMs: number[] = [];
  runtime.onExec = () => {
    askedAtMs.push(world.clock.now());
    return 0;
  };

  await world.kubelet("n1", { runtime, machine });
  await world.clock.advance(60_000);

  assert.deepEqual([askedAtMs.length, new Set(askedAtMs).size], [3, 3]);
});

test("a probe command expands the container's own variables", async () => {
  await using world = await startWorld();
  const { runtime } = await startNode(world);
  const readinessProbe = { exec: { command: ["cat", "$(DIR)/ok", "$$(DIR)", "$(NONE)"] } };
  await world.pod("p", withProbes({ readinessProbe, env: [{ name: "DIR", value: "/tmp" }] }));
  await world.clock.advance(10);

  assert.deepEqual(runtime.commands, ["cat /tmp/ok $(DIR) $(NONE)"]);
});

/** Samples with this name prefix, without buckets. */
function counted(families: readonly (Family | HistogramFamily)[], name: string): readonly string[] {
  return prometheusText(families)
    .split("\n")
    .filter((line) => line.startsWith(name) && !line.includes("_bucket"));
}

test("probe metrics count results, with the duration of successes, and are removed with the probe", async () => {
  await using world = await startWorld();
  const { machine, runtime, metrics } = await startNode(world);
  runtime.onExec = () => 1;
  machine.onHttp = () => SUCCESS;
  const readinessProbe = { ...HTTP, periodSeconds: 5 };
  const livenessProbe = { exec: { command: ["x"] }, periodSeconds: 5, failureThreshold: 100 };
  const { metadata } = await world.pod("p", withProbes({ readinessProbe, livenessProbe }, { terminationGracePeriodSeconds: 60 }));
  await world.clock.advance(10_100);

  const labels = `container="c",namespace="default",pod="p",pod_uid="${metadata.uid}"`;
  assert.deepEqual(counted(metrics.probes.families(), "prober_"), [
    'prober_probe_duration_seconds_sum{container="c",namespace="default",pod="p",probe_type="Readiness"} 0',
    'prober_probe_duration_seconds_count{container="c",namespace="default",pod="p",probe_type="Readiness"} 3',
    `prober_probe_total{${labels},probe_type="Readiness",result="successful"} 3`,
    `prober_probe_total{${labels},probe_type="Liveness",result="failed"} 2`,
  ]);

  await world.client.delete(pods, { namespace: "default", name: "p" });
  await world.clock.advance(120_000);
  assert.deepEqual([await world.get("p"), counted(metrics.probes.families(), "prober_")], [undefined, []]);
});

test("metrics count started Pods, their containers and their syncs", async () => {
  await using world = await startWorld();
  const { metrics } = await startNode(world);
  await world.pod("p", { initContainers: [{ name: "i", image: "web:1" }], containers: [{ name: "c", image: "web:1" }] });
  await world.clock.advance(60_000);

  const families = metrics.families();
  assert.deepEqual(counted(families, "kubelet_started_containers_total"), [
    'kubelet_started_containers_total{container_type="init_container"} 1',
    'kubelet_started_containers_total{container_type="container"} 1',
  ]);
  assert.equal(counted(families, "kubelet_pod_start_duration_seconds_count")[0], "kubelet_pod_start_duration_seconds_count 1");
  assert.equal(
    counted(families, 'kubelet_pod_worker_duration_seconds_count{operation_type="create"}')[0],
    'kubelet_pod_worker_duration_seconds_count{operation_type="create"} 1',
  );
});
