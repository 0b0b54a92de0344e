/**
 * Lifecycle of a cluster in this process, from locking its home to releasing it: progress output, the record for other processes, the
 * context in the user's kubeconfig, suggested next steps, and the shutdown.
 */
import { Disposables } from "../base/disposables.ts";
import { createLogger, formatHuman, type Logger } from "../base/logger.ts";
import { KUBERNETES_VERSION } from "../apiserver/shared/kubernetes-version.ts";
import { parentReport } from "../host/processes/detached-self.ts";
import { findOnPath } from "../host/processes/find-program.ts";
import { openLogFile, rotateLogs, type LogFile } from "../host/files/rotating-log.ts";
import { ourProcess } from "../host/processes/process-identity.ts";
import { PAUSE_IMAGE } from "../kubelet/machine/images/pause-image-name.ts";
import type { Io } from "../cli/framework/command.ts";
import { describeError } from "../cli/framework/dispatch.ts";
import { fileExists } from "../host/files/files.ts";
import { version } from "../base/generated/version.ts";
import type { ListenPlace } from "../cli/framework/listen-errors.ts";
import { listenOrExplain } from "./listen-or-explain.ts";
import { waitForOrphanedProcesses } from "./processes/orphaned-processes.ts";
import { shellQuote } from "../cli/framework/shell-quote.ts";
import { waitForStop } from "../cli/framework/wait-for-stop.ts";
import { removeIdleRuntimeDirectory } from "./machine/clean-up-machine.ts";
import { checkClock } from "./clock-check.ts";
import { openHome, type HeldHome } from "./home/cluster-home.ts";
import { readRecord, type ClusterRecord } from "./home/cluster-record.ts";
import { startInBackground, type Report } from "./detach.ts";
import { homesDirectory, LOGGED_COMPONENTS, componentLog } from "./home/home-paths.ts";
import { removeHome } from "./home/remove-home.ts";
import { explainHomeError } from "./home/start-errors.ts";
import { startCluster, type StartedCluster } from "./start-cluster.ts";
import { reportSteps, type Steps } from "../cli/framework/progress.ts";
import { teeLogger } from "../cli/framework/tee-logger.ts";
import { nextSteps } from "./next-steps.ts";
import type { UpOptions } from "./up-options.ts";
import { addContext, type AddedContext } from "./kubeconfig/user-contexts.ts";

/** Components that this version does not implement yet. */
const NOT_YET = ["service proxy", "DNS", "ingress", "dashboard"];

/** Runs until cancelled; with --detach, until the background process is ready. */
export async function runCluster(options: UpOptions, io: Io): Promise<void> {
  const reportToParent = parentReport();
  if (options.isDetached && reportToParent === undefined) return startInBackground(options, io);
  const report = (said: Report): void => reportToParent?.(JSON.stringify(said));
  const steps = reportSteps({ out: outAndReport(io, report), clock: io.clock });
  let hasHome = false;
  try {
    await using owned = new Disposables();
    const open = () => io.clock.external(openHome(options.home, io.environment));
    const held = owned.use(await steps.quietly("locked data directory", open));
    hasHome = true;
    let failure: unknown;
    owned.defer(async () => {
      await io.clock.external(removeIdleRuntimeDirectory(held.home, io.clock));
      if (failure !== undefined) await io.clock.external(forgetFailedFirst(held, failure, io));
    });
    await runHere(options, held, { ...io, isBehind: reportToParent !== undefined, report }).catch((error: unknown) => {
      failure = explainHomeError(error, options.home.directory);
      throw failure;
    });
  } catch (error) {
    report({ is: "failed", error: describeError(error, false), hasHome });
    throw error;
  }
}

function outAndReport({ out }: Pick<Io, "out">, report: RunIo["report"]): (line: string) => void {
  return (line) => {
    out(line);
    report({ is: "line", line });
  };
}

/**
 * A failed first start has created nothing of value and should not be listed as a cluster. But files that the error refers to are kept, and
 * so is a home with state on the machine, which it identifies. A directory of the user's choice may be the user's.
 */
async function forgetFailedFirst({ home, isUnused }: HeldHome, failure: unknown, { environment, log }: Io): Promise<void> {
  if (!isUnused || describeError(failure, false).includes(home.directory) || (await fileExists(home.runtimeDirectory))) return;
  const keepsDirectory = home.directory !== `${homesDirectory(environment)}/${home.name}`;
  await removeHome(home, { keepsDirectory }).catch((error: unknown) => log.debug("Cleaning up after a failed start failed", { error }));
}

