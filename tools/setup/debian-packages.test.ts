import { deepEqual } from "node:assert/strict";
import { describe, test } from "node:test";
import { debianPrograms } from "./debian-packages.ts";
import type { Outcome, Surroundings } from "./surroundings.ts";

const installing = (name: string) => `apt-get -o DPkg::Lock::Timeout=60 install --yes --no-install-recommends ${name}`;
const disabling = (service: string) => `systemctl disable ${service}.service`;
const UPDATE = "apt-get -o DPkg::Lock::Timeout=60 update";
const ETCD = installing("etcd-server");
const LDD = "ldd /usr/bin/busybox";
const UNSHARE = "unshare --mount --net --pid --fork mount -t proc proc /proc";

/** Programs that each package provides. */
const PACKAGES: Readonly<Record<string, string>> = {
  "etcd-server": "etcd",
  openssl: "openssl",
  strace: "strace",
  containerd: "containerd",
  "containernetworking-plugins": "/usr/lib/cni/bridge",
  iptables: "iptables",
  nftables: "nft",
  conntrack: "conntrack",
  "busybox-static": "busybox",
  "bind9-dnsutils": "dig",
  "musl-tools": "musl-gcc",
  gcc: "gcc",
  xfsprogs: "mkfs.xfs",
  sqlite3: "sqlite3",
  chromium: "chromium",
  "docker-registry": "docker-registry",
};
const ALL_PROGRAMS = Object.values(PACKAGES);

/** A machine with some programs, whose package manager is `apt`. */
function machine(
  options: Partial<Surroundings> & {
    readonly programs?: readonly string[];
    readonly apt?: (command: string) => Outcome | "installs";
    readonly isBusyboxStatic?: boolean;
  },
) {
  const programs = new Set(options.programs ?? []);
  let isBusyboxStatic = options.isBusyboxStatic ?? true;
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
    which: (command) => (programs.has(command) ? (command.startsWith("/") ? command : `/usr/bin/${command}`) : undefined),
    run: async (command, args, { env }) => {
      const line = [command, ...args].join(" ");
      commands.push(line);
      environments.push(env ?? {});
      if (command === "ldd") return { exitCode: isBusyboxStatic ? 1 : 0, output: "" };
      const outcome = options.apt?.(line) ?? { exitCode: 0, output: "" };
      if (outcome !== "installs") return outcome;
      const name = line.split(" ").at(-1) ?? "";
      if (name === "busybox-static") isBusyboxStatic = true;
      programs.add(PACKAGES[name] ?? "");
      return { exitCode: 0, output: "" };
    },
    ...options,
  };
  return { surroundings, commands, steps, environments };
}

const at = (path: string) => ({ path });
const ALL_FOUND = {
  etcd: at("/usr/bin/etcd"),
  openssl: at("/usr/bin/openssl"),
  strace: at("/usr/bin/strace"),
  containerd: at("/usr/bin/containerd"),
  cni: at("/usr/lib/cni/bridge"),
  iptables: at("/usr/bin/iptables"),
  nftables: at("/usr/bin/nft"),
  conntrack: at("/usr/bin/conntrack"),
  busybox: at("/usr/bin/busybox"),
  dig: at("/usr/bin/dig"),
  musl: at("/usr/bin/musl-gcc"),
  gcc: at("/usr/bin/gcc"),
  xfs: at("/usr/bin/mkfs.xfs"),
  sqlite: at("/usr/bin/sqlite3"),
  chromium: at("/usr/bin/chromium"),
  registry: at("/usr/bin/docker-registry"),
};

const isInstall = (command: string) => command.includes(" install ");
const isApt = (command: string) => command.startsWith("apt-get");

test("programs that exist are used, and nothing is installed", async () => {
  const { surroundings, commands, steps } = machine({ programs: ALL_PROGRAMS });
  deepEqual(await debianPrograms(surroundings), ALL_FOUND);
  deepEqual([commands, steps], [[LDD, UNSHARE], []]);
});

