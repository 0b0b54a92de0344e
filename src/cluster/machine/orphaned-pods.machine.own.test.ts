/** Pods whose k8ts was killed, when the next one runs no containers, or only cleans up, with or without the containerd that ran them. */
import { deepEqual, equal, match, ok } from "node:assert/strict";
import { mkdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { waitForProcessExit, signalProcess } from "../../host/processes/detached-program.ts";
import { realClock } from "../../host/real-clock.ts";
import { containerdFiles, findOwnContainerd } from "../../kubelet/machine/containerd/own-containerd.ts";
import type { ClientProgram } from "../../testing/clients/client-program.ts";
import { needs } from "../../testing/needs.ts";
import { aRealPod, REAL_CLUSTER_NEEDS, startRealCluster, type RealCluster } from "../../testing/servers/real-cluster.ts";

const GONE_WITHIN_MS = 30_000;
const STARTED_WITHIN_MS = 100_000;
const LOOK_EVERY_MS = 50;

describe("Pods whose k8ts was killed", { ...needs(...REAL_CLUSTER_NEEDS) }, () => {
  let cluster: RealCluster;
  let kubectl: ClientProgram;
  let notes: string;
  let nothing: readonly string[] = [];

  before(async () => {
    cluster = await startRealCluster();
    nothing = (await cluster.onMachine()).filter((one) => one.startsWith("link veth"));
    notes = join(cluster.directory, "notes");
    kubectl = await cluster.inNamespace("left");
    // It records every SIGTERM, which takes some time.
    const script = "trap 'sleep 1; echo asked >> /notes/log; exit 0' TERM\necho started >> /notes/log\nsleep 1d & wait $!";
    const volumes = [{ name: "notes", hostPath: { path: notes, type: "DirectoryOrCreate" } }];
    const container = { volumeMounts: [{ name: "notes", mountPath: "/notes" }] };
    await kubectl("apply -f -", { input: aRealPod("left", script, { container, volumes }) });
    await runs(1);
  });

  after(() => cluster[Symbol.asyncDispose]());

  const noted = () => readFile(join(notes, "log"), "utf8").catch(() => "");
  const left = async () => (await cluster.onMachine()).filter((one) => !nothing.includes(one));

  /** Resolves after this many starts, when the container handles SIGTERM. The API's state may be older, and there is no event for files. */
  async function runs(times: number): Promise<void> {
    const untilMs = performance.now() + STARTED_WITHIN_MS;
    while ((await noted()).split("started").length - 1 < times) {
      ok(performance.now() < untilMs, `it was not started ${times} times: ${await noted()}`);
      await realClock.sleep(LOOK_EVERY_MS);
    }
    await kubectl("wait --for=condition=Ready pod/left --timeout=60s", { timeoutMs: STARTED_WITHIN_MS });
  }

  test("are stopped gracefully by a start without containers, and nothing of them remains", async () => {
    await cluster.kill();
    await cluster.up("--simulated-nodes", "1");

    await cluster.says(/^stopping 1 orphaned Pod of an earlier run$/);
    equal(await noted(), "started\nasked\n");
    deepEqual(
      (await left()).filter((one) => !one.includes("launcher.js")),
      [],
    );
    equal(await cluster.interrupt(), 0);
  });

  test("are stopped gracefully by `k8ts down`", async () => {
    await cluster.up();
    await runs(2);
    await cluster.kill();
    const { stdout, stderr, exitCode } = await cluster.k8ts("down");

    deepEqual([exitCode, stderr], [0, ""]);
    match(stdout, /^stopping 1 orphaned Pod of an earlier run\n( {2}still waiting for: .*\n)* {2}stopped Pods +[\d.]+ m?s\n/);
    equal(await noted(), "started\nasked\nstarted\nasked\n");
    deepEqual(await left(), []);
  });

  test("are stopped gracefully also if their containerd is dead", async () => {
    await cluster.up();
    await runs(3);
    await killBoth();
    const { stdout, stderr, exitCode } = await cluster.k8ts("down");

    deepEqual([exitCode, stderr], [0, ""]);
    match(stdout, /^stopping 1 orphaned Pod of an earlier run\n( {2}still waiting for: .*\n)* {2}stopped Pods /);
    equal(await noted(), "started\nasked\n".repeat(3));
    deepEqual(await left(), []);
  });

  test("are killed if their containerd is dead and cannot be restarted, which is reported in one line", async () => {
    await cluster.up();
    await runs(4);
    await killBoth();
    const { socket } = containerdFiles(cluster.places);
    await rm(socket);
    await mkdir(socket);
    const { stdout, stderr, exitCode } = await cluster.k8ts("down");

    deepEqual([exitCode, stderr], [0, ""]);
    match(
      stdout,
      /^Orphaned Pods are killed without a grace period: their containerd has exited and does not start again \(.+\)\nCleaned up: /,
    );
    equal(await noted(), `${"started\nasked\n".repeat(3)}started\n`);
    deepEqual(await left(), []);
  });

  async function killBoth(): Promise<void> {
    await cluster.kill();
    const containerd = await findOwnContainerd(cluster.places);
    ok(containerd !== undefined);
    signalProcess(containerd, "SIGKILL");
    ok(await waitForProcessExit(containerd, { timeoutMs: GONE_WITHIN_MS, clock: realClock }));
  }
});
