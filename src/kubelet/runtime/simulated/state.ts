/**
 * The state of a scripted container at a given time: a pure function of the script, the start and the attempt. Nothing else is stored of a
 * running container, so a restarted driver or a forked cluster continues exactly where it was.
 */
import type { LogLine, RuntimeContainerState } from "../../contracts/runtime.ts";
import { KILLED_EXIT_CODE, reasonOf, type ContainerScript, type LogScript } from "./script.ts";

/** Operations on a started container. */
export interface Life {
  readonly startedAtMs: number;
  readonly attempt: number;
  /** Since SIGTERM. */
  readonly stop?: Stop;
  /** Of a container that exited before this driver started, other than its script defines. */
  readonly ended?: Ended;
}

export interface Stop {
  readonly requestedAtMs: number;
  /** End of the grace period. The same instant: killed without SIGTERM. */
  readonly killAtMs: number;
}

export interface Ended {
  readonly atMs: number;
  readonly exitCode: number;
  readonly reason: string;
  readonly message?: string | undefined;
}

export interface Observation {
  readonly state: RuntimeContainerState;
  readonly started: boolean;
  readonly ready: boolean;
  /** Number of lines written. */
  readonly logLines: number;
  /** The next time at which state, started or ready differ; undefined: never, unless it is stopped. */
  readonly nextChangeAtMs: number | undefined;
}

export function stateAt(script: ContainerScript, life: Life, nowMs: number): Observation {
  const { startedAtMs } = life;
  const end = endOf(script, life);
  const logLines = lineCount(script.log, Math.min(nowMs, end?.atMs ?? Infinity) - startedAtMs);
  if (end !== undefined && end.atMs <= nowMs) {
    return { state: exited(startedAtMs, end), started: false, ready: false, logLines, nextChangeAtMs: undefined };
  }
  const ranForMs = nowMs - startedAtMs;
  return {
    state: { is: "running", startedAtMs },
    started: ranForMs >= script.startedAfterMs,
    ready: !script.unready.some(({ fromMs, toMs }) => fromMs <= ranForMs && ranForMs < toMs),
    logLines,
    nextChangeAtMs: nextChange(script, life, nowMs, end),
  };
}

/** Time and kind of its exit as known now; undefined: it runs forever. */
export function endOf(script: ContainerScript, { startedAtMs, attempt, stop, ended }: Life): Ended | undefined {
  if (ended !== undefined) return ended;
  const { failures } = script;
  const ending = failures !== undefined && attempt < failures.times ? failures.ending : script.ending;
  const byItself = ending && { ...ending, atMs: startedAtMs + ending.afterMs };
  const byOthers = stop && stopped(script, stop);
  if (byItself === undefined || byOthers === undefined) return byItself ?? byOthers;
  return byItself.atMs <= byOthers.atMs ? byItself : byOthers;
}

function stopped({ stopTakesMs, stopExitCode }: ContainerScript, { requestedAtMs, killAtMs }: Stop): Ended {
  const endsAtMs = requestedAtMs + stopTakesMs;
  if (killAtMs > requestedAtMs && endsAtMs <= killAtMs) return { atMs: endsAtMs, exitCode: stopExitCode, reason: reasonOf(stopExitCode) };
  return { atMs: killAtMs, exitCode: KILLED_EXIT_CODE, reason: reasonOf(KILLED_EXIT_CODE) };
}

function exited(startedAtMs: number, { atMs, exitCode, reason, message }: Ended): RuntimeContainerState {
  return { is: "exited", startedAtMs, finishedAtMs: atMs, exitCode, reason, ...(message !== undefined && { message }) };
}

function nextChange(script: ContainerScript, life: Life, nowMs: number, end: Ended | undefined): number | undefined {
  let nextMs = end?.atMs ?? Infinity;
  const consider = (afterMs: number): void => {
    const atMs = life.startedAtMs + afterMs;
    if (atMs > nowMs && atMs < nextMs) nextMs = atMs;
  };
  consider(script.startedAfterMs);
  for (const { fromMs, toMs } of script.unready) {
    consider(fromMs);
    consider(toMs);
  }
  return nextMs === Infinity ? undefined : nextMs;
}

function lineCount({ lines, everyMs, repeats }: LogScript, ranForMs: number): number {
  if (lines.length === 0 || ranForMs < 0) return 0;
  if (everyMs === 0) return lines.length;
  const due = Math.floor(ranForMs / everyMs) + 1;
  return repeats ? due : Math.min(due, lines.length);
}

/** The line with this number, counted from 0; undefined if none exists, however long it runs. */
export function logLine({ lines, everyMs, repeats }: LogScript, startedAtMs: number, index: number): LogLine | undefined {
  const text = lines[repeats ? index % lines.length : index];
  return text === undefined ? undefined : { atMs: startedAtMs + index * everyMs, stream: "stdout", text };
}
