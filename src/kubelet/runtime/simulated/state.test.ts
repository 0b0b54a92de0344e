import { deepEqual, equal, notDeepEqual } from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { scriptOf } from "./script.ts";
import type { Settings } from "./settings.ts";
import { logLine, stateAt, type Life, type Observation } from "./state.ts";
import { anySettings } from "./testing/settings.ts";

const START = 1_000_000;

/** "running started ready 0 lines, next +5000" or "exited 137 Error at +10, 3 lines". */
function shown({ state, started, ready, logLines, nextChangeAtMs }: Observation): string {
  const next = nextChangeAtMs === undefined ? "" : `, next +${nextChangeAtMs - START}`;
  const lines = logLines === 0 ? "" : `, ${logLines} lines`;
  if (state.is !== "exited") return `${state.is}${started ? " started" : ""}${ready ? " ready" : ""}${lines}${next}`;
  equal(state.startedAtMs, START);
  const message = state.message === undefined ? "" : ` "${state.message}"`;
  return `exited ${state.exitCode} ${state.reason}${message} at +${state.finishedAtMs - START}${lines}${next}`;
}

/** A row's `at` is milliseconds after the start. */
interface Row {
  readonly it: string;
  readonly settings: Settings;
  readonly life?: Partial<Life>;
  readonly at: Readonly<Record<number, string>>;
}

const asked = (askedMs: number, killMs: number): Partial<Life> => ({ stop: { requestedAtMs: START + askedMs, killAtMs: START + killMs } });

const ROWS: readonly Row[] = [
  { it: "without settings it runs forever", settings: {}, at: { 0: "running started ready", 1e12: "running started ready" } },
  {
    it: "it becomes ready after a delay",
    settings: { readyAfterMs: 50 },
    at: { 0: "running started, next +50", 49: "running started, next +50", 50: "running started ready" },
  },
  {
    it: "it is not ready during startup, regardless of other settings",
    settings: { startedAfterMs: 30, readyAfterMs: 10 },
    at: { 0: "running, next +30", 10: "running, next +30", 30: "running started ready" },
  },
  {
    it: "startup can complete long before readiness",
    settings: { startedAfterMs: 30, readyAfterMs: 40 },
    at: { 0: "running, next +30", 30: "running started, next +40", 40: "running started ready" },
  },
  {
    it: "adjacent and overlapping intervals are merged",
    settings: {
      readyAfterMs: 10,
      unready: [
        { fromMs: 30, toMs: 50 },
        { fromMs: 5, toMs: 20 },
        { fromMs: 20, toMs: 25 },
      ],
    },
    at: {
      0: "running started, next +25",
      25: "running started ready, next +30",
      30: "running started, next +50",
      50: "running started ready",
    },
  },
  {
    it: "it can become unready forever",
    settings: { unready: [{ fromMs: 10, toMs: Infinity }] },
    at: { 0: "running started ready, next +10", 10: "running started" },
  },
  {
    it: "it completes",
    settings: { runForMs: 20 },
    at: { 19: "running started ready, next +20", 20: "exited 0 Completed at +20", 99: "exited 0 Completed at +20" },
  },
  { it: "an exit without a time happens at once", settings: { exitCode: 3 }, at: { 0: "exited 3 Error at +0" } },
  {
    it: "an OOM kill has its own exit code",
    settings: { exitReason: "OOMKilled", runForMs: 5 },
    at: { 5: "exited 137 OOMKilled at +5" },
  },
  { it: "the termination message is kept", settings: { exitCode: 1, exitMessage: "bye" }, at: { 0: `exited 1 Error "bye" at +0` } },
  {
    it: "an exit precedes all later changes",
    settings: { runForMs: 5, readyAfterMs: 10 },
    at: { 0: "running started, next +5", 20: "exited 0 Completed at +5" },
  },
  {
    it: "the first attempts fail",
    settings: { failTimes: 2, failAfterMs: 7 },
    life: { attempt: 1 },
    at: { 0: "running started ready, next +7", 7: "exited 1 Error at +7" },
  },
  {
    it: "the attempt after the failures runs",
    settings: { failTimes: 2, failAfterMs: 7 },
    life: { attempt: 2 },
    at: { 9: "running started ready" },
  },
  {
    it: "a failed attempt has its own exit code",
    settings: { failTimes: 1, failExitCode: 9, runForMs: 1 },
    at: { 0: "exited 9 Error at +0" },
  },
  {
    it: "it exits on SIGTERM",
    settings: {},
    life: asked(10, 40),
    at: { 9: "running started ready, next +10", 10: "exited 143 Error at +10" },
  },
  {
    it: "it exits some time after SIGTERM",
    settings: { stopTakesMs: 30, stopExitCode: 0 },
    life: asked(10, 40),
    at: { 39: "running started ready, next +40", 40: "exited 0 Completed at +40" },
  },
  {
    it: "it is killed at the end of the grace period",
    settings: { stopTakesMs: 31 },
    life: asked(10, 40),
    at: { 40: "exited 137 Error at +40" },
  },
  { it: "it is killed at once without a grace period", settings: {}, life: asked(10, 10), at: { 10: "exited 137 Error at +10" } },
  {
    it: "it exits by itself before SIGTERM takes effect",
    settings: { runForMs: 20, stopTakesMs: 30 },
    life: asked(10, 90),
    at: { 20: "exited 0 Completed at +20" },
  },
  {
    it: "a known exit is kept",
    settings: { runForMs: 99 },
    life: { ended: { atMs: START + 4, exitCode: 2, reason: "Evil" } },
    at: { 4: "exited 2 Evil at +4" },
  },
  { it: "the log is written at once", settings: { logs: ["a", "b"] }, at: { 0: "running started ready, 2 lines" } },
  {
    it: "the log is written line by line",
    settings: { logs: ["a", "b"], logEveryMs: 10 },
    at: { 9: "running started ready, 1 lines", 10: "running started ready, 2 lines", 99: "running started ready, 2 lines" },
  },
  {
    it: "the log repeats",
    settings: { logs: ["a", "b"], logEveryMs: 10, logRepeat: true },
    at: { 99: "running started ready, 10 lines" },
  },
  {
    it: "the log ends with its container",
    settings: { logs: ["a", "b"], logEveryMs: 10, logRepeat: true, runForMs: 25 },
    at: { 99: "exited 0 Completed at +25, 3 lines" },
  },
];

