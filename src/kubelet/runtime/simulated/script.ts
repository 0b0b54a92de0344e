/**
 * The script of one container of a simulated Pod, in plain numbers. `stateAt` (state.ts) evaluates it; it does not change during a run.
 * Annotations and options are parsed by settings.ts; defaults are decided here.
 */
import type { ExecScript, ImagePull, Settings, Span } from "./settings.ts";
import { IDLE_CPU, IDLE_MEMORY, type UsageSteps } from "./usage.ts";

export interface ContainerScript {
  /** Duration of its start. */
  readonly startAfterMs: number;
  /** Duration of its startup, from its start, as every time below. */
  readonly startedAfterMs: number;
  /** Intervals in which it is not ready: disjoint, in order. */
  readonly unready: readonly Span[];
  /** Undefined: it runs forever. */
  readonly ending: Ending | undefined;
  /** Its first attempts exit like this, regardless of `ending`. */
  readonly failures: { readonly times: number; readonly ending: Ending } | undefined;
  /** Time between SIGTERM and its exit. */
  readonly stopTakesMs: number;
  /** Exit code after SIGTERM. */
  readonly stopExitCode: number;
  readonly imagePull: ImagePull;
  readonly log: LogScript;
  readonly usage: UsageScript;
  /** By the words of the command, separated by one space; "*" is the default. */
  readonly exec: ReadonlyMap<string, ExecScript>;
}

export interface Ending {
  readonly afterMs: number;
  readonly exitCode: number;
  readonly reason: string;
  readonly message: string | undefined;
}

export interface UsageScript {
  readonly cpuNanocores: UsageSteps;
  readonly memoryBytes: UsageSteps;
}

export interface LogScript {
  readonly lines: readonly string[];
  /** Between two lines; the first is written at the start. */
  readonly everyMs: number;
  /** After the last line the first follows again. */
  readonly repeats: boolean;
}

/** Exit code of a program killed by SIGKILL: out of memory, or at the end of the grace period. */
export const KILLED_EXIT_CODE = 128 + 9;

/** Exit code of a program that does not handle SIGTERM. */
const TERMINATED_EXIT_CODE = 128 + 15;

/** Log of a container without a configured log, so that users do not search for the output of a program. */
export const SIMULATED_LOG_LINE =
  "This container is simulated: no program runs in it. The annotation simulated.k8ts.dev/logs sets what it logs.";

const NO_LOG: readonly string[] = [SIMULATED_LOG_LINE];

const NO_COMMANDS: ReadonlyMap<string, ExecScript> = new Map();

/** Script of a container without settings: its image is present, it starts and is ready at once, and runs forever. */
export const DEFAULT_SCRIPT = scriptOf({});

/** Script of an init container without settings: others wait for its exit. */
export const DEFAULT_INIT_SCRIPT = scriptOf({ runForMs: 0 });

export function scriptOf(settings: Settings): ContainerScript {
  return {
    startAfterMs: settings.startAfterMs ?? 0,
    startedAfterMs: settings.startedAfterMs ?? 0,
    unready: unreadySpans(settings),
    ending: endingOf(settings),
    failures: failuresOf(settings),
    stopTakesMs: settings.stopTakesMs ?? 0,
    stopExitCode: settings.stopExitCode ?? TERMINATED_EXIT_CODE,
    imagePull: settings.imagePull ?? { is: "takes", durationMs: 0 },
    log: { lines: settings.logs ?? NO_LOG, everyMs: settings.logEveryMs ?? 0, repeats: settings.logRepeat ?? false },
    usage: { cpuNanocores: settings.cpuNanocores ?? IDLE_CPU, memoryBytes: settings.memoryBytes ?? IDLE_MEMORY },
    exec: settings.exec ?? NO_COMMANDS,
  };
}

/** The time before its startup is over and before it is first ready counts as well; adjacent intervals are merged. */
function unreadySpans({ startedAfterMs = 0, readyAfterMs = 0, unready = [] }: Settings): readonly Span[] {
  const readyAtMs = Math.max(startedAfterMs, readyAfterMs);
  const spans = readyAtMs > 0 ? [{ fromMs: 0, toMs: readyAtMs }, ...unready] : [...unready];
  const apart: Span[] = [];
  for (const span of spans.toSorted((a, b) => a.fromMs - b.fromMs)) {
    const last = apart.at(-1);
    if (last === undefined || span.fromMs > last.toMs) apart.push(span);
    else apart[apart.length - 1] = { fromMs: last.fromMs, toMs: Math.max(last.toMs, span.toMs) };
  }
  return apart;
}

/** An exit without a time happens at once. */
function endingOf({ runForMs, exitCode, exitReason, exitMessage }: Settings): Ending | undefined {
  const isSilent = exitCode === undefined && exitReason === undefined && exitMessage === undefined;
  if (runForMs === undefined && isSilent) return undefined;
  return endingAs(exitCode ?? (exitReason === "OOMKilled" ? KILLED_EXIT_CODE : 0), runForMs ?? 0, { exitReason, exitMessage });
}

function failuresOf({ failTimes = 0, failAfterMs = 0, failExitCode = 1 }: Settings): ContainerScript["failures"] {
  return failTimes === 0 ? undefined : { times: failTimes, ending: endingAs(failExitCode, failAfterMs, {}) };
}

function endingAs(exitCode: number, afterMs: number, { exitReason, exitMessage }: Pick<Settings, "exitReason" | "exitMessage">): Ending {
  return { afterMs, exitCode, reason: exitReason ?? reasonOf(exitCode), message: exitMessage };
}

/** Reason that runtimes report for an exit of which only the exit code is known. */
export function reasonOf(exitCode: number): string {
  return exitCode === 0 ? "Completed" : "Error";
}
