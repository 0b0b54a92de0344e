import { deepEqual, equal, match } from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { silentLogger } from "../base/logger.ts";
import { processMark } from "../host/processes/process-identity.ts";
import { realClock } from "../host/real-clock.ts";
import { openHome, prepareHome, type ClusterHome } from "./home/cluster-home.ts";
import { writeRecord } from "./home/cluster-record.ts";
import { markStart, unmarkStart } from "./background-start.ts";
import { stopCluster } from "./stop-cluster.ts";

const UNDER_WAY = "The cluster is already starting or stopping; waiting for that";

async function aHome(context: TestContext) {
  const root = await mkdtemp(join(tmpdir(), "k8ts-stop-"));
  context.after(() => rm(root, { recursive: true }));
  const [choice, environment] = [{ directory: join(root, "home"), name: "a" }, { XDG_RUNTIME_DIR: root }];
  return { choice, environment, home: await prepareHome(choice, environment) };
}

/** An idle process that exits on SIGTERM. */
function aProcess(context: TestContext) {
  const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "ignore" });
  context.after(() => child.kill("SIGKILL"));
  return { pid: child.pid ?? 0, ended: once(child, "exit") };
}

async function record(home: ClusterHome, pid: number): Promise<void> {
  await writeRecord(home.record, {
    ...{ name: "a", state: "starting", process: processMark(pid), version: "1", kubernetesVersion: "v1", mode: "one process" },
    ...{ isDetached: true, since: "2026-01-01T00:00:00Z", logFile: "/l", runtimeDirectory: "/r" },
  });
}

/** What it says; `whileWaiting` is done when it waits for the first time. */
async function stop(home: ClusterHome, whileWaiting: () => PromiseLike<unknown>): Promise<readonly string[]> {
  const lines: string[] = [];
  // A slow machine prints waiting lines.
  const say = (line: string) => void (line.startsWith("  still waiting for: ") || lines.push(line));
  let has = false;
  const sleep: typeof realClock.sleep = async (durationMs, signal) => {
    // Steps wait, too, though longer.
    if (durationMs < 1_000 && !has) await whileWaiting();
    has ||= durationMs < 1_000;
    await realClock.sleep(durationMs, signal);
  };
  const clock = Object.create(realClock, { sleep: { value: sleep } }) as typeof realClock;
  const io = { out: say, note: say, environment: {}, clock, log: silentLogger, signal: new AbortController().signal };
  await stopCluster(home, { timeoutMs: 10_000 }, io);
  equal(has, true, "It has not waited");
  return lines;
}

test("a start that has only a process yet is awaited, and stopped", async (context) => {
  const { home } = await aHome(context);
  const { pid, ended } = aProcess(context);
  await markStart(home, pid);

  const [reported, line] = await stop(home, () => record(home, pid));
  equal(reported, UNDER_WAY);

  match(line ?? "", new RegExp(`^ {2}stopped process ${pid}`));
  deepEqual(await ended, [null, "SIGUSR2"]);
  deepEqual([home.startMark, home.record].map(existsSync), [false, false]);
});

test("a start that has locked the home and has no record yet is awaited; if it fails, nothing runs", async (context) => {
  const { home, choice, environment } = await aHome(context);
  const held = await openHome(choice, environment);
  context.after(() => rm(held.home.runtimeDirectory, { recursive: true, force: true }));
  deepEqual(await stop(home, () => held[Symbol.asyncDispose]()), [UNDER_WAY, 'Nothing is running: cluster "a" is stopped']);
});

test("a corrupt record without a running process is removed, and does not count as running", async (context) => {
  const { home } = await aHome(context);
  await writeFile(home.record, "{");
  await markStart(home, process.pid);
  deepEqual(await stop(home, () => unmarkStart(home)), [UNDER_WAY, 'Nothing is running: cluster "a" is stopped']);
  equal(existsSync(home.record), false);
});

test("a start that exits before it has a record does not count as running", async (context) => {
  const { home } = await aHome(context);
  await markStart(home, process.pid);
  deepEqual(await stop(home, () => unmarkStart(home)), [UNDER_WAY, 'Nothing is running: cluster "a" is stopped']);
});
