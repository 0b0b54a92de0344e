/**
 * Specific to this driver, on a real containerd: it is stateless, recovers everything from the runtime, and survives restarts of the
 * runtime.
 */
import { deepEqual, equal, match, ok, rejects } from "node:assert/strict";
import { test } from "node:test";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { randomUUID } from "node:crypto";
import type { Clock } from "../../../base/clock.ts";
import { signalProcess } from "../../../host/processes/detached-program.ts";
import { findProcesses } from "../../../host/processes/process-table.ts";
import { realClock } from "../../../host/real-clock.ts";
import { needs } from "../../../testing/needs.ts";
import { RuntimeError } from "../../contracts/runtime.ts";
import { LIST_SELDOM_EVERY_MS } from "./changes.ts";
import { containerOf, created, ended, sharedMachine, started, until } from "./testing/test-machine.ts";
import { PROGRAMS, shellPod } from "./testing/test-pods.ts";

const machine = sharedMachine();
/** A wait for something that never happens fails, and its containers are removed. */
const options = { ...needs("containerd", "cni", "busybox"), timeout: 120_000 };
const NEVER = new AbortController().signal;
/** For programs that exit on SIGTERM. */
const GRACE_MS = 10_000;
/** Longer than the timeout of a test. */
const TOO_LATE_MS = 3_600_000;
/** Lines of a log that is rotated: several rotations, though no two are within a second. */
const TALKED_LINES = 600;

test("a second CRI runtime of the same owner recovers all sandboxes and containers and can manage them", options, async () => {
  const { open, image } = await machine();
  const owner = randomUUID();
  const first = await open({ owner });
  const [running, done] = [shellPod("running", image, PROGRAMS.talks), shellPod("done", image, PROGRAMS.completes)];
  const runningId = await started(first, running);
  await ended(first, done, await started(first, done));
  const before = await first.list();
  await first[Symbol.asyncDispose]();

  await using second = await open({ owner });

  deepEqual(await second.list(), before);
  equal(await created(second, running), runningId);
  for await (const { text } of second.logs(runningId, { follow: true }, NEVER)) if (text === "three") break;
  await second.stopContainer(runningId, GRACE_MS);
  equal((await containerOf(second, running, runningId)).state.is, "exited");
});

test("two owners on one container runtime do not see or touch each other's Pods", options, async () => {
  const { open, image } = await machine();
  await using ours = await open();
  await using theirs = await open();
  const pod = shellPod("ours", image, PROGRAMS.waits);
  const id = await started(ours, pod);
  const { id: sandboxId } = (await ours.status(pod.metadata.uid!))!;

  deepEqual([await theirs.list(), await theirs.status(pod.metadata.uid!)], [[], undefined]);
  await theirs.removeContainer(id);
  await theirs.stopSandbox(sandboxId);
  await theirs.removeSandbox(sandboxId);

  equal((await containerOf(ours, pod, id)).state.is, "running");
});

test("a container whose shim was killed counts as exited once it is stopped, and not before", options, async () => {
  const { open, image } = await machine();
  await using runtime = await open();
  const pod = shellPod("web", image, PROGRAMS.stubborn);
  const id = await started(runtime, pod);
  const sandbox = async () => (await runtime.status(pod.metadata.uid!))!;
  const { id: sandboxId } = await sandbox();
  const [shim] = await findProcesses((words) => words[words.indexOf("-id") + 1] === sandboxId);
  signalProcess(shim!, "SIGKILL");
  // The kubelet sees this first and stops the containers for it.
  while ((await sandbox()).state === "ready") await new Promise((resolve) => setImmediate(resolve));

  await runtime.stopContainer(id, 0);

  equal((await containerOf(runtime, pod, id)).state.is, "exited");
});

test("containers survive a killed containerd, and all Pods are reported once it is back", options, async () => {
  const { open, image, containerd } = await machine();
  await using runtime = await open();
  const pod = shellPod("web", image, PROGRAMS.waits);
  const id = await started(runtime, pod);
  const before = await containerOf(runtime, pod, id);
  const nextReported = (): Promise<string> => new Promise((resolve) => void runtime.watch(resolve));
  // From now on only changes are reported.
  equal(await nextReported(), pod.metadata.uid);

  await containerd.kill();
  const reported = nextReported();
  await rejects(runtime.list(), (error: unknown) => error instanceof RuntimeError && error.reason === "Unavailable");
  equal(await runtime.notReadyReason(), "container runtime is down");
  await containerd.restart();

  equal(await reported, pod.metadata.uid);
  deepEqual(await containerOf(runtime, pod, id), before);
  await runtime.stopContainer(id, GRACE_MS);
  equal((await ended(runtime, pod, id)).state.is, "exited");
});

test("watchers are notified of an exit by the event stream alone, without a relist", options, async () => {
  const { open, image } = await machine();
  let rely = (): void => undefined;
  const isReliedOnStream = new Promise<void>((resolve) => (rely = resolve));
  // The next relist is later than the test: every report comes from the stream, however slow the machine is.
  const clock: Clock = {
    ...realClock,
    sleep(durationMs, signal) {
      if (durationMs !== LIST_SELDOM_EVERY_MS) return realClock.sleep(durationMs, signal);
      rely();
      return realClock.sleep(TOO_LATE_MS, signal);
    },
  };
  // Without log rotation, which lists containers, too.
  await using runtime = await open({ clock, logRotation: { maxBytes: -1 } });
  const pod = shellPod("web", image, PROGRAMS.waits);
  const id = await started(runtime, pod);
  const end = ended(runtime, pod, id);
  await isReliedOnStream;

  await runtime.stopContainer(id, GRACE_MS);

  equal((await end).state.is, "exited");
});

