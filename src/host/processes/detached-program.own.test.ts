import { equal, match, ok, rejects } from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { test } from "node:test";
import { terminateProcess, waitForProcessExit, signalProcess, startDetached } from "./detached-program.ts";
import { isAlive, ourProcess } from "./process-identity.ts";
import { argumentsOf, findProcesses } from "./process-table.ts";
import { realClock } from "../real-clock.ts";

async function start(...words: readonly string[]) {
  const directory = await mkdtemp("/tmp/k8ts-detached-");
  const [command = "", ...programArguments] = words;
  const logFile = `${directory}/log`;
  const environment = { PATH: process.env["PATH"] ?? "", ONLY: "this" };
  const mark = await startDetached({ command, arguments: programArguments, directory, logFile, environment });
  return {
    mark,
    logFile,
    async [Symbol.asyncDispose]() {
      signalProcess(mark, "SIGKILL");
      await rm(directory, { recursive: true });
    },
  };
}

test("a detached program writes its output to its file, and has only the given environment", async () => {
  await using program = await start("sh", "-c", "env; echo oops >&2");
  ok(await waitForProcessExit(program.mark, { timeoutMs: 60_000, clock: realClock }));
  const said = await readFile(program.logFile, "utf8");
  match(said, /^ONLY=this$/m);
  match(said, /^oops$/m);
  ok(!said.includes("HOME="));
});

test("a detached program is found in the process table by its arguments", async () => {
  // Unique among concurrent runs of this test on the machine.
  const seconds = String(10_000_000 + process.pid);
  await using program = await start("sleep", seconds);
  const [found] = await findProcesses((words) => words[1] === seconds);
  equal(found?.pid, program.mark.pid);
  equal((await argumentsOf(program.mark.pid)).join(" "), `sleep ${seconds}`);
});

test("a program that exits on SIGTERM gets its grace period", async () => {
  await using program = await start("sh", "-c", `trap 'echo bye; exit' TERM; echo ready; while :; do sleep 0.01; done`);
  while (!(await readFile(program.logFile, "utf8")).includes("ready")) await realClock.sleep(1);
  await terminateProcess(program.mark, { graceMs: 60_000, clock: realClock });
  match(await readFile(program.logFile, "utf8"), /bye/);
});

test("a program that ignores SIGTERM, or is stopped by SIGSTOP, is killed", async () => {
  await using deaf = await start("sh", "-c", `trap '' TERM; exec sleep 1000`);
  await using stopped = await start("sleep", "1000");
  signalProcess(stopped.mark, "SIGSTOP");
  await terminateProcess(deaf.mark, { graceMs: 50, clock: realClock });
  await terminateProcess(stopped.mark, { graceMs: 10_000, clock: realClock });
  ok(!isAlive(deaf.mark) && !isAlive(stopped.mark));
});

test("another process with the same PID is not signalled", () => {
  signalProcess({ pid: ourProcess().pid, started: "1" }, "SIGKILL");
});

test("a missing program is reported with its name", () => rejects(start("/nowhere/program"), /Cannot start \/nowhere\/program/));
