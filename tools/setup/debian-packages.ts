/**
 * Programs that come as Debian packages. Root on Debian gets what is missing; everybody else is told what to install. No
 * service is started or left to start with the machine: the tests start etcd, containerd and a registry themselves, each in a
 * directory and on ports of its own.
 */
import type { Finding } from "../../src/testing/needs.ts";
import { reasonIn } from "../../src/host/processes/program-failure.ts";
import type { Surroundings } from "./surroundings.ts";

interface DebianProgram {
  /** On the path, or where it is; the first that is there. */
  readonly command: string | readonly string[];
  readonly package: string;
  /** The service that comes with the package, to be kept from starting. */
  readonly service?: string;
  /** One that needs shared libraries is none: it is copied to where there are none. */
  readonly isStatic?: true;
}

const PROGRAMS = {
  etcd: { command: "etcd", package: "etcd-server", service: "etcd.service" },
  openssl: { command: "openssl", package: "openssl" },
  strace: { command: "strace", package: "strace" },
  // Brings runc with it.
  containerd: { command: "containerd", package: "containerd", service: "containerd.service" },
  cni: { command: ["/opt/cni/bin/bridge", "/usr/lib/cni/bridge"], package: "containernetworking-plugins" },
  iptables: { command: "iptables", package: "iptables" },
  busybox: { command: "busybox", package: "busybox-static", isStatic: true },
  registry: { command: "docker-registry", package: "docker-registry", service: "docker-registry.service" },
} as const satisfies Record<string, DebianProgram>;

type ProgramName = keyof typeof PROGRAMS;

/** Long enough for a slow mirror; a mirror that does not answer at all must not hold up the tests for ever. */
const APT_TIMEOUT_MS = 180_000;

const ASK_TIMEOUT_MS = 10_000;

/**
 * Answers no questions and starts nothing: systemctl ignores "start" when told that the system is offline, and the older
 * init scripts do not start in runlevel 1.
 */
const QUIET = { DEBIAN_FRONTEND: "noninteractive", SYSTEMD_OFFLINE: "1", RUNLEVEL: "1" };

export async function debianPrograms(surroundings: Surroundings): Promise<Record<ProgramName, Finding>> {
  const apt = { updated: false };
  const findings: [string, Finding][] = [];
  // One after the other: there is one apt.
  for (const [name, program] of Object.entries(PROGRAMS)) findings.push([name, await find(program, surroundings, apt)]);
  const found = Object.fromEntries(findings) as Record<ProgramName, Finding>;
  return { ...found, containerd: await ifItMayRun(found.containerd, surroundings) };
}

async function find(program: DebianProgram, surroundings: Surroundings, apt: { updated: boolean }): Promise<Finding> {
  const { isDebian, isRoot, step } = surroundings;
  const path = await locate(program, surroundings);
  if (path !== undefined) return { path };
  if (!isDebian) return { missing: `not on the path; install it (Debian: ${program.package})` };
  if (!isRoot) return { missing: `not installed, and only root may; run apt-get install ${program.package}` };
  const failure = await step(`installing Debian package ${program.package}`, () => install(program, surroundings, apt));
  const installed = await locate(program, surroundings);
  if (installed !== undefined) return { path: installed };
  return {
    missing: `apt-get could not install ${program.package}: ${failure ?? `it has no program ${[program.command].flat().join(" or ")}`}`,
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

/** Found out by doing it: root in a container often may not. */
async function ifItMayRun(finding: Finding, { isRoot, platform, run }: Surroundings): Promise<Finding> {
  if ("missing" in finding) return finding;
  if (platform !== "linux" || !isRoot) return { missing: "only root on Linux may run containers" };
  const { exitCode, output } = await run("unshare", ["--mount", "--net", "--pid", "--fork", "mount", "-t", "proc", "proc", "/proc"], {
    timeoutMs: ASK_TIMEOUT_MS,
  });
  return exitCode === 0 ? finding : { missing: `this machine lets nobody run containers: ${reasonIn(output)}` };
}

/** What went wrong, if something did. The lists of packages are fetched only if it does not work without. */
async function install(program: DebianProgram, surroundings: Surroundings, apt: { updated: boolean }): Promise<string | undefined> {
  const aptGet = (...args: readonly string[]) =>
    surroundings.run("apt-get", ["-o", "DPkg::Lock::Timeout=60", ...args], {
      timeoutMs: APT_TIMEOUT_MS,
      env: { ...process.env, ...QUIET },
    });
  const attempt = () => aptGet("install", "--yes", "--no-install-recommends", program.package);

  let outcome = await attempt();
  if (outcome.exitCode !== 0 && !apt.updated) {
    await aptGet("update");
    apt.updated = true;
    outcome = await attempt();
  }
  if (outcome.exitCode !== 0) return reasonIn(outcome.output);
  if (program.service !== undefined && surroundings.which("systemctl") !== undefined) {
    await surroundings.run("systemctl", ["disable", program.service], { timeoutMs: APT_TIMEOUT_MS, env: { ...process.env, ...QUIET } });
  }
  return undefined;
}
