/**
 * Reports progress: one line per completed step with its duration, and a line in between if a step takes long. The output is the same with
 * and without a terminal. A step that fails prints nothing: its error is reported by the caller.
 */
import type { Clock } from "../../base/clock.ts";

export interface Steps {
  /** `name` is what was done: "opened store". */
  step<T>(name: string, work: () => Promise<T>): Promise<T>;
  /** The same for steps that are usually instant: a line is printed only while waiting, and none at completion. */
  quietly<T>(name: string, work: () => Promise<T>): Promise<T>;
  /** Prints one line between steps. */
  note(line: string): void;
}

/** Discards all progress. */
export const silentSteps: Steps = { step: (_name, work) => work(), quietly: (_name, work) => work(), note: () => {} };

/** Width of the longest step name. */
const NAME_WIDTH = 28;
const TIME_WIDTH = 8;

/** First waiting line after this time; the interval then doubles. */
const WONDERING_MS = 3_000;

export function reportSteps({ out, clock }: { out(line: string): void; readonly clock: Clock }): Steps {
  return {
    note: out,
    quietly: (name, work) => reportingWhile(name, work, () => {}),
    step: (name, work) => reportingWhile(name, work, (durationMs) => out(stepLine(name, durationMs))),
  };

  async function reportingWhile<T>(name: string, work: () => Promise<T>, onDone: (durationMs: number) => void): Promise<T> {
    const startMs = clock.monotonic();
    const elapsedMs = (): number => clock.monotonic() - startMs;
    const done = new AbortController();
    const reporting = reportWhile(name, done.signal, elapsedMs);
    try {
      const result = await work();
      onDone(elapsedMs());
      return result;
    } finally {
      done.abort();
      await reporting;
    }
  }

  async function reportWhile(name: string, done: AbortSignal, elapsedMs: () => number): Promise<void> {
    try {
      for (let waitMs = WONDERING_MS; ; waitMs *= 2) {
        await clock.sleep(waitMs, done);
        out(`  still waiting for: ${subjectOf(name)} (${timeText(elapsedMs())})`);
      }
    } catch (error) {
      if (!done.aborted) throw error;
    }
  }
}

/** Step names are a past participle and its object: "opened store" is awaited as "store". */
function subjectOf(name: string): string {
  return name.slice(name.indexOf(" ") + 1);
}

/** "  opened store                  12 ms" */
export function stepLine(name: string, durationMs: number): string {
  return `  ${name.padEnd(NAME_WIDTH)}${timeText(durationMs).padStart(TIME_WIDTH)}`;
}

/** "12 ms", "1.2 s", "75 s" */
export function timeText(durationMs: number): string {
  if (durationMs < 999.5) return `${Math.round(durationMs)} ms`;
  const seconds = durationMs / 1_000;
  return seconds < 9.95 ? `${seconds.toFixed(1)} s` : `${Math.round(seconds)} s`;
}
