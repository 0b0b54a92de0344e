import { deepEqual, equal, match } from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { version } from "./generated/version.ts";

const LAUNCHER = join(import.meta.dirname, "launcher.js");

function k8ts(...args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [LAUNCHER, ...args], { encoding: "utf8" });
  return { exitCode: status, stdout, stderr };
}

/** Starts a cluster in memory and resolves when it is up. */
async function startUp() {
  const child = spawn(process.execPath, [LAUNCHER, "up", "--store", "memory", "--secure-port", "0"], { stdio: ["ignore", "pipe", "pipe"] });
  const lines: string[] = [];
  const reader = createInterface({ input: child.stdout });
  reader.on("line", (line) => lines.push(line));
  while (lines.at(-1) !== "Ctrl-C stops it") {
    const ended = once(child, "exit").then(() => {
      throw new Error(`k8ts up ended before it was up: ${String(child.stderr.read())}`);
    });
    await Promise.race([once(reader, "line"), ended]);
  }
  return { child, lines };
}

test("--version prints the version of the package and exits with 0", () => {
  deepEqual(k8ts("--version"), { exitCode: 0, stdout: `k8ts ${version}\n`, stderr: "" });
});

test("--help prints the overview to standard output and exits with 0", () => {
  const { exitCode, stdout, stderr } = k8ts("--help");
  deepEqual([exitCode, stderr], [0, ""]);
  match(stdout, /^ {2}up +Start a cluster/m);
});

test("an unknown command is told to standard error with a suggestion and exits with 2", () => {
  deepEqual(k8ts("upp"), {
    exitCode: 2,
    stdout: "",
    stderr: 'Unknown command "upp"; did you mean "up"?\nk8ts --help lists the commands\n',
  });
});

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  test(`up stops cleanly on ${signal} and exits with 0`, async () => {
    const { child, lines } = await startUp();
    child.kill(signal);
    const [code] = (await once(child, "close")) as [number];
    equal(code, 0);
    equal(lines.at(-1), "Stopping");
  });
}

test("what a command left behind does not keep the process", () => {
  const busy = "data:text/javascript,setInterval(() => {}, 1000)";
  const { status } = spawnSync(process.execPath, ["--import", busy, LAUNCHER, "--version"], { timeout: 30_000 });
  equal(status, 0);
});

test("a reader that goes away is a quiet end", async () => {
  const child = spawn(process.execPath, [LAUNCHER, "--help"], { stdio: ["ignore", "pipe", "pipe"] });
  child.stdout.destroy();
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (errors += text));
  const [code] = (await once(child, "close")) as [number];
  deepEqual([code, errors], [0, ""]);
});
