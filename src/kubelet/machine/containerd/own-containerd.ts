/**
 * A containerd of the cluster's own: started detached, so that Pods and their runtime outlive k8ts, and found again by the next start,
 * also after a SIGKILL of either. There is at most one per directory: which process it is, is written down with its start time, and one
 * that was not written down in time is known by its configuration's path.
 * Not here: the Pods' shims, which live on when containerd ends (leftovers.ts, orphaned-tasks.ts), and which runtime to use (choose-runtime.ts).
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
import { isAlive, type ProcessMark } from "../../../host/processes/process-identity.ts";
import { argumentsOf, findProcesses } from "../../../host/processes/process-table.ts";
import { endPlugins, noteEarlierNetwork } from "./cni-records.ts";
import { containerdConfiguration } from "./config.ts";
import { askVersion, RuntimeTooOldError, type RuntimeVersion } from "./runtime-version.ts";
import { endShimStarters } from "./shims.ts";

export interface OwnContainerdOptions {
  /** What lasts: images, containers, configuration, log. Of this cluster alone. */
  readonly directory: string;
  /** What does not outlive the machine's run; short, since the socket is in it. Of this cluster alone. */
  readonly runDirectory: string;
  readonly cniConfigDirectory: string;
  /** Of the Pods' network, as its configuration has them. */
  readonly bridge: string;
  readonly addressDirectory: string;
  /** The image that holds a Pod's namespaces; it must be in the runtime before the first Pod. */
  readonly sandboxImage: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** How long it may take to answer. Default: 20 s. */
  readonly startTimeoutMs?: number;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface OwnContainerd extends RuntimeVersion {
  /** "unix:///…/containerd.sock" */
  readonly endpoint: string;
  readonly process: ProcessMark;
  /** It ran already. */
  readonly wasAdopted: boolean;
  /** SIGTERM, then SIGKILL. Containers and their shims run on. May be repeated. */
  stop(): Promise<void>;
}

/** It is there within 100 ms on an idle machine; one that takes this long does not come. */
const START_TIMEOUT_MS = 20_000;
/**
 * One that runs and does not answer for so long is replaced. Its containers do not notice, but whatever it was asked for meanwhile fails, a
 * pull begins anew; so one that is merely slow on a busy machine, or starting still, gets as long as one that is started now.
 */
const ADOPT_TIMEOUT_MS = START_TIMEOUT_MS;
/** A socket that is about to be opened has no event. */
const ASK_AGAIN_MS = 5;
const STOP_GRACE_MS = 10_000;
/** The log of the last starts is enough to explain a failure. */
const LOG_BYTES_MAX = 1024 * 1024;
/** Of the log, what an error quotes. */
const LOG_QUOTED_LINES = 8;
const LOG_QUOTED_BYTES = 16 * 1024;
/** The kernel takes no longer path of a socket; containerd appends ".ttrpc" to it for its shims. */
const SOCKET_PATH_BYTES_MAX = 107 - ".ttrpc".length;

/** Of mount options, and of the directories that an overlay shows; containerd writes them as they are. */
const OVERLAY_SEPARATORS = /[,:\\]/;

const CNI_BINARY_DIRECTORIES = ["/opt/cni/bin", "/usr/lib/cni", "/usr/libexec/cni"];

/** What a container's start needs of containerd's environment, and pulling images. */
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

/** Adopts the one that runs, if it runs as it should, or starts one. Resolves when it answers. */
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
    await terminateProcess(mark, { graceMs: 0, clock: options.clock }); // What cannot be used is not left behind.
    throw error;
  }
}

/** What one that is dead had asked for comes to its end, so that it can be noted what there is. */
async function settleEarlier(options: OwnContainerdOptions): Promise<void> {
  const { clock, log } = options;
  const files = containerdFiles(options);
  try {
    await endShimStarters(files, clock);
    await endPlugins({ ...files, cniBinaryDirectory: cniBinaryDirectory() }, clock);
    await noteEarlierNetwork({ ...options, ...files });
  } catch (error) {
    log.warn("Cannot end what an earlier containerd had begun", { error });
  }
}

/** The process, if it runs, whoever started it. */
export async function findOwnContainerd(
  options: Pick<OwnContainerdOptions, "directory" | "runDirectory">,
): Promise<ProcessMark | undefined> {
  const files = containerdFiles(options);
  const noted = await notedProcess(files.process);
  const isContainerd = (words: readonly string[]) => words.includes("--config") && words.includes(files.configuration);
  // Number and start time may, after the machine was started anew, be those of another.
  if (noted !== undefined && isAlive(noted) && isContainerd(await argumentsOf(noted.pid))) return noted;
  // k8ts may have died between the start and the note.
  const [found] = await findProcesses(isContainerd);
  return found;
}

/** Where everything of it is. */
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
 * An overlay cannot lie on another one, as in a container, and cannot be told a directory in whose path is what separates the words of its
 * mount. Copying is slow, but works everywhere.
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
    log.info("Restarting containerd, since its configuration changed", { pid: mark.pid });
    return undefined;
  }
  try {
    const version = await answering(mark, { ...options, timeoutMs: ADOPT_TIMEOUT_MS, logStart: await sizeOf(files.log) });
    await writePrivateText(files.process, JSON.stringify({ pid: mark.pid, started: mark.started }));
    log.debug("Adopted containerd", { pid: mark.pid });
    return handle(mark, version, { wasAdopted: true }, options);
  } catch (error) {
    log.warn("Replacing a containerd that does not answer", { pid: mark.pid, error });
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
  /** Of the log, what is of this start. */
  readonly logStart: number;
}

/** Resolves when it takes requests; rejects with the end of its log if it ends, or does not in time. */
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
    if (!lives) throw await failed("Cannot start containerd: it ended at once", options);
    if (clock.monotonic() >= until)
      throw await failed(`Cannot use containerd (process ${mark.pid}): it does not answer within ${timeoutMs} ms`, options);
    await clock.sleep(ASK_AGAIN_MS);
  }
}

/** One that does not come to answer: the message has the end of its log. */
export class ContainerdFailed extends Error {
  override readonly name = "ContainerdFailed";
  /** With the last line of its log only. */
  readonly inOneLine: string;

  constructor(what: string, log: string, lastLines: readonly string[]) {
    super(`${what}; the end of its log (${log}):\n${lastLines.map((line) => `  ${line}`).join("\n")}`);
    this.inOneLine = `${what}, and said ${lastLines.length === 0 ? "nothing" : `last: ${lastLines.at(-1)}`}; its log is ${log}`;
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
    return undefined; // Never started, or stopped in good order.
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

/** The first that has the plugin that every network of ours needs. */
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
