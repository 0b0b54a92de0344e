/**
 * The cluster's own containerd: started detached, so that Pods and their runtime outlive k8ts, and adopted by the next start, also after a
 * SIGKILL of either. At most one per directory: its pid and start time are recorded, and one that was not recorded in time is recognized by
 * its configuration path. Not here: the Pods' shims, which outlive containerd (leftovers.ts, orphaned-tasks.ts), and which runtime to use
 * (choose-runtime.ts).
 */
import type { Clock } from "../../../base/clock.ts";
import type { Logger } from "../../../base/logger.ts";
import { terminateProcess, startDetached } from "../../../host/processes/detached-program.ts";
import {
  fileExists,
  fileSizeBytes,
  joinPath,
  makePrivateDirectory,
  readTail,
  readWhole,
  removeFile,
  replaceFile,
} from "../../../host/files/files.ts";
import { findProgram, isExecutable, wholePath } from "../../../host/processes/find-program.ts";
import { machineFacts } from "../../../host/kernel/machine-facts.ts";
import { isOnOverlay } from "../../../host/kernel/mount-table.ts";
import { writePrivateText } from "../../../host/files/private-files.ts";
import { networkNamespaceOf } from "../../../host/network/network-namespace.ts";
import { isAlive, type ProcessMark } from "../../../host/processes/process-identity.ts";
import { argumentsOf, findProcesses } from "../../../host/processes/process-table.ts";
import { endPlugins, noteEarlierNetwork } from "./cni-records.ts";
import { containerdConfiguration } from "./config.ts";
import { askVersion, RuntimeTooOldError, type RuntimeVersion } from "./runtime-version.ts";
import { endShimStarters } from "./shims.ts";

