/**
 * Stops random processes of a test run with SIGSTOP for up to 2.5 s and resumes them, as a busy machine does. A test that fails under it
 * depends on timing. Every process of a run carries the run's identifier in its environment, detached ones included.
 */
import { readdirSync, readFileSync } from "node:fs";
import { pick, seededRandom } from "../../src/base/random.ts";

/** Environment variable with the identifier of the run. */
export const RUN_VARIABLE = "K8TS_TEST_RUN";

/** Pause between two stops: two to three stops per second, several processes at the same time. */
const INTERVAL_MS = 400;

/** Longer than most tests expect to wait for a reaction, shorter than leases and the timeouts of clients. */
export const STOP_MS_MAX = 2_500;

export interface Disturbance {
  /** Number of times a process was stopped. */
  readonly stops: number;
  /** Resumes every stopped process. */
  end(): void;
}

export function startDisturbance(runId: string, seed: number): Disturbance {
  const random = seededRandom(seed);
  const stopped = new Map<number, NodeJS.Timeout>();
  let stops = 0;
  const letContinue = (pid: number) => {
    clearTimeout(stopped.get(pid));
    stopped.delete(pid);
    signal(pid, "SIGCONT");
  };
  const interval = setInterval(() => {
    const candidates = processesOf(runId).filter((pid) => !stopped.has(pid));
    if (candidates.length === 0) return;
    const victim = pick(random, candidates);
    if (!signal(victim, "SIGSTOP")) return;
    stops++;
    stopped.set(
      victim,
      setTimeout(() => letContinue(victim), random.fraction() * STOP_MS_MAX),
    );
  }, INTERVAL_MS);
  return {
    get stops() {
      return stops;
    },
    end: () => {
      clearInterval(interval);
      for (const pid of [...stopped.keys()]) letContinue(pid);
    },
  };
}

/** Processes whose environment carries the run's identifier. */
function processesOf(runId: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && environmentOf(name).includes(`\0${RUN_VARIABLE}=${runId}\0`))
    .map(Number);
}

/** With a NUL before the first variable and after the last; "" if the process has ended or belongs to another user. */
function environmentOf(pid: string): string {
  try {
    return `\0${readFileSync(`/proc/${pid}/environ`, "latin1")}\0`;
  } catch {
    return "";
  }
}

/** False if the process has ended. */
function signal(pid: number, name: NodeJS.Signals): boolean {
  try {
    process.kill(pid, name);
    return true;
  } catch {
    return false;
  }
}