test("missing programs are installed with one progress line each, and no service is enabled", async () => {
  const { surroundings, commands, steps, environments } = machine({
    programs: ["systemctl"],
    apt: (command) => (isInstall(command) ? "installs" : { exitCode: 0, output: "" }),
  });
  deepEqual(await debianPrograms(surroundings), ALL_FOUND);
  const SERVICES: Readonly<Record<string, string>> = {
    "etcd-server": "etcd",
    containerd: "containerd",
    nftables: "nftables",
    "docker-registry": "docker-registry",
  };
  const expected = Object.keys(PACKAGES).flatMap((name) => [
    installing(name),
    ...(SERVICES[name] === undefined ? [] : [disabling(SERVICES[name])]),
  ]);
  const machines = commands.flatMap((command, index) =>
    command === LDD || command === UNSHARE ? [] : [{ command, env: environments[index] ?? {} }],
  );
  deepEqual(
    machines.map(({ command }) => command),
    expected,
  );
  deepEqual(
    steps,
    Object.keys(PACKAGES).map((name) => `installing Debian package ${name}`),
  );
  for (const { env } of machines)
    deepEqual([env["DEBIAN_FRONTEND"], env["SYSTEMD_OFFLINE"], env["RUNLEVEL"]], ["noninteractive", "1", "1"]);
});

test("package lists are updated only if installing fails without, and only once", async () => {
  let updated = false;
  const { surroundings, commands } = machine({
    apt: (command) => {
      if (command === UPDATE) updated = true;
      if (!isInstall(command)) return { exitCode: 0, output: "" };
      return updated ? "installs" : { exitCode: 100, output: "E: Unable to locate package etcd-server\n" };
    },
  });
  deepEqual(await debianPrograms(surroundings), ALL_FOUND);
  deepEqual(commands.filter(isApt), [ETCD, UPDATE, ...Object.keys(PACKAGES).map(installing)]);
});

test("a failing apt-get is reported as the reason, and the other packages are installed", async () => {
  const { surroundings, commands } = machine({
    programs: ALL_PROGRAMS.filter((name) => name !== "etcd" && name !== "openssl"),
    apt: (command) => {
      if (command === UNSHARE) return { exitCode: 0, output: "" };
      return command === installing("openssl") ? "installs" : { exitCode: 100, output: "Reading...\nE: Unable to fetch some archives\n" };
    },
  });
  deepEqual(await debianPrograms(surroundings), {
    ...ALL_FOUND,
    etcd: { missing: "apt-get could not install etcd-server: E: Unable to fetch some archives" },
  });
  deepEqual(commands.filter(isApt), [ETCD, UPDATE, ETCD, installing("openssl")]);
});

test("a busybox that needs shared libraries is replaced by the static one", async () => {
  const { surroundings, commands } = machine({
    programs: ALL_PROGRAMS,
    isBusyboxStatic: false,
    apt: (command) => (isInstall(command) ? "installs" : { exitCode: 0, output: "" }),
  });
  deepEqual(await debianPrograms(surroundings), ALL_FOUND);
  deepEqual(commands, [LDD, installing("busybox-static"), LDD, UNSHARE]);
});

describe("where nothing can be installed, the reason says how to install it", () => {
  for (const { it, options, missing, containerd } of [
    {
      it: "not root",
      options: { isRoot: false },
      missing: "not installed; as root, run apt-get install etcd-server",
      containerd: { missing: "containers need root on Linux" },
    },
    {
      it: "not Debian",
      options: { isDebian: false },
      missing: "not on the PATH; install it (Debian: etcd-server)",
      containerd: ALL_FOUND.containerd,
    },
  ]) {
    test(it, async () => {
      const { surroundings, commands } = machine({ ...options, programs: ALL_PROGRAMS.filter((name) => name !== "etcd") });
      deepEqual(await debianPrograms(surroundings), { ...ALL_FOUND, etcd: { missing }, containerd });
      deepEqual(commands.filter(isApt), []);
    });
  }
});

test("where namespaces are not permitted, containerd counts as missing", async () => {
  const apt = () => ({ exitCode: 1, output: "unshare: unshare failed: Operation not permitted\n" });
  const { surroundings } = machine({ programs: ALL_PROGRAMS, apt });
  const missing = "this machine does not permit containers: unshare: unshare failed: Operation not permitted";
  deepEqual(await debianPrograms(surroundings), { ...ALL_FOUND, containerd: { missing } });
});