export interface OwnContainerdOptions {
  /** Persistent state: images, containers, configuration, log. Exclusive to this cluster. */
  readonly directory: string;
  /** State until reboot; short, since it contains the socket. Exclusive to this cluster. */
  readonly runDirectory: string;
  readonly cniConfigDirectory: string;
  /** Address directory of the Pod network, as in its configuration. */
  readonly bridge: string;
  readonly addressDirectory: string;
  /** Sandbox (pause) image; must be in the runtime before the first Pod. */
  readonly sandboxImage: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Timeout until it answers. Default: 20 s. */
  readonly startTimeoutMs?: number;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface OwnContainerd extends RuntimeVersion {
  /** "unix:///…/containerd.sock" */
  readonly endpoint: string;
  readonly process: ProcessMark;
  /** It already ran. */
  readonly wasAdopted: boolean;
  /** SIGTERM, then SIGKILL. Containers and their shims keep running. Idempotent. */
  stop(): Promise<void>;
}

/** It answers within 100 ms on an idle machine; beyond this the start has failed. */
const START_TIMEOUT_MS = 20_000;
/**
 * An adopted containerd that does not respond within this timeout is replaced. Its containers are not affected, but pending requests fail
 * and pulls restart; so a slow or starting one gets as long as a newly started one.
 */
const ADOPT_TIMEOUT_MS = START_TIMEOUT_MS;
/** Poll interval: a socket that is about to be opened has no event. */
const ASK_AGAIN_MS = 5;
const STOP_GRACE_MS = 10_000;
/** The log of the last starts is enough to explain a failure. */
const LOG_BYTES_MAX = 1024 * 1024;
/** Bytes of the log tail that an error quotes. */
const LOG_QUOTED_LINES = 8;
const LOG_QUOTED_BYTES = 16 * 1024;
/** The kernel's limit of socket paths; containerd appends ".ttrpc" for its shims. */
const SOCKET_PATH_BYTES_MAX = 107 - ".ttrpc".length;

/** Separators of mount options and of overlay directories; containerd does not escape them. */
const OVERLAY_SEPARATORS = /[,:\\]/;

const CNI_BINARY_DIRECTORIES = ["/opt/cni/bin", "/usr/lib/cni", "/usr/libexec/cni"];

/** Environment variables that containerd needs to start containers and pull images. */
const ENVIRONMENT = [
  "HOME",
  "HTTP_PROXY",
  "HTTPS_PROXY",
  "NO_PROXY",
  "http_proxy",
  "https_proxy",
  "no_proxy",
  "SSL_CERT_FILE",
  "SSL_CERT_DIR",
];

/** Adopts the running containerd if its configuration is current, or starts one. Resolves when it answers. */
export async function startOwnContainerd(options: OwnContainerdOptions): Promise<OwnContainerd> {
  const files = containerdFiles(options);
  checkSocket(files.socket);
  await makePrivateDirectory(files.rootDirectory);
  const configuration = containerdConfiguration({
    ...files,
    ...options,
    snapshotter: await snapshotterFor(files.rootDirectory),
    architecture: machineFacts().architecture,
    cniBinaryDirectory: cniBinaryDirectory(),
  });
  const running = await findOwnContainerd(options);
  if (running !== undefined) {
    const adopted = await adopt(running, configuration, options);
    if (adopted !== undefined) return adopted;
    await terminateProcess(running, { graceMs: STOP_GRACE_MS, clock: options.clock });
  }
  const program = programOf(options);
  for (const directory of [files.stateDirectory, options.cniConfigDirectory]) await makePrivateDirectory(directory);
  await writePrivateText(files.configuration, configuration);
  await rotate(files.log);
  await removeFile(files.socket);
  await settleEarlier(options);
  const logStart = await sizeOf(files.log);
  const mark = await startDetached({
    command: program,
    arguments: ["--config", files.configuration],
    directory: options.directory,
    logFile: files.log,
    environment: environmentFor(options),
  });
  await writePrivateText(files.process, JSON.stringify(mark));
  try {
    const version = await answering(mark, { ...options, timeoutMs: options.startTimeoutMs ?? START_TIMEOUT_MS, logStart });
    return handle(mark, version, { wasAdopted: false }, options);
  } catch (error) {
    await terminateProcess(mark, { graceMs: 0, clock: options.clock }); // A containerd that cannot be used is terminated.
    throw error;
  }
}

/** Terminates what a dead containerd had started, so that the existing state can be recorded. */
async function settleEarlier(options: OwnContainerdOptions): Promise<void> {
  const { clock, log } = options;
  const files = containerdFiles(options);
  try {
    await endShimStarters(files, clock);
    await endPlugins({ ...files, cniBinaryDirectory: cniBinaryDirectory() }, clock);
    await noteEarlierNetwork({ ...options, ...files });
  } catch (error) {
    log.warn("Cannot terminate processes of an earlier containerd", { error });
  }
}

/** The running process, regardless of which run of k8ts started it. */
export async function findOwnContainerd(
  options: Pick<OwnContainerdOptions, "directory" | "runDirectory">,
): Promise<ProcessMark | undefined> {
  const files = containerdFiles(options);
  const noted = await notedProcess(files.process);
  const isContainerd = (words: readonly string[]) => words.includes("--config") && words.includes(files.configuration);
  // After a reboot, pid and start time may match another process.
  if (noted !== undefined && isAlive(noted) && isContainerd(await argumentsOf(noted.pid))) return noted;
  // k8ts may have died between the start and the record.
  const [found] = await findProcesses(isContainerd);
  return found;
}

/** Paths of all its files. */
export function containerdFiles({ directory, runDirectory }: Pick<OwnContainerdOptions, "directory" | "runDirectory">) {
  return {
    rootDirectory: joinPath(directory, "root"),
    configuration: joinPath(directory, "config.toml"),
    log: joinPath(directory, "containerd.log"),
    process: joinPath(directory, "process.json"),
    earlierNetwork: joinPath(runDirectory, "earlier-network.json"),
    stateDirectory: joinPath(runDirectory, "state"),
    runcDirectory: joinPath(runDirectory, "runc"),
    socket: joinPath(runDirectory, "containerd.sock"),
  };
}

/**
 * An overlay cannot be stacked on another one, as in a container, nor use a directory whose path contains a separator of mount options. The
 * native snapshotter copies, which is slow but always works.
 */
async function snapshotterFor(directory: string): Promise<"overlayfs" | "native"> {
  return OVERLAY_SEPARATORS.test(directory) || (await isOnOverlay(directory)) ? "native" : "overlayfs";
}

function checkSocket(path: string): void {
  const lengthBytes = new TextEncoder().encode(path).length;
  if (lengthBytes <= SOCKET_PATH_BYTES_MAX) return;
  throw new Error(`Cannot open a socket at "${path}": its path may have ${SOCKET_PATH_BYTES_MAX} bytes, it has ${lengthBytes}`);
}

async function adopt(mark: ProcessMark, configuration: string, options: OwnContainerdOptions): Promise<OwnContainerd | undefined> {
  const { log } = options;
  const files = containerdFiles(options);
  const written = new TextDecoder().decode(await readWhole(files.configuration).catch(() => new Uint8Array()));
  if (written !== configuration) {
    log.info("Restarting containerd: its configuration changed", { pid: mark.pid });
    return undefined;
  }
  if (networkNamespaceOf(mark.pid) !== networkNamespaceOf("self")) {
    log.info("Restarting containerd: it runs in another network namespace", { pid: mark.pid });
    return undefined;
  }
  try {
    const version = await answering(mark, { ...options, timeoutMs: ADOPT_TIMEOUT_MS, logStart: await sizeOf(files.log) });
    await writePrivateText(files.process, JSON.stringify({ pid: mark.pid, started: mark.started }));
    log.debug("Adopted containerd", { pid: mark.pid });
    return handle(mark, version, { wasAdopted: true }, options);
  } catch (error) {
    log.warn("Replacing a containerd that does not respond", { pid: mark.pid, error });
    return undefined;
  }
}

function handle(
  mark: ProcessMark,
  version: RuntimeVersion,
  { wasAdopted }: { readonly wasAdopted: boolean },
  options: OwnContainerdOptions,
) {
  const files = containerdFiles(options);
  return {
    ...version,
    endpoint: `unix://${files.socket}`,
    process: mark,
    wasAdopted,
    async stop() {
      await terminateProcess(mark, { graceMs: STOP_GRACE_MS, clock: options.clock });
      await removeFile(files.process);
    },
  };
}

interface Waiting extends OwnContainerdOptions {
  readonly timeoutMs: number;
  /** Offset in the log at which this start begins. */
  readonly logStart: number;
}

/** Resolves when it answers; rejects with the tail of its log if it ends or exceeds the timeout. */
async function answering(mark: ProcessMark, options: Waiting): Promise<RuntimeVersion> {
  const { clock, timeoutMs } = options;
  const { socket } = containerdFiles(options);
  const until = clock.monotonic() + timeoutMs;
  for (;;) {
    const lives = isAlive(mark);
    try {
      if (await fileExists(socket)) return await askVersion(socket, { clock, timeoutMs: Math.max(1, until - clock.monotonic()) });
    } catch (error) {
      if (error instanceof RuntimeTooOldError) throw error;
    }
    if (!lives) throw await failed("Cannot start containerd: it exited immediately", options);
    if (clock.monotonic() >= until)
      throw await failed(`Cannot use containerd (process ${mark.pid}): it does not respond within ${timeoutMs} ms`, options);
    await clock.sleep(ASK_AGAIN_MS);
  }
}

/** containerd did not come up: the message has the tail of its log. */
export class ContainerdFailed extends Error {
  override readonly name = "ContainerdFailed";
  /** With the last line of its log only. */
  readonly inOneLine: string;

