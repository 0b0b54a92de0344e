/**
 * Programs from Debian packages. Missing ones are installed as root on Debian; elsewhere the reason says what to install. No service is
 * started or enabled: the tests start etcd, containerd and a registry themselves, each in its own directory and on its own ports.
 */
import type { Finding } from "../../src/testing/needs.ts";
import { reasonIn } from "../../src/host/processes/program-failure.ts";
import type { Surroundings } from "./surroundings.ts";

interface DebianProgram {
  /** Names on the PATH, or paths; the first that exists counts. */
  readonly command: string | readonly string[];
  readonly package: string;
  /** Service of the package, to be disabled. */
  readonly service?: string;
  /** Must be statically linked: it is copied into containers without shared libraries. */
  readonly isStatic?: true;
}

const PROGRAMS = {
  etcd: { command: "etcd", package: "etcd-server", service: "etcd.service" },
  openssl: { command: "openssl", package: "openssl" },
  strace: { command: "strace", package: "strace" },
  // Depends on runc.
  containerd: { command: "containerd", package: "containerd", service: "containerd.service" },
  cni: { command: ["/opt/cni/bin/bridge", "/usr/lib/cni/bridge"], package: "containernetworking-plugins" },
  iptables: { command: "iptables", package: "iptables" },
  nftables: { command: "nft", package: "nftables", service: "nftables.service" },
  conntrack: { command: "conntrack", package: "conntrack" },
  busybox: { command: "busybox", package: "busybox-static", isStatic: true },
  dig: { command: "dig", package: "bind9-dnsutils" },
  // For programs with musl's resolver, which images of Alpine Linux have.
  musl: { command: "musl-gcc", package: "musl-tools" },
  gcc: { command: "gcc", package: "gcc" },
  // A file system and a database, for the tests of volumes.
  xfs: { command: "mkfs.xfs", package: "xfsprogs" },
  sqlite: { command: "sqlite3", package: "sqlite3" },
  // For the tests of the dashboard.
  chromium: { command: "chromium", package: "chromium" },
  registry: { command: "docker-registry", package: "docker-registry", service: "docker-registry.service" },
} as const satisfies Record<string, DebianProgram>;

type ProgramName = keyof typeof PROGRAMS;

/** Long enough for a slow mirror; a mirror that never responds must not block the tests. */
const APT_TIMEOUT_MS = 180_000;

const ASK_TIMEOUT_MS = 10_000;

/** Non-interactive, and starts nothing: systemctl ignores "start" with SYSTEMD_OFFLINE, and init scripts do not start in runlevel 1. */
const QUIET = { DEBIAN_FRONTEND: "noninteractive", SYSTEMD_OFFLINE: "1", RUNLEVEL: "1" };

export async function debianPrograms(surroundings: Surroundings): Promise<Record<ProgramName, Finding>> {
  const apt = { updated: false };
  const findings: [string, Finding][] = [];
  // Sequential: apt takes a global lock.
  for (const [name, program] of Object.entries(PROGRAMS)) findings.push([name, await find(program, surroundings, apt)]);
  const found = Object.fromEntries(findings) as Record<ProgramName, Finding>;
  return { ...found, containerd: await ifItMayRun(found.containerd, surroundings) };
}

async function find(program: DebianProgram, surroundings: Surroundings, apt: { updated: boolean }): Promise<Finding> {
  const { isDebian, isRoot, step } = surroundings;
  const path = await locate(program, surroundings);
  if (path !== undefined) return { path };
  if (!isDebian) return { missing: `not on the PATH; install it (Debian: ${program.package})` };
  if (!isRoot) return { missing: `not installed; as root, run apt-get install ${program.package}` };
  const failure = await step(`installing Debian package ${program.package}`, () => install(program, surroundings, apt));
  const installed = await locate(program, surroundings);
  if (installed !== undefined) return { path: installed };
  return {
    missing: `apt-get could not install ${program.package}: ${failure ?? `it does not provide ${[program.command].flat().join(" or ")}`}`,
  };
}

async function locate({ command, isStatic }: DebianProgram, { which, run }: Surroundings): Promise<string | undefined> {
  const path = [command]
    .flat()
    .map(which)
    .find((one) => one !== undefined);
  if (path === undefined || isStatic !== true) return path;
  // ldd lists the shared libraries of a program, and fails if it needs none.
  const { exitCode } = await run("ldd", [path], { timeoutMs: ASK_TIMEOUT_MS });
  return exitCode === 0 ? undefined : path;
}

/** Determined by trying: root in a container often lacks the capability. */
async function ifItMayRun(finding: Finding, { isRoot, platform, run }: Surroundings): Promise<Finding> {
  if ("missing" in finding) return finding;
  if (platform !== "linux" || !isRoot) return { missing: "containers need root on Linux" };
  const { exitCode, output } = await run("unshare", ["--mount", "--net", "--pid", "--fork", "mount", "-t", "proc", "proc", "/proc"], {
    timeoutMs: ASK_TIMEOUT_MS,
  });
  return exitCode === 0 ? finding : { missing: `this machine does not permit containers: ${reasonIn(output)}` };
}

async function install(program: DebianProgram, surroundings: Surroundings, apt: { updated: boolean }): Promise<string | undefined> {
  const failure = await installDebianPackage(program.package, surroundings, apt);
  if (failure !== undefined) return failure;
  if (program.service !== undefined && surroundings.which("systemctl") !== undefined) {
    await surroundings.run("systemctl", ["disable", program.service], { timeoutMs: APT_TIMEOUT_MS, env: { ...process.env, ...QUIET } });
  }
  return undefined;
}

/** Returns the reason of a failure. Package lists are updated only if installing fails without. */
export async function installDebianPackage(
  name: string,
  surroundings: Surroundings,
  apt: { updated: boolean } = { updated: false },
): Promise<string | undefined> {
  const aptGet = (...args: readonly string[]) =>
    surroundings.run("apt-get", ["-o", "DPkg::Lock::Timeout=60", ...args], {
      timeoutMs: APT_TIMEOUT_MS,
      env: { ...process.env, ...QUIET },
    });
  const attempt = () => aptGet("install", "--yes", "--no-install-recommends", name);

  let outcome = await attempt();
  if (outcome.exitCode !== 0 && !apt.updated) {
    await aptGet("update");
    apt.updated = true;
    outcome = await attempt();
  }
  return outcome.exitCode === 0 ? undefined : reasonIn(outcome.output);
}
