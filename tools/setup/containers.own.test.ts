import { deepEqual, equal, match } from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { packageDirectory } from "../../src/testing/package-directory.ts";

const MODULE = pathToFileURL(join(packageDirectory(import.meta.dirname), "tools/setup/containers.mjs")).href;
const hasRuntime = ["/run/containerd/containerd.sock", "/run/crio/crio.sock", "/run/cri-dockerd.sock"].some((path) => existsSync(path));
const isDebianRoot = existsSync("/etc/debian_version") && process.getuid?.() === 0;
const skip = hasRuntime || !isDebianRoot ? "needs root on a Debian without a container runtime" : false;

/** Runs the set-up with nothing on the PATH but an apt-get that executes `script`. */
function setUp(directory: string, script: string, environment: Readonly<Record<string, string>> = {}) {
  const programs = join(directory, "bin");
  mkdirSync(programs, { recursive: true });
  writeFileSync(join(programs, "apt-get"), `#!/bin/sh\necho "$SYSTEMD_OFFLINE $*" >> ${directory}/calls\n${script}\n`, { mode: 0o755 });
  const program = `const { installContainers } = await import(${JSON.stringify(MODULE)}); await installContainers(${JSON.stringify(directory)});`;
  const { stdout, status } = spawnSync(process.execPath, ["--input-type=module", "--eval", program], {
    encoding: "utf8",
    env: { PATH: programs, ...environment },
  });
  const calls = existsSync(join(directory, "calls")) ? readFileSync(join(directory, "calls"), "utf8").trim().split("\n") : [];
  return { stdout, status, calls };
}

function temporary(run: (directory: string) => void): void {
  const directory = mkdtempSync(join(tmpdir(), "k8ts-containers-"));
  try {
    run(directory);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

test("npm start installs containerd and its dependencies without starting any service", { skip }, () => {
  temporary((directory) => {
    const { stdout, status, calls } = setUp(directory, "exit 0");
    equal(status, 0);
    match(stdout, /^set-up: installing Debian packages containerd, .*iptables \(skip with K8TS_INSTALL=no\) \.\.\. [\d.]+ s\n$/);
    equal(calls.length, 1);
    match(calls[0] ?? "", /^1 .*install --yes --no-install-recommends containerd .*iptables$/);
  });
});

test("a failed installation is reported once, and the start continues", { skip }, () => {
  temporary((directory) => {
    const first = setUp(directory, 'echo "E: Unable to locate package containerd"; exit 100');
    deepEqual([first.status, first.calls.length], [0, 3]);
    match(first.stdout, /failed, Pods will be simulated \(E: Unable to locate package containerd\)/);
    deepEqual(setUp(directory, "exit 0").stdout, "");
  });
});

test("K8TS_INSTALL=no installs nothing", { skip }, () => {
  temporary((directory) => deepEqual(setUp(directory, "exit 0", { K8TS_INSTALL: "no" }).calls, []));
});
