/**
 * Lifecycle of what runs in a home, a cluster or a joined node, in this process: locking the home, progress output, the log file, the record
 * for other processes, running in the background, and the shutdown. Not here: what is started (run-cluster.ts, join/run-join.ts).
 */
import { deepEqual } from "../base/deep.ts";
import { Disposables } from "../base/disposables.ts";
import { createLogger, formatHuman, type Logger } from "../base/logger.ts";
import { version } from "../base/generated/version.ts";
import { KUBERNETES_VERSION } from "../apiserver/shared/kubernetes-version.ts";
import { fileExists } from "../host/files/files.ts";
import { openLogFile, rotateLogs, type LogFile } from "../host/files/rotating-log.ts";
import { parentReport, type SecretInput } from "../host/processes/detached-self.ts";
import { ourProcess } from "../host/processes/process-identity.ts";
import type { Io } from "../cli/framework/command.ts";
import { describeError } from "../cli/framework/dispatch.ts";
import { reportSteps, type Steps } from "../cli/framework/progress.ts";
import { teeLogger } from "../cli/framework/tee-logger.ts";
import { waitForStop } from "../cli/framework/wait-for-stop.ts";
import { checkClock } from "./clock-check.ts";
import { startInBackground, type Report } from "./detach.ts";
import { openHome, type HeldHome } from "./home/cluster-home.ts";
import { readRecord, type ClusterRecord, type RecordedPart } from "./home/cluster-record.ts";
import type { HomeChoice } from "./home/home-flags.ts";
import { componentLog, homesDirectory, LOGGED_COMPONENTS } from "./home/home-paths.ts";
import { removeHome } from "./home/remove-home.ts";
import { explainHomeError } from "./home/start-errors.ts";
import { removeIdleRuntimeDirectory } from "./machine/clean-up-machine.ts";
import { waitForOrphanedProcesses } from "./processes/orphaned-processes.ts";

/** What runs in the home. */
export interface StartedInHome extends AsyncDisposable {
  readonly list: readonly RecordedPart[];
  /** Called when an entry of the list changes. Absent: it never changes. */
  onChange?(listener: () => void): void;
}

export interface HomeProgram<Started extends StartedInHome> {
  readonly home: HomeChoice;
  readonly isDetached: boolean;
  readonly mode: ClusterRecord["mode"];
  /** For progress lines: "cluster", "node". */
  readonly noun: string;
  /** Part of the command line that a background process does not get in its own. */
  secret?(): Promise<SecretInput | undefined>;
  /** Rejects if the home belongs to something else. */
  check(held: HeldHome): Promise<void>;
  start(running: RunningHome): Promise<Started>;
  /** Announces it. Resolves with the record of the running state. */
  introduce(running: RunningHome, started: Started, begun: ClusterRecord): Promise<ClusterRecord>;
}

export interface RunningHome {
  readonly held: HeldHome;
  readonly steps: Steps;
  readonly log: Logger;
  readonly io: RunIo;
}

export interface RunIo extends Io {
  /** True if another process started this one and waits for it to become ready. */
  readonly isBehind: boolean;
  report(said: Report): void;
}

/** Runs until cancelled; in the background, until the background process is ready. */
export async function runInHome<Started extends StartedInHome>(program: HomeProgram<Started>, io: Io): Promise<void> {
  const reportToParent = parentReport();
  if (program.isDetached && reportToParent === undefined)
    return startInBackground({ home: program.home, secret: await io.clock.external(Promise.resolve(program.secret?.())) }, io);
  const report = (said: Report): void => reportToParent?.(JSON.stringify(said));
  const steps = reportSteps({ out: outAndReport(io, report), clock: io.clock });
  let hasHome = false;
  try {
    await using owned = new Disposables();
    const open = () => io.clock.external(openHome(program.home, io.environment));
    const held = owned.use(await steps.quietly("locked data directory", open));
    hasHome = true;
    await program.check(held);
    let failure: unknown;
    owned.defer(async () => {
      await io.clock.external(removeIdleRuntimeDirectory(held.home, io.clock));
      if (failure !== undefined) await io.clock.external(forgetFailedFirst(held, failure, io));
    });
    await runHere(program, held, { ...io, isBehind: reportToParent !== undefined, report }).catch((error: unknown) => {
      failure = explainHomeError(error, program.home.directory);
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

async function runHere<Started extends StartedInHome>(program: HomeProgram<Started>, held: HeldHome, io: RunIo): Promise<void> {
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
  const running: RunningHome = { held, steps, log: loggerFor(io, logFile), io: { ...io, out } };
  out(`k8ts ${version}: starting ${program.noun} "${home.name}" in ${home.directory}`);
  const record = await begin(program, running);
  const started = await startUnlessStopped(program, running, record);
  if (started === undefined) return;
  owned.defer(async () => {
    await steps.step(`stopped ${program.noun}`, async () => started[Symbol.asyncDispose]());
  });
  // It never became ready, so it is not reported as such.
  if (io.signal.aborted) return;
  const ready = await program.introduce(running, started, record);
  const recorded = recordChanges(running, started, ready);
  if (!io.signal.aborted) {
    io.report({ is: "ready" });
    io.started?.(codeParts(ready));
  }
  await waitForStop(io);
  out("Stopping; press Ctrl-C again to terminate immediately");
  await recorded();
  await noteStopping(running, { ...ready, parts: started.list });
}

/** Names what decides which parts of the program a start uses. */
function codeParts({ mode, node, parts = [] }: ClusterRecord): readonly string[] {
  return [mode, ...parts.map(({ name }) => name), ...(node?.runtimeEndpoint === undefined ? [] : ["containers"])];
}

/** Writes the record again after each change of a component, one write at a time. The result resolves when none is under way. */
function recordChanges({ held, io, log }: RunningHome, started: StartedInHome, ready: ClusterRecord): () => Promise<void> {
  let writing = Promise.resolve();
  const write = async (): Promise<void> => {
    if (io.signal.aborted) return;
    await held
      .writeRecord({ ...ready, parts: started.list })
      .catch((error: unknown) => log.warn("Writing the cluster record failed", { error }));
  };
  const change = (): void => void (writing = writing.then(write));
  started.onChange?.(change);
  // It may have changed while it was introduced.
  if (!deepEqual(started.list, ready.parts)) change();
  return () => writing;
}

/** A full disk must not prevent a graceful stop. */
async function noteStopping({ held, log }: RunningHome, record: ClusterRecord): Promise<void> {
  await held
    .writeRecord({ ...record, state: "stopping" })
    .catch((error: unknown) => log.warn("Writing the cluster record failed", { error }));
}

/** Undefined: cancelled during startup. Reported immediately, also to other processes. */
async function startUnlessStopped<Started extends StartedInHome>(
  program: HomeProgram<Started>,
  running: RunningHome,
  record: ClusterRecord,
): Promise<Started | undefined> {
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
    return await program.start(running);
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
async function begin({ mode, isDetached }: HomeProgram<StartedInHome>, { held, io, steps }: RunningHome): Promise<ClusterRecord> {
  const { home } = held;
  const { major, minor, patch } = KUBERNETES_VERSION;
  const record: ClusterRecord = {
    name: home.name,
    state: "starting",
    process: ourProcess(),
    version,
    kubernetesVersion: `v${major}.${minor}.${patch}`,
    ...{ mode, isDetached },
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