interface RunIo extends Io {
  /** True if another process started this one and waits for it to become ready. */
  readonly isBehind: boolean;
  report(said: Report): void;
}

interface Running {
  readonly options: UpOptions;
  readonly held: HeldHome;
  readonly steps: Steps;
  readonly log: Logger;
  readonly io: RunIo;
}

async function runHere(options: UpOptions, held: HeldHome, io: RunIo): Promise<void> {
  await using owned = new Disposables();
  const { home } = held;
  if (!io.isBehind) rotateLogs(home.logFile);
  for (const part of LOGGED_COMPONENTS) rotateLogs(componentLog(home, part));
  const logFile = owned.use(openLogFile(home.logFile, formatHuman));
  const say = outAndReport(io, io.report);
  const out = (line: string): void => {
    say(line);
    // A background process already writes its output to the file.
    if (!io.isBehind) logFile.write(line);
  };
  const steps = reportSteps({ out, clock: io.clock });
  const running: Running = { options, held, steps, log: loggerFor(io, logFile), io: { ...io, out } };
  out(`k8ts ${version}: starting cluster "${home.name}" in ${home.directory}`);
  const record = await begin(running);
  const cluster = await startUnlessStopped(running, record);
  if (cluster === undefined) return;
  owned.defer(async () => {
    await steps.step("stopped cluster", async () => cluster[Symbol.asyncDispose]());
  });
  // The cluster never became ready, so it is not reported as such.
  if (io.signal.aborted) return;
  const ready = await introduce(running, cluster, record);
  cluster.onChange?.(() => {
    if (!io.signal.aborted)
      void held
        .writeRecord({ ...ready, parts: cluster.list })
        .catch((error: unknown) => running.log.warn("Writing the cluster record failed", { error }));
  });
  if (!io.signal.aborted) io.report({ is: "ready" });
  await waitForStop(io);
  out("Stopping; press Ctrl-C again to terminate immediately");
  await noteStopping(running, { ...ready, parts: cluster.list });
}

/** A full disk must not prevent a graceful stop. */
async function noteStopping({ held, log }: Running, record: ClusterRecord): Promise<void> {
  await held
    .writeRecord({ ...record, state: "stopping" })
    .catch((error: unknown) => log.warn("Writing the cluster record failed", { error }));
}

/** Undefined: cancelled during startup. Reported immediately, also to other processes. */
async function startUnlessStopped(running: Running, record: ClusterRecord): Promise<StartedCluster | undefined> {
  const { signal, out } = running.io;
  let noting: Promise<void> | undefined;
  const onStop = (): void => {
    out("Stopping during startup; press Ctrl-C again to terminate immediately");
    noting = noteStopping(running, record);
  };
  if (signal.aborted) onStop();
  signal.addEventListener("abort", onStop, { once: true });
  try {
    signal.throwIfAborted();
    return await start(running);
  } catch (error) {
    if (signal.aborted && error === signal.reason) return undefined;
    throw error;
  } finally {
    signal.removeEventListener("abort", onStop);
    await noting;
  }
}

function loggerFor(io: RunIo, logFile: LogFile): Logger {
  const level = io.environment["K8TS_DEBUG"] === "1" ? "debug" : "info";
  const toFile = createLogger({ sink: logFile.sink, clock: io.clock, level });
  return io.isBehind ? toFile : teeLogger(io.log, toFile);
}

/** Writes the first record, so that other processes see the start, and checks the clock before anything is written. */
async function begin({ held, io, steps, options }: Running): Promise<ClusterRecord> {
  const { home } = held;
  const { major, minor, patch } = KUBERNETES_VERSION;
  const record: ClusterRecord = {
    name: home.name,
    state: "starting",
    process: ourProcess(),
    version,
    kubernetesVersion: `v${major}.${minor}.${patch}`,
    mode: options.processes === undefined ? "one process" : "one process per component",
    isDetached: options.isDetached,
    since: new Date(io.clock.now()).toISOString(),
    logFile: home.logFile,
    runtimeDirectory: home.runtimeDirectory,
  };
  const verdict = await steps.quietly("checked clock", () => io.clock.external(checkClock(home, io.clock.now())));
  if (verdict.is === "wrong") throw new Error(`Cannot start with a wrong clock: ${verdict.why}`);
  if (verdict.is === "doubtful") steps.note(`  warning: ${verdict.why}`);
  const before = await io.clock.external(readRecord(home.record));
  if (before !== undefined)
    await steps.quietly("terminated processes of the previous run", () => io.clock.external(waitForOrphanedProcesses(before, io.clock)));
  await steps.quietly("wrote cluster record", () => io.clock.external(held.writeRecord(record)));
  return record;
}

