import { deepEqual, equal, ok } from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { findProgram } from "../../../host/processes/find-program.ts";
import { isAlive, processMark } from "../../../host/processes/process-identity.ts";
import { startTestContainerd, type TestContainerd } from "../../../testing/servers/containerd-server.ts";
import { runCriPod } from "../../../testing/fixtures/cri-pod.ts";
import { needs } from "../../../testing/needs.ts";
import { containerdFiles, findOwnContainerd } from "./own-containerd.ts";
import { findShims, tasksDirectory, type Shim } from "./shims.ts";
import { supervisorOf } from "./testing/supervisor-of.ts";

const NEEDS = needs("containerd", "cni", "busybox", "iptables");

/**
 * Starts a shim as containerd does, up to the step before it creates the task: the directory, and a shim that listens. containerd reloads
 * one with `isLoaded` at its start without checking for container records; of another it only removes the directory.
 */
async function beginTask({ places }: TestContainerd, id: string, { isLoaded }: { readonly isLoaded: boolean }): Promise<Shim> {
  const { socket, ...files } = containerdFiles(places);
  const shim = findProgram("containerd-shim-runc-v2", process.env["PATH"]) ?? "";
  const bundle = join(tasksDirectory(files), id);
  mkdirSync(join(bundle, "rootfs"), { recursive: true });
  writeFileSync(join(bundle, "config.json"), JSON.stringify({ annotations: { "io.kubernetes.cri.sandbox-id": id } }));
  if (isLoaded) writeFileSync(join(bundle, "shim-binary-path"), shim);
  execFileSync("mkfifo", [join(bundle, "log")]);
  execFileSync(shim, ["-namespace", "k8s.io", "-address", socket, "-publish-binary", "/bin/true", "-id", id, "start"], {
    cwd: bundle,
    env: { ...process.env, TTRPC_ADDRESS: `${socket}.ttrpc`, GRPC_ADDRESS: socket },
  });
  const found = (await shimsOf({ places })).find((one) => one.id === id);
  ok(found !== undefined, "the shim runs");
  return found;
}

function shimsOf({ places }: Pick<TestContainerd, "places">): Promise<readonly Shim[]> {
  return findShims(containerdFiles(places));
}

test("after a SIGKILL of containerd, shims without a task are terminated and those of Pods are kept", { ...NEEDS }, async () => {
  await using containerd = await startTestContainerd();
  const pod = await runCriPod(containerd, { name: "stays" });
  let onReport = (): void => {};
  const startedAgain = new Promise<void>((resolve) => (onReport = resolve));
  const begun = [
    await beginTask(containerd, "begun-and-loaded", { isLoaded: true }),
    await beginTask(containerd, "begun-and-forgotten", { isLoaded: false }),
  ];
  const supervisor = supervisorOf(containerd, () => onReport());

  await containerd.kill();
  await startedAgain;
  await supervisor.stop();

  deepEqual(begun.map(isAlive), [false, false]);
  deepEqual(
    (await shimsOf(containerd)).map(({ id }) => id),
    [pod.sandboxId],
  );
  const tasks = readdirSync(tasksDirectory(containerdFiles(containerd.places)));
  ok(tasks.includes(pod.sandboxId));
  equal(tasks.length, 2, "the Pod's sandbox and its container");
  await containerd.restart();
  equal(await pod.exec("hostname"), "stays\n");
});

test("adopting a containerd terminates unfinished shims of an earlier one, and none that is younger", { ...NEEDS }, async () => {
  await using containerd = await startTestContainerd();
  await containerd.kill();
  const old = await beginTask(containerd, "old", { isLoaded: true });
  const socket = readFileSync(join(tasksDirectory(containerdFiles(containerd.places)), "old", "address"), "utf8").replace("unix://", "");
  await containerd.restart();
  const pod = await runCriPod(containerd, { name: "stays" });
  const young = await beginTask(containerd, "young", { isLoaded: true });

  await supervisorOf(containerd, () => {}).stop();

  deepEqual([isAlive(old), isAlive(young)], [false, true]);
  deepEqual(new Set((await shimsOf(containerd)).map(({ id }) => id)), new Set([pod.sandboxId, "young"]));
  ok(!existsSync(join(tasksDirectory(containerdFiles(containerd.places)), "old")));
  ok(!existsSync(socket));
  equal(await findOwnContainerd(containerd.places), undefined);
});

test("a shim start that outlives a killed containerd is terminated before the next containerd starts", needs("containerd"), async () => {
  await using containerd = await startTestContainerd({ images: false });
  const { socket } = containerdFiles(containerd.places);
  await containerd.kill();
  // Blocks on a line that never comes, and is named as containerd names shims.
  const words = ["-namespace", "k8s.io", "-address", socket, "-id", "late", "start"];
  const child = spawn("sh", ["-c", "echo; read line", "shim", ...words], { stdio: ["pipe", "pipe", "ignore"] });
  await new Promise((resolve) => child.stdout.once("data", resolve));
  const starter = processMark(child.pid ?? 0);
  ok(isAlive(starter));

  await containerd.restart();

  ok(!isAlive(starter));
});
