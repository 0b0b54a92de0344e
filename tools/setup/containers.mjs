/**
 * Installs what `npm start` needs for real containers: as root on Debian, containerd and its dependencies if the machine has no container
 * runtime. Attempted once: if it fails or is declined (K8TS_INSTALL=no), the cluster simulates its Pods and logs the reason. No service is
 * started: the cluster runs its own containerd. Not here: what the tests need (debian-packages.ts).
 */
import { accessSync, constants, existsSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { run, step } from "./step.mjs";

/** Packages and the programs they provide; the first path that exists counts. */
const PACKAGES = [
  { name: "containerd", programs: ["containerd"] },
  { name: "containernetworking-plugins", programs: ["/opt/cni/bin/bridge", "/usr/lib/cni/bridge", "/usr/libexec/cni/bridge"] },
  { name: "conntrack", programs: ["conntrack"] },
  { name: "nftables", programs: ["nft"] },
  { name: "iptables", programs: ["iptables"] },
];

const SOCKETS = ["/run/containerd/containerd.sock", "/run/crio/crio.sock", "/run/cri-dockerd.sock"];

/** Long enough for a slow mirror. */
const APT_TIMEOUT_MS = 180_000;

/** Non-interactive, and starts no service, neither by systemd nor by init scripts. */
const QUIET = { DEBIAN_FRONTEND: "noninteractive", SYSTEMD_OFFLINE: "1", RUNLEVEL: "1" };

/** @param {string} cache directory of the file that records a failed attempt */
export async function installContainers(cache) {
  const failedAttempt = join(cache, "containers-tried");
  const missing = missingPackages();
  if (missing.length === 0 || existsSync(failedAttempt) || !mayInstall()) return;
  await step(`installing Debian packages ${missing.join(", ")} (skip with K8TS_INSTALL=no)`, async () => {
    const failure = await install(missing);
    if (failure === undefined) return;
    process.stdout.write(`failed, Pods will be simulated (${failure})`);
    writeFileSync(failedAttempt, `${failure}\n`);
  });
}

function mayInstall() {
  if (process.env["K8TS_INSTALL"] === "no" || process.platform !== "linux" || process.getuid?.() !== 0) return false;
  return existsSync("/etc/debian_version") && isThere("apt-get") && !SOCKETS.some((socket) => existsSync(socket));
}

function missingPackages() {
  return PACKAGES.filter(({ programs }) => !programs.some(isThere)).map(({ name }) => name);
}

/** @param {string} program a name on the PATH, or a path */
function isThere(program) {
  const places = program.startsWith("/") ? [program] : (process.env["PATH"] ?? "").split(delimiter).map((place) => join(place, program));
  return places.some((place) => {
    try {
      accessSync(place, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/**
 * Updates the package lists only if installing fails without.
 * @param {readonly string[]} packages
 * @returns {Promise<string | undefined>} the reason of a failure
 */
async function install(packages) {
  /** @param {readonly string[]} args */
  const apt = (args) =>
    run("apt-get", ["-o", "DPkg::Lock::Timeout=60", ...args], { timeoutMs: APT_TIMEOUT_MS, env: { ...process.env, ...QUIET } });
  const attempt = () => apt(["install", "--yes", "--no-install-recommends", ...packages]);
  let outcome = await attempt();
  if (outcome.exitCode !== 0) {
    await apt(["update"]);
    outcome = await attempt();
  }
  if (outcome.exitCode === 0) return undefined;
  const lines = outcome.output.split("\n").filter((line) => line.trim() !== "");
  return lines.find((line) => line.startsWith("E: ")) ?? lines.at(-1) ?? "apt-get failed";
}
