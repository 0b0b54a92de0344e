/**
 * What is being done, told as it happens: one line per step when it is done, with how long it took, and a line in between if one takes
 * long, so that a person who waits knows for what. The same lines whether or not there is a terminal. A step that fails has no line: its
 * error is told by who handles it.
 */
import type { Clock } from "../../base/clock.ts";

export interface Steps {
  /** `name` says what is the case when it is done: "store opened". */
  step<T>(name: string, work: () => Promise<T>): Promise<T>;
  /** The same for what is mostly done in no time: there is a line only while one waits for it, and none when it is done. */
  quietly<T>(name: string, work: () => Promise<T>): Promise<T>;
  /** One line between them. */
  note(line: string): void;
}

/** For whoever has nobody to tell. */
export const silentSteps: Steps = { step: (_name, work) => work(), quietly: (_name, work) => work(), note: () => {} };

/** As wide as the longest name of a step. */
const NAME_WIDTH = 28;
const TIME_WIDTH = 8;

/** From then on a person wonders, and is told each time that as long again has passed. */
const WONDERING_MS = 3_000;

export function reportSteps({ out, clock }: { out(line: string): void; readonly clock: Clock }): Steps {
  return {
    note: out,
    quietly: (name, work) => tellingWhile(name, work, () => {}),
    step: (name, work) => tellingWhile(name, work, (durationMs) => out(stepLine(name, durationMs))),
  };

  async function tellingWhile<T>(name: string, work: () => Promise<T>, onDone: (durationMs: number) => void): Promise<T> {
    const startMs = clock.monotonic();
    const elapsedMs = (): number => clock.monotonic() - startMs;
    const done = new AbortController();
    const telling = tellWhile(name, done.signal, elapsedMs);
    try {
      const result = await work();
      onDone(elapsedMs());
      return result;
    } finally {
      done.abort();
      await telling;
    }
  }

  async function tellWhile(name: string, done: AbortSignal, elapsedMs: () => number): Promise<void> {
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
