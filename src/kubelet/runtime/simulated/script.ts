/**
 * What one container of a simulated Pod will do, in plain numbers. `stateAt` (state.ts) plays it; it never changes while it is played.
 * Whatever somebody may write to say so, in annotations and options, is read by settings.ts; what was left out is decided here.
 */
import type { ExecScript, ImagePull, Settings, Span } from "./settings.ts";

export interface ContainerScript {
  /** How long starting it takes. */
  readonly startAfterMs: number;
  /** How long its startup lasts, counted from its start, as every moment below. */
  readonly startedAfterMs: number;
  /** When it is not ready: apart from each other, in order. */
  readonly unready: readonly Span[];
  /** Undefined: it runs for ever. */
  readonly ending: Ending | undefined;
  /** Its first attempts end like this, whatever `ending` says. */
  readonly failures: { readonly times: number; readonly ending: Ending } | undefined;
  /** How long it needs to end once it is asked to. */
  readonly stopTakesMs: number;
  /** Of one that ended because it was asked to. */
  readonly stopExitCode: number;
  readonly imagePull: ImagePull;
  readonly log: LogScript;
  /** By the words of the command with one space between them; "*" stands for every other. */
  readonly exec: ReadonlyMap<string, ExecScript>;
}

export interface Ending {
  readonly afterMs: number;
  readonly exitCode: number;
  readonly reason: string;
  readonly message: string | undefined;
}

export interface LogScript {
  readonly lines: readonly string[];
  /** From one line to the next; the first comes with the start. */
  readonly everyMs: number;
  /** After the last line the first comes again. */
  readonly repeats: boolean;
}

/** What a program exits with that the kernel killed for its memory, or that did not end in time. */
export const KILLED_EXIT_CODE = 128 + 9;

/** What a program exits with that does nothing about SIGTERM and so dies of it. */
const TERMINATED_EXIT_CODE = 128 + 15;

/** The log of a container of which no log was described, so that nobody looks for output that a program would have written. */
export const SIMULATED_LOG_LINE =
  "This container is simulated: no program runs in it. The annotation simulated.k8ts.dev/logs sets what it logs.";

const NO_LOG: readonly string[] = [SIMULATED_LOG_LINE];

const NO_COMMANDS: ReadonlyMap<string, ExecScript> = new Map();

/** Of a container about which nothing was said: its image is there, it starts and is ready at once, and runs for ever. */
export const DEFAULT_SCRIPT = scriptOf({});

/** Of an init container about which nothing was said: others wait for its end. */
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
    exec: settings.exec ?? NO_COMMANDS,
  };
}

/** What comes before its startup is over and before it is first ready counts as well; what touches is one. */
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

/** Who says how it ends but not when means at once. */
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

/** As runtimes call the end of a program of which they know nothing but its exit code. */
export function reasonOf(exitCode: number): string {
  return exitCode === 0 ? "Completed" : "Error";
}
