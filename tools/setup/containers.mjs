/**
 * What `npm start` needs to run real containers: on Debian, root gets containerd and what it needs if the machine has no container
 * runtime. Tried once: where it cannot be had, or nobody wants it (K8TS_INSTALL=no), the cluster plays its Pods and says why.
 * No service is started: the cluster starts a containerd of its own. Not here: what the tests need (debian-packages.ts).
 */
import { accessSync, constants, existsSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { run, step } from "./step.mjs";

/** Which package brings which program; the first place where it is counts. */
const PACKAGES = [
  { name: "containerd", programs: ["containerd"] },
  { name: "containernetworking-plugins", programs: ["/opt/cni/bin/bridge", "/usr/lib/cni/bridge", "/usr/libexec/cni/bridge"] },
  { name: "iptables", programs: ["iptables"] },
];

const SOCKETS = ["/run/containerd/containerd.sock", "/run/crio/crio.sock", "/run/cri-dockerd.sock"];

/** Long enough for a slow mirror. */
const APT_TIMEOUT_MS = 180_000;

/** Answers no questions and starts no service, neither by systemd nor by the older scripts. */
const QUIET = { DEBIAN_FRONTEND: "noninteractive", SYSTEMD_OFFLINE: "1", RUNLEVEL: "1" };

/** @param {string} cache where it is noted that it was tried in vain */
export async function installContainers(cache) {
  const inVain = join(cache, "containers-tried");
  const missing = missingPackages();
  if (missing.length === 0 || existsSync(inVain) || !isWanted()) return;
  await step(`installing Debian packages ${missing.join(", ")} (K8TS_INSTALL=no leaves them out)`, async () => {
    const failure = await install(missing);
    if (failure === undefined) return;
    process.stdout.write(`not possible (${failure}) `);
    writeFileSync(inVain, `${failure}\n`);
  });
}

function isWanted() {
  if (process.env["K8TS_INSTALL"] === "no" || process.platform !== "linux" || process.getuid?.() !== 0) return false;
  return existsSync("/etc/debian_version") && isThere("apt-get") && !SOCKETS.some((socket) => existsSync(socket));
}

function missingPackages() {
  return PACKAGES.filter(({ programs }) => !programs.some(isThere)).map(({ name }) => name);
}

/** @param {string} program a name on the path, or a path */
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
 * The lists of packages are fetched only if it does not work without.
 * @param {readonly string[]} packages
 * @returns {Promise<string | undefined>} what went wrong
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
