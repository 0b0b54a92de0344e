/**
 * Programs that come as Debian packages. Root on Debian gets what is missing; everybody else is told what to install. No
 * service is started or left to start with the machine: the tests start etcd themselves, on ports of their own.
 */
import type { Finding } from "../../src/testing/needs.ts";
import { reasonIn, type Surroundings } from "./surroundings.ts";

interface DebianProgram {
  readonly command: string;
  readonly package: string;
  /** The service that comes with the package, to be kept from starting. */
  readonly service?: string;
}

const PROGRAMS = {
  etcd: { command: "etcd", package: "etcd-server", service: "etcd.service" },
  openssl: { command: "openssl", package: "openssl" },
  strace: { command: "strace", package: "strace" },
} as const satisfies Record<string, DebianProgram>;

/** Long enough for a slow mirror; a mirror that does not answer at all must not hold up the tests for ever. */
const APT_TIMEOUT_MS = 180_000;

/**
 * Answers no questions and starts nothing: systemctl ignores "start" when told that the system is offline, and the older
 * init scripts do not start in runlevel 1.
 */
const QUIET = { DEBIAN_FRONTEND: "noninteractive", SYSTEMD_OFFLINE: "1", RUNLEVEL: "1" };

export async function debianPrograms(surroundings: Surroundings): Promise<Record<keyof typeof PROGRAMS, Finding>> {
  const apt = { updated: false };
  return {
    etcd: await find(PROGRAMS.etcd, surroundings, apt),
    openssl: await find(PROGRAMS.openssl, surroundings, apt),
    strace: await find(PROGRAMS.strace, surroundings, apt),
  };
}

async function find(program: DebianProgram, surroundings: Surroundings, apt: { updated: boolean }): Promise<Finding> {
  const { isDebian, isRoot, step, which } = surroundings;
  const path = which(program.command);
  if (path !== undefined) return { path };
  if (!isDebian) return { missing: `not on the path; install it (Debian: ${program.package})` };
  if (!isRoot) return { missing: `not installed, and only root may; run apt-get install ${program.package}` };
  const failure = await step(`installing Debian package ${program.package}`, () => install(program, surroundings, apt));
  const installed = which(program.command);
  if (installed !== undefined) return { path: installed };
  return { missing: `apt-get could not install ${program.package}: ${failure ?? `it has no program ${program.command}`}` };
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
