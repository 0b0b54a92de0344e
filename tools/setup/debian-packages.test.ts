import { deepEqual } from "node:assert/strict";
import { describe, test } from "node:test";
import { debianPrograms } from "./debian-packages.ts";
import type { Outcome, Surroundings } from "./surroundings.ts";

const ETCD = "apt-get -o DPkg::Lock::Timeout=60 install --yes --no-install-recommends etcd-server";
const OPENSSL = "apt-get -o DPkg::Lock::Timeout=60 install --yes --no-install-recommends openssl";
const STRACE = "apt-get -o DPkg::Lock::Timeout=60 install --yes --no-install-recommends strace";
const UPDATE = "apt-get -o DPkg::Lock::Timeout=60 update";
const DISABLE = "systemctl disable etcd.service";

/** A machine with some programs, on which `apt` decides what installing does. */
function machine(
  options: Partial<Surroundings> & { readonly programs?: readonly string[]; readonly apt?: (command: string) => Outcome | "installs" },
) {
  const programs = new Set(options.programs ?? []);
  const commands: string[] = [];
  const steps: string[] = [];
  const environments: NodeJS.ProcessEnv[] = [];
  const surroundings: Surroundings = {
    platform: "linux",
    architecture: "x64",
    isRoot: true,
    isDebian: true,
    cache: "/cache",
    npm: () => Promise.reject(new Error("npm is not needed")),
    step: async (what, work) => {
      steps.push(what);
      return work();
    },
    which: (command) => (programs.has(command) ? `/usr/bin/${command}` : undefined),
    run: async (command, args, { env }) => {
      const line = [command, ...args].join(" ");
      commands.push(line);
      environments.push(env ?? {});
      const outcome = options.apt?.(line) ?? { exitCode: 0, output: "" };
      if (outcome !== "installs") return outcome;
      programs.add(line.endsWith("etcd-server") ? "etcd" : (line.split(" ").at(-1) ?? ""));
      return { exitCode: 0, output: "" };
    },
    ...options,
  };
  return { surroundings, commands, steps, environments };
}

const ALL_FOUND = { etcd: { path: "/usr/bin/etcd" }, openssl: { path: "/usr/bin/openssl" }, strace: { path: "/usr/bin/strace" } };

const isInstall = (command: string) => command.includes(" install ");

test("what is there is used, and nothing is run", async () => {
  const { surroundings, commands, steps } = machine({ programs: ["etcd", "openssl", "strace"] });
  deepEqual(await debianPrograms(surroundings), ALL_FOUND);
  deepEqual([commands, steps], [[], []]);
});

test("what is missing is installed, one line of progress each, and no service is left to start", async () => {
  const { surroundings, commands, steps, environments } = machine({
    programs: ["systemctl"],
    apt: (command) => (isInstall(command) ? "installs" : { exitCode: 0, output: "" }),
  });
  deepEqual(await debianPrograms(surroundings), ALL_FOUND);
  deepEqual(commands, [ETCD, DISABLE, OPENSSL, STRACE]);
  deepEqual(
    steps,
    ["etcd-server", "openssl", "strace"].map((name) => `installing Debian package ${name}`),
  );
  deepEqual(
    environments.map((env) => [env["DEBIAN_FRONTEND"], env["SYSTEMD_OFFLINE"], env["RUNLEVEL"]]),
    Array.from({ length: 4 }, () => ["noninteractive", "1", "1"]),
  );
});

test("the lists are fetched only if installing fails without, and only once", async () => {
  let updated = false;
  const { surroundings, commands } = machine({
    apt: (command) => {
      if (command === UPDATE) updated = true;
      if (!isInstall(command)) return { exitCode: 0, output: "" };
      return updated ? "installs" : { exitCode: 100, output: "E: Unable to locate package etcd-server\n" };
    },
  });
  deepEqual(await debianPrograms(surroundings), ALL_FOUND);
  deepEqual(commands, [ETCD, UPDATE, ETCD, OPENSSL, STRACE]);
});

test("a failing apt is a reason and not a failure, and one package does not spoil the other", async () => {
  const { surroundings, commands } = machine({
    apt: (command) =>
      command === OPENSSL || command === STRACE ? "installs" : { exitCode: 100, output: "Reading...\nE: Unable to fetch some archives\n" },
  });
  deepEqual(await debianPrograms(surroundings), {
    ...ALL_FOUND,
    etcd: { missing: "apt-get could not install etcd-server: E: Unable to fetch some archives" },
  });
  deepEqual(commands, [ETCD, UPDATE, ETCD, OPENSSL, STRACE]);
});

describe("where nothing can be installed, the reason says what to do", () => {
  for (const { it, options, missing } of [
    { it: "not root", options: { isRoot: false }, missing: "not installed, and only root may; run apt-get install etcd-server" },
    { it: "not Debian", options: { isDebian: false }, missing: "not on the path; install it (Debian: etcd-server)" },
  ]) {
    test(it, async () => {
      const { surroundings, commands } = machine({ ...options, programs: ["openssl", "strace"] });
      deepEqual(await debianPrograms(surroundings), { ...ALL_FOUND, etcd: { missing } });
      deepEqual(commands, []);
    });
  }
});