test("a container that exceeds its memory limit is reported as OOMKilled", options, async () => {
  const { open, image } = await machine();
  await using runtime = await open();
  const pod = shellPod("greedy", image, { script: "exec tail /dev/zero" }, { resources: { limits: { memory: String(16 * 1024 * 1024) } } });
  const id = await started(runtime, pod);

  const { state } = await until(runtime, pod, id, (container) => container.state.is === "exited" && container.state.reason !== "Error");

  ok(state.is === "exited");
  deepEqual([state.exitCode, state.reason], [137, "OOMKilled"]);
});

test("a container that cannot be started is reported as exited, with the runtime's message", options, async () => {
  const { open, image } = await machine();
  await using runtime = await open();
  const pod = shellPod("broken", image, PROGRAMS.waits, { command: ["/no/such/program"] });
  const id = await created(runtime, pod);

  await rejects(runtime.startContainer(id), { reason: "CannotRun", message: /no such file or directory/ });

  const { state } = await containerOf(runtime, pod, id);
  ok(state.is === "exited");
  deepEqual([state.exitCode, state.reason], [128, "StartError"]);
  match(state.message ?? "", /no such file or directory/);
});

for (const { title, script, policy, expected } of [
  { title: "the content of its file", script: "printf bye > /dev/termination-log; exit 1", policy: "File", expected: "bye" },
  { title: "empty if it failed and its policy excludes the log", script: "echo why; exit 1", policy: "File", expected: undefined },
  {
    title: "the end of its log if it failed and its policy allows that",
    script: "echo why; echo so; exit 1",
    policy: "FallbackToLogsOnError",
    expected: "why\nso\n",
  },
  {
    title: "the content of its file rather than its log",
    script: "echo why; printf bye > /dev/termination-log; exit 1",
    policy: "FallbackToLogsOnError",
    expected: "bye",
  },
  { title: "empty if it completed", script: "echo why", policy: "FallbackToLogsOnError", expected: undefined },
  {
    title: "the last 4096 bytes of a long message",
    script: "(printf x; head -c 4096 /dev/zero | tr '\\0' y) > /dev/termination-log",
    policy: "File",
    expected: "y".repeat(4096),
  },
  {
    title: "the last 80 lines of a log",
    script: "for i in $(seq 100); do echo; done; exit 1",
    policy: "FallbackToLogsOnError",
    expected: "\n".repeat(80),
  },
  {
    title: "the last 2048 bytes of a log",
    script: "for i in $(seq 70); do head -c 99 /dev/zero | tr '\\0' z; echo; done; exit 1",
    policy: "FallbackToLogsOnError",
    expected: `${`${"z".repeat(99)}\n`.repeat(21)}`.slice(-2048),
  },
] as const) {
  test(`the termination message of a container is ${title}`, options, async () => {
    const { open, image } = await machine();
    await using runtime = await open();
    const pod = shellPod("words", image, { script }, { terminationMessagePolicy: policy });

    const { state } = await ended(runtime, pod, await started(runtime, pod));

    ok(state.is === "exited");
    equal(state.message, expected);
  });
}

test("following a log reads every line across rotations, and rotated files are compressed and removed", options, async () => {
  const { open, image, containerd } = await machine();
  const owner = randomUUID();
  // Not more often: a reader must have opened a new file before it is removed, two rotations later.
  const rotating = await open({ owner, logRotation: { maxBytes: 4_000, maxFiles: 3, everyMs: 1_000 } });
  const script = "i=0; while :; do i=$((i+1)); echo line $i of a log that is rotated; usleep 10000; done";
  const pod = shellPod("talker", image, { script, sharesProcesses: true });
  const id = await started(rotating, pod);
  const directory = join(containerd.directory, "logs", `default_talker_${pod.metadata.uid}`, "main");
  const hasPacked = (): boolean => readdirSync(directory).some((name) => name.endsWith(".gz"));

  const lines: string[] = [];
  let stopping: Promise<void> | undefined;
  for await (const { text } of rotating.logs(id, { follow: true }, NEVER)) {
    // It writes until two rotations happened, however late they come on a busy machine.
    if (lines.push(text) >= TALKED_LINES && hasPacked()) stopping ??= rotating.stopContainer(id, GRACE_MS);
  }
  await stopping;
  // A rotation that began before the exit is complete then: no file moves while the test reads the directory.
  await rotating[Symbol.asyncDispose]();
  await using runtime = await open({ owner });

  deepEqual(
    lines,
    lines.map((_, index) => `line ${index + 1} of a log that is rotated`),
  );
  ok(lines.length >= TALKED_LINES);
  const files = readdirSync(directory).sort();
  ok(files.length <= 3 && files.some((name) => name.endsWith(".gz")), files.join());

  await runtime.removeContainer(id);
  deepEqual(readdirSync(directory), []);
  await runtime.removeSandbox((await runtime.status(pod.metadata.uid!))!.id);
  ok(!existsSync(join(directory, "..")));
});
