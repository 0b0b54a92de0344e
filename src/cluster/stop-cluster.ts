/**
 * Stops a local cluster from outside, in any state: requests its process to stop, kills it after a timeout, and cleans up the machine.
 * Idempotent; a stop that is already in progress is awaited. The data is kept.
 */
import { fileExists, makePrivateDirectory } from "../host/files/files.ts";
import { livingHolder } from "../host/files/directory-lock.ts";
import { waitForProcessExit, signalProcess } from "../host/processes/detached-program.ts";
import type { ProcessMark } from "../host/processes/process-identity.ts";
import type { Io } from "../cli/framework/command.ts";
import { waitForOrphanedProcesses } from "./processes/orphaned-processes.ts";
import { STOP_REQUEST } from "../cli/framework/signals.ts";
import { cleanUpMachine, hasRunContainers } from "./machine/clean-up-machine.ts";
import type { ClusterHome } from "./home/cluster-home.ts";
import { removeRecord } from "./home/cluster-record.ts";
import { isBeingStarted, unmarkStart } from "./background-start.ts";
import { reportSteps, type Steps } from "../cli/framework/progress.ts";
import { LET_GO_WITHIN_MS, lockWithRetry } from "./home/lock-with-retry.ts";
import { findRunningProcess, type Seen } from "./home/find-running-process.ts";
import { explainHomeError } from "./home/start-errors.ts";

/** A killed process can take long to exit while the disk is slow; after this time it is stuck in the kernel. */
const KILLED_WITHIN_MS = 30_000;

/** Time from process start to record on a slow machine. */
const RECORDED_WITHIN_MS = 10_000;
const LOOK_AGAIN_MS = 20;

const UNDER_WAY = "The cluster is already starting or stopping; waiting for that";

export interface StopOptions {
  /** Timeout of a graceful stop. */
  readonly timeoutMs: number;
  /** The cluster is deleted: its state is also removed from a runtime that k8ts does not manage. */
  readonly isForGood?: boolean;
}

export async function stopCluster(home: ClusterHome, options: StopOptions, io: Io): Promise<void> {
  try {
    await stopAndClean(home, options, io);
  } catch (error) {
    throw explainHomeError(error, home.directory, { action: `clean up after cluster "${home.name}"` });
  }
}

async function stopAndClean(home: ClusterHome, { timeoutMs, isForGood = false }: StopOptions, io: Io): Promise<void> {
  const steps = reportSteps(io);
  const { record, process } = await settled(home, io);
  if (process !== undefined)
    await endProcess({ name: home.name, process, isStopping: record?.state === "stopping" }, { timeoutMs }, steps, io);
  // A home from before there were records has no such directory.
  await makePrivateDirectory(home.runDirectory);
  const attempt = await lockWithRetry(home.runDirectory, { withinMs: Math.max(LET_GO_WITHIN_MS, timeoutMs), clock: io.clock });
  if (!("lock" in attempt))
    throw new Error(
      `Cannot clean up after cluster "${home.name}": ${attempt.heldBy} holds the lock of ${home.directory}; stop that process first`,
    );
  try {
    // A corrupt record with a holder of the lock is a running cluster, which this is not.
    if (record === undefined) await removeRecord(home.record);
    else await io.clock.external(waitForOrphanedProcesses(record, io.clock));
    await io.clock.external(endPods(home, steps, io));
    const nodes = await io.clock.external(cleanUpFurtherNodes(home, io));
    const left = await io.clock.external(leaveRuntime(home, isForGood, io));
    const removed = [...nodes, ...(await io.clock.external(cleanUpMachine(home, io.clock))), ...left];
    await removeRecord(home.record);
    await unmarkStart(home);
    if (removed.length > 0) io.out(`Cleaned up: ${removed.join(", ")}`);
    else if (process === undefined)
      io.out(`Nothing is running: cluster "${home.name}" is stopped${record === undefined ? "" : " (its process was killed)"}`);
  } finally {
    await attempt.lock.release();
  }
}

/**
 * Observes the home after the record of a start in progress has appeared: before that, the start has only the lock or a mark. There is no
 * event for it. A holder of the lock that writes no record is reported when the lock is requested.
 */
async function settled(home: ClusterHome, { clock, out }: Io): Promise<Seen> {
  const giveUpAtMs = clock.monotonic() + RECORDED_WITHIN_MS;
  for (let isReported = false; ; isReported = true) {
    const seen = await findRunningProcess(home);
    if (seen.process !== undefined) return seen;
    const isUnderWay = (await isBeingStarted(home)) || livingHolder(home.runDirectory) !== undefined;
    if (!isUnderWay || clock.monotonic() >= giveUpAtMs) return seen;
    if (!isReported) out(UNDER_WAY);
    await clock.sleep(LOOK_AGAIN_MS);
  }
}

/** The record of a killed cluster. A graceful stop leaves none. */
async function endPods(home: ClusterHome, steps: Steps, { environment, clock, log }: Io): Promise<void> {
  const { runtimeDirectory } = home;
  if (runtimeDirectory === undefined || !(await hasRunContainers(home))) return;
  const { stopOrphanedPods: stopAbandonedPods } = await import("./machine/orphaned-pods.ts");
  await stopAbandonedPods({ home: { ...home, runtimeDirectory }, environment, steps, clock, log });
}

/** Those of the cluster on this machine besides the first. */
async function cleanUpFurtherNodes(home: ClusterHome, { environment, clock }: Io): Promise<readonly string[]> {
  if (!(await fileExists(home.nodesDirectory))) return [];
  const { cleanUpNodes } = await import("./nodes/clean-up-nodes.ts");
  return cleanUpNodes(home, { environment, clock });
}

/** State in its own runtime is deleted with its files; in another one only exited containers remain, which are removed with the cluster. */
async function leaveRuntime(home: ClusterHome, isForGood: boolean, { environment, clock, log }: Io): Promise<readonly string[]> {
  if (!(await hasRunContainers(home))) return [];
  const { leaveForeignRuntime } = await import("./machine/foreign-runtime.ts");
  return leaveForeignRuntime({ home, environment, clock, log }, { isForGood });
}

interface Ended {
  readonly name: string;
  readonly process: ProcessMark;
  /** It was already requested to stop. */
  readonly isStopping: boolean;
}

async function endProcess(ended: Ended, { timeoutMs }: StopOptions, steps: Steps, { clock, note }: Io): Promise<void> {
  const { name, process, isStopping } = ended;
  if (isStopping) steps.note(`Process ${process.pid} is already stopping; waiting for it`);
  await steps.step(`stopped process ${process.pid}`, async () => {
    ask(name, process);
    if (await waitForProcessExit(process, { timeoutMs, clock })) return;
    note(`Process ${process.pid} did not stop within ${timeoutMs / 1_000} s; sending SIGKILL`);
    signalProcess(process, "SIGKILL");
    if (!(await waitForProcessExit(process, { timeoutMs: KILLED_WITHIN_MS, clock })))
      throw new Error(`Cannot stop process ${process.pid}: it is still running ${KILLED_WITHIN_MS / 1_000} s after SIGKILL`);
  });
}

/** Can be repeated: unlike a second Ctrl-C, it does not terminate the process. */
function ask(name: string, process: ProcessMark): void {
  try {
    signalProcess(process, STOP_REQUEST);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EPERM") throw error;
    const advice = "run this as that user, or with sudo";
    throw new Error(`Cannot stop cluster "${name}": process ${process.pid} belongs to another user; ${advice}`, { cause: error });
  }
}