  constructor(what: string, log: string, lastLines: readonly string[]) {
    super(`${what}; the end of its log (${log}):\n${lastLines.map((line) => `  ${line}`).join("\n")}`);
    this.inOneLine = `${what}, and logged ${lastLines.length === 0 ? "nothing" : `last: ${lastLines.at(-1)}`}; its log is ${log}`;
  }
}

async function failed(what: string, options: Waiting): Promise<ContainerdFailed> {
  const { log } = containerdFiles(options);
  const lengthBytes = Math.min(LOG_QUOTED_BYTES, (await sizeOf(log)) - options.logStart);
  const lines = new TextDecoder().decode(await readTail(log, Math.max(0, lengthBytes))).split("\n");
  return new ContainerdFailed(what, log, lines.filter((line) => line !== "").slice(-LOG_QUOTED_LINES));
}

async function notedProcess(file: string): Promise<ProcessMark | undefined> {
  try {
    const { pid, started } = JSON.parse(new TextDecoder().decode(await readWhole(file))) as Record<keyof ProcessMark, unknown>;
    return typeof pid === "number" && typeof started === "string" ? { pid, started } : undefined;
  } catch {
    return undefined; // Never started, or stopped gracefully.
  }
}

async function rotate(log: string): Promise<void> {
  if ((await sizeOf(log)) > LOG_BYTES_MAX) await replaceFile(log, `${log}.1`);
}

function sizeOf(file: string): Promise<number> {
  return fileSizeBytes(file).catch(() => 0);
}

function programOf({ environment }: OwnContainerdOptions): string {
  const program = findProgram("containerd", environment["PATH"]);
  if (program === undefined)
    throw new Error(`Cannot start containerd: there is no such program; install it (Debian: apt-get install containerd)`);
  return program;
}

/** The first directory with the plugin that every network of ours needs. */
export function cniBinaryDirectory(): string {
  const found = CNI_BINARY_DIRECTORIES.find((directory) => isExecutable(joinPath(directory, "bridge")));
  if (found !== undefined) return found;
  const searched = CNI_BINARY_DIRECTORIES.join(", ");
  throw new Error(
    `Cannot give Pods a network: the CNI plugins are in none of ${searched}; install them (Debian: apt-get install containernetworking-plugins)`,
  );
}

function environmentFor({ environment }: OwnContainerdOptions): Record<string, string> {
  const kept = ENVIRONMENT.flatMap((name) => (environment[name] === undefined ? [] : [[name, environment[name]] as const]));
  return { ...Object.fromEntries(kept), PATH: wholePath(environment["PATH"]) };
}
