/**
 * A cluster in the background: this program is started once more, which does what it would do in front, and tells us line by line until it
 * is ready. Then we leave, and it stays. What is said here goes through a pipe as JSON, one thing a line.
 */
import { fileExists, readTail } from "../host/files/files.ts";
import { startSelfDetached, type DetachedSelf } from "../host/processes/detached-self.ts";
import { rotateLogs } from "../host/files/rotating-log.ts";
import type { Io } from "../cli/framework/command.ts";
import { ProgramEnded } from "../cli/framework/program-exited.ts";
import { checkNotRunning, prepareHome, type ClusterHome } from "./home/cluster-home.ts";
import { markStart, unmarkStart } from "./background-start.ts";
import { explainHomeError } from "./home/start-errors.ts";
import { reportSteps } from "../cli/framework/progress.ts";
import type { UpOptions } from "./up-options.ts";

/** What the one behind tells the one in front. */
export type Report =
  | { readonly is: "line"; readonly line: string }
  | { readonly is: "ready" }
  /** It will end. In the words in which the one in front would have said it. Without the home, the log is another's. */
  | { readonly is: "failed"; readonly error: string; readonly hasHome: boolean };

/** Enough to see why a program fell that said nothing. */
const LOG_TAIL_BYTES = 2_000;

export async function startInBackground(options: UpOptions, io: Io): Promise<void> {
  const home = await prepareHome(options.home, io.environment);
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
  const child = await startBehind(home, onReport);
  const interrupted = new Promise<"interrupted">((resolve) => {
    if (io.signal.aborted) resolve("interrupted");
    io.signal.addEventListener("abort", () => resolve("interrupted"), { once: true });
  });
  // From its first word on it says itself what it waits for.
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
  // That of a first start that failed is gone again, with all that it made.
  if (failure?.hasHome !== false && (await fileExists(home.logFile))) io.note(`  log file: ${home.logFile}`);
  throw new ProgramEnded(outcome === 0 ? 1 : outcome);
}

async function startBehind(home: ClusterHome, onReport: (text: string) => void): Promise<DetachedSelf> {
  try {
    await checkNotRunning(home);
    rotateLogs(home.logFile);
    const child = await startSelfDetached({ logFile: home.logFile, onReport });
    // What keeps us from writing that keeps the one behind from it, too, which says so.
    await markStart(home, child.pid).catch(() => undefined);
    return child;
  } catch (error) {
    throw explainHomeError(error, home.directory);
  }
}

type Failure = Extract<Report, { readonly is: "failed" }>;

/** Of one that has told of no failure: nobody but who asks it to stop makes it end well before it is ready. */
async function endedText({ name, logFile }: ClusterHome, code: number): Promise<string> {
  if (code === 0) return `Error: Cluster "${name}" was stopped during startup`;
  return `Error: The cluster exited during startup; the end of its log:\n${await lastWords(logFile)}`;
}

async function lastWords(logFile: string): Promise<string> {
  return (await readTail(logFile, LOG_TAIL_BYTES)).toString("utf8").trimEnd();
}