async function start({ options, held, steps, log, io }: Running): Promise<StartedCluster> {
  const context = { held, environment: io.environment, steps, clock: io.clock, log, signal: io.signal };
  return listenOrExplain(placeOf(options), io, async () => {
    const { processes } = options;
    if (processes === undefined) return startCluster(options, context);
    // Loaded on demand.
    const { startProcesses } = await io.clock.external(import("./processes/start-processes.ts"));
    return startProcesses({ ...options, processes }, context);
  });
}

function placeOf({ listenFlags, apiServer: { serving } }: UpOptions): ListenPlace {
  return {
    address: serving.bindAddress,
    port: serving.securePort,
    addressFlag: listenFlags.address,
    portFlag: listenFlags.port,
    anotherPort: "--listen ADDRESS:PORT (port 0 picks a free port)",
  };
}

/** Announces the running cluster: kubeconfig, record, output. */
async function introduce(running: Running, cluster: StartedCluster, begun: ClusterRecord): Promise<ClusterRecord> {
  const { held, io, options } = running;
  const put = await mergeContext(running, cluster);
  const record: ClusterRecord = {
    ...begun,
    state: "running",
    context: put?.context ?? held.home.context,
    parts: cluster.list,
    ...(cluster.door === undefined ? {} : { server: cluster.door.url, adminKubeconfig: cluster.door.kubeconfig }),
    ...(put === undefined ? {} : { kubeconfig: put.kubeconfig }),
    ...(cluster.node === undefined ? {} : { node: cluster.node }),
  };
  await io.clock.external(held.writeRecord(record));
  for (const line of summary(record, cluster, running, put)) io.out(line);
  io.out(options.isDetached ? `"k8ts down${held.home.commandArguments}" stops it` : "Ctrl-C stops it");
  return record;
}

/** Undefined if none was written. A file that cannot be written does not prevent the start. */
async function mergeContext({ options, held, steps, io }: Running, { door }: StartedCluster): Promise<AddedContext | undefined> {
  const { kubeconfigs: files } = options;
  if (files.length === 0 || door === undefined) return undefined;
  const { clock, environment } = io;
  const entry = { server: door.url, authority: door.authority, ...door.admin };
  try {
    const put = await steps.step("wrote kubeconfig", () => clock.external(addContext(held.home, { files, entry, environment, clock })));
    for (const warning of put.warnings) steps.note(`  warning: ${warning}`);
    return put;
  } catch (error) {
    steps.note(`  warning: ${(error as Error).message}`);
    return undefined;
  }
}

function summary(
  record: ClusterRecord,
  cluster: StartedCluster,
  { held, options, io }: Running,
  put: AddedContext | undefined,
): readonly string[] {
  const isSimulated = options.simulatedNodes > 0 || cluster.simulatedBecause !== undefined;
  const podsAre = cluster.node !== undefined ? "containers" : isSimulated ? "simulated" : "nothing";
  const { kubeconfig, adminKubeconfig = "", parts = [] } = record;
  return [
    `k8ts ${version} is up (Kubernetes ${record.kubernetesVersion}):`,
    ...parts.map(({ name, description }) => `  ${name}: ${description}`),
    ...(cluster.simulatedBecause === undefined ? [] : [`Pods are simulated, no containers run: ${cluster.simulatedBecause}`]),
    `Not implemented yet: ${NOT_YET.join(", ")}`,
    ...(put?.isFoundByKubectl === true
      ? [`kubectl's current context is "${record.context}" (in ${kubeconfig})`]
      : [`export KUBECONFIG=${shellQuote(kubeconfig ?? adminKubeconfig)}`]),
    ...nextSteps({
      podsAre,
      commandArguments: held.home.commandArguments,
      hasKubectl: findOnPath("kubectl", io.environment["PATH"]) !== undefined,
      ...(isOwnRuntime(record, held) ? { presentImage: PAUSE_IMAGE } : {}),
    }),
  ];
}

/** Its sockets are in the cluster's runtime directory. */
function isOwnRuntime({ node }: ClusterRecord, { home }: HeldHome): boolean {
  return node?.runtimeEndpoint?.replace(/^unix:\/\//, "").startsWith(`${home.runtimeDirectory}/`) === true;
}