test("the state of a simulated container follows from its script, its start and the time", () => {
  for (const { it, settings, life, at } of ROWS) {
    const timestamps = Object.keys(at).map(Number);
    const seen = timestamps.map((ms) => [
      ms,
      shown(stateAt(scriptOf({ logs: [], ...settings }), { startedAtMs: START, attempt: 0, ...life }, START + ms)),
    ]);
    deepEqual(Object.fromEntries(seen), at, it);
  }
});

test("a simulated container does not change before nextChangeAtMs, and changes then", () => {
  const reported = ({ state, started, ready }: Observation): unknown => ({ state, started, ready });
  fc.assert(
    fc.property(anySettings(), fc.nat(2), fc.nat(100_000), fc.double({ min: 0, max: 1, noNaN: true }), (settings, attempt, atMs, share) => {
      const script = scriptOf(settings);
      const at = (nowMs: number): Observation => stateAt(script, { startedAtMs: START, attempt }, nowMs);
      const seen = at(START + atMs);
      const nextMs = seen.nextChangeAtMs ?? START + atMs + 1_000_000;
      deepEqual(reported(at(Math.floor(START + atMs + share * (nextMs - 1 - START - atMs)))), reported(seen));
      if (seen.nextChangeAtMs !== undefined) notDeepEqual(reported(at(nextMs)), reported(seen));
    }),
  );
});

test("every line of a simulated log has the text and timestamp of its number", () => {
  const { log } = scriptOf({ logs: ["a", "b"], logEveryMs: 10, logRepeat: true });
  deepEqual(logLine(log, START, 5), { atMs: START + 50, stream: "stdout", text: "b" });
  equal(logLine({ ...log, repeats: false }, START, 2), undefined);
  equal(logLine({ ...log, lines: [] }, START, 0), undefined);
});
