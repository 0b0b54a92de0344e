import { deepEqual, equal, match } from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, openSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { K8tsMachine } from "../testing/servers/k8ts-program.ts";
import { version } from "../base/generated/version.ts";

const LAUNCHER = join(import.meta.dirname, "launcher.js");

function k8ts(...args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [LAUNCHER, ...args], { encoding: "utf8" });
  return { exitCode: status, stdout, stderr };
}

test("--version prints the version of the package and exits with 0", () => {
  deepEqual(k8ts("--version"), { exitCode: 0, stdout: `k8ts ${version}\n`, stderr: "" });
});

test("--help prints the overview to standard output and exits with 0", () => {
  const { exitCode, stdout, stderr } = k8ts("--help");
  deepEqual([exitCode, stderr], [0, ""]);
  match(stdout, /^ {2}up +Start a cluster/m);
});

test("an unknown command is reported on standard error with a suggestion and exits with 2", () => {
  deepEqual(k8ts("upp"), {
    exitCode: 2,
    stdout: "",
    stderr: 'Unknown command "upp"; did you mean "up"?\nk8ts --help lists the commands\n',
  });
});

test("a limit of open files that is too low is one sentence with what to do", () => {
  for (const limit of [64, 128]) {
    const script = `ulimit -n ${limit}; exec "$0" "$@"`;
    const { status, stderr } = spawnSync("sh", ["-c", script, process.execPath, LAUNCHER, "up", "--help"], { encoding: "utf8" });
    // Since Node 24 modules are opened one after the other, so that fewer files suffice.
    if (status === 0) continue;
    equal(status, 1);
    match(
      stderr,
      new RegExp(
        `^Error: Cannot open a file: this process may have (${limit}|too few) open files; raise the limit \\(ulimit -n 4096, .*\\)\n$`,
      ),
    );
  }
});

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  test(`up stops cleanly on ${signal} and exits with 0`, async (context) => {
    const machine = await K8tsMachine.make(context);
    const { child, lines } = await machine.start(["up", "--store", "memory", "--secure-port", "0", "--containers=false"]);
    child.kill(signal);
    const [code] = (await once(child, "close")) as [number];
    equal(code, 0);
    match(lines.at(-1) ?? "", /stopped cluster/);
  });
}

test("what a command left behind does not keep the process", () => {
  const busy = "data:text/javascript,setInterval(() => {}, 1000)";
  const { status } = spawnSync(process.execPath, ["--import", busy, LAUNCHER, "--version"], { timeout: 30_000 });
  equal(status, 0);
});

const hasFullDevice = { skip: !existsSync("/dev/full") && "this system has no /dev/full" };

test("output that does not fit on the disk is lost, which the exit code shows, and the command continues", hasFullDevice, () => {
  const full = openSync("/dev/full", "w");
  const run = (...args: readonly string[]) =>
    spawnSync(process.execPath, [LAUNCHER, ...args], { stdio: ["ignore", full, "pipe"], encoding: "utf8" });
  const help = run("--help");
  deepEqual([help.status, help.stderr], [1, ""]);
  const wrong = spawnSync(process.execPath, [LAUNCHER, "upp"], { stdio: ["ignore", "pipe", full] });
  equal(wrong.status, 2);
  closeSync(full);
});

test("a reader that goes away is a quiet end", async () => {
  const child = spawn(process.execPath, [LAUNCHER, "--help"], { stdio: ["ignore", "pipe", "pipe"] });
  child.stdout.destroy();
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (errors += text));
  const [code] = (await once(child, "close")) as [number];
  deepEqual([code, errors], [0, ""]);
});
