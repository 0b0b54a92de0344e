/**
 * Runs a cluster in the background: starts this program again, which reports its progress line by line until it is ready. Then this process
 * exits. The messages are JSON, one per line, through a pipe.
 */
import { fileExists, readTail } from "../host/files/files.ts";
import { startSelfDetached, type DetachedSelf, type SecretInput } from "../host/processes/detached-self.ts";
import { rotateLogs } from "../host/files/rotating-log.ts";
import type { Io } from "../cli/framework/command.ts";
import { ProgramEnded } from "../cli/framework/program-exited.ts";
import { checkNotRunning, prepareHome, type ClusterHome } from "./home/cluster-home.ts";
import { markStart, unmarkStart } from "./background-start.ts";
import { explainHomeError } from "./home/start-errors.ts";
import { reportSteps } from "../cli/framework/progress.ts";
import type { HomeChoice } from "./home/home-flags.ts";

/** Messages from the background process. */
export type Report =
  | { readonly is: "line"; readonly line: string }
  | { readonly is: "ready" }
  /** It will exit. The error as the foreground process prints it. Without the home, the log belongs to another cluster. */
  | { readonly is: "failed"; readonly error: string; readonly hasHome: boolean };

/** Number of last log lines printed if the process exited without an error message. */
const LOG_TAIL_BYTES = 2_000;

export interface BackgroundOptions {
  readonly home: HomeChoice;
  /** Part of its command line that other users of the machine must not see. */
  readonly secret?: SecretInput | undefined;
}

export async function startInBackground({ home: choice, secret }: BackgroundOptions, io: Io): Promise<void> {
  const home = await prepareHome(choice, io.environment);
  const words = home.commandArguments;
  let [hasBegun, isReady] = [() => {}, () => {}];
  const begun = new Promise<"begun">((resolve) => (hasBegun = () => resolve("begun")));
  const ready = new Promise<"ready">((resolve) => (isReady = () => resolve("ready")));
  let failure: Failure | undefined;
  const onReport = (text: string): void => {
    hasBegun();
    const report = JSON.parse(text) as Report;
    if (report.is === "line") io.out(report.line);
    else if (report.is === "ready") isReady();
    else failure = report;
  };
  const child = await startBehind(home, onReport, secret);
  const interrupted = new Promise<"interrupted">((resolve) => {
    if (io.signal.aborted) resolve("interrupted");
    io.signal.addEventListener("abort", () => resolve("interrupted"), { once: true });
  });
  // From its first message on the background process reports what it waits for.
  const toBegin = () => io.clock.external(Promise.race([begun, child.ended, interrupted]));
  await reportSteps(io).quietly(`started background process ${child.pid}`, toBegin);
  const outcome = await io.clock.external(Promise.race([ready, child.ended, interrupted]));
  child.letGo();
  if (outcome === "interrupted")
    return io.out(
      `Still starting in the background as process ${child.pid}; "k8ts status${words}" shows its state, "k8ts down${words}" stops it`,
    );
  await unmarkStart(home);
  if (outcome === "ready") return io.out(`Running in the background as process ${child.pid}; "k8ts logs${words} -f" follows its log`);
  io.note(failure?.error ?? (await endedText(home, outcome)));
  // After a failed first start the log is deleted with the home.
  if (failure?.hasHome !== false && (await fileExists(home.logFile))) io.note(`  log file: ${home.logFile}`);
  throw new ProgramEnded(outcome === 0 ? 1 : outcome);
}

async function startBehind(home: ClusterHome, onReport: (text: string) => void, secret: SecretInput | undefined): Promise<DetachedSelf> {
  try {
    await checkNotRunning(home);
    rotateLogs(home.logFile);
    const child = await startSelfDetached({ logFile: home.logFile, onReport, ...(secret === undefined ? {} : { secret }) });
    // If the mark cannot be written, the background process cannot write either, and reports it.
    await markStart(home, child.pid).catch(() => undefined);
    return child;
  } catch (error) {
    throw explainHomeError(error, home.directory);
  }
}

type Failure = Extract<Report, { readonly is: "failed" }>;

/** Without a reported failure only a stop request lets it exit with 0 before it is ready. */
async function endedText({ name, logFile }: ClusterHome, code: number): Promise<string> {
  if (code === 0) return `Error: Cluster "${name}" was stopped during startup`;
  return `Error: The cluster exited during startup; the end of its log:\n${await lastWords(logFile)}`;
}

async function lastWords(logFile: string): Promise<string> {
  return (await readTail(logFile, LOG_TAIL_BYTES)).toString("utf8").trimEnd();
}
