import assert from "node:assert/strict";
import { test } from "node:test";
import type { Probe } from "../../api/generated/core/v1.ts";
import { afterAnswer, newProbeState, nextProbeAtMs, type ProbeKind, type ProbeState, type ProbeView } from "./probe-state.ts";

interface AnswersRow {
  readonly it: string;
  readonly kind: ProbeKind;
  readonly probe?: Probe;
  /** "+" is a success, "-" a failure. */
  readonly answers: string;
  /** The result after each of them, with "." if no further probe runs. */
  readonly results: string;
}

const answerRows: readonly AnswersRow[] = [
  { it: "one success makes it ready", kind: "readiness", answers: "+", results: "+" },
  { it: "three failures make it unready, which is the default threshold", kind: "readiness", answers: "+---", results: "+++-" },
  { it: "a success in between resets the count", kind: "readiness", answers: "+--+---", results: "++++++-" },
  {
    it: "successThreshold successes make it ready",
    kind: "readiness",
    probe: { successThreshold: 3 },
    answers: "++-+++",
    results: "-----+",
  },
  { it: "alive until failureThreshold failures, and not probed after that", kind: "liveness", answers: "--+---", results: "+++++-." },
  { it: "one failure suffices with failureThreshold 1", kind: "liveness", probe: { failureThreshold: 1 }, answers: "-", results: "-." },
  { it: "a started container stays started", kind: "startup", answers: "--+", results: "??+." },
  { it: "never started", kind: "startup", probe: { failureThreshold: 2 }, answers: "--", results: "?-." },
];

const SIGNS = { success: "+", failure: "-", unknown: "?" } as const;

test("the result of a probe follows from its responses", async (t) => {
  for (const { it, kind, probe = {}, answers, results } of answerRows) {
    await t.test(it, () => {
      let state = newProbeState(kind);
      let seen = "";
      for (const sign of answers) {
        state = afterAnswer(state, { kind, probe, answer: sign === "+" ? "success" : "failure" });
        seen += SIGNS[state.result];
      }

      assert.equal(state.isOnHold ? `${seen}.` : seen, results);
    });
  }
});

test("a container from before a kubelet restart keeps its reported readiness until it is probed", () => {
  const reported = { isReady: true, isStarted: true };
  const results = (["startup", "liveness", "readiness"] as const).map((kind) => [
    newProbeState(kind).result,
    newProbeState(kind, reported).result,
  ]);

  assert.deepEqual(results, [
    ["unknown", "success"],
    ["success", "success"],
    ["failure", "success"],
  ]);
});

interface DueRow {
  readonly it: string;
  readonly view: Partial<ProbeView>;
  readonly dueAtMs: number | undefined;
}

const probed = (probedAtMs: number, more: Partial<ProbeState> = {}): ProbeState => ({ ...newProbeState("liveness"), probedAtMs, ...more });
/** Probed at 4 s, with this many failures in a row. */
const failed = (run: number, more: Partial<ProbeState> = {}): ProbeState => probed(4_000, { last: "failure", run, ...more });
const EVERY_TEN = { periodSeconds: 10 };

/** By default it has been running for 3 s, the first probe was due 1 s ago, and it is 4 s. */
const dueRows: readonly DueRow[] = [
  { it: "the first probe is at the next multiple of the period", view: {}, dueAtMs: 11_000 },
  { it: "a probe at a multiple of the period is due now", view: { nowMs: 11_000 }, dueAtMs: 11_000 },
  { it: "no probe before initialDelaySeconds", view: { probe: { ...EVERY_TEN, initialDelaySeconds: 15 } }, dueAtMs: 21_000 },
  { it: "the next probe is one period after the last", view: { state: probed(11_000), nowMs: 12_000 }, dueAtMs: 21_000 },
  { it: "a probe that took longer than a period is followed at once", view: { state: probed(11_000), nowMs: 30_000 }, dueAtMs: 30_000 },
  { it: "the default period is ten seconds", view: { probe: {}, state: probed(11_000), nowMs: 12_000 }, dueAtMs: 21_000 },
  { it: "no probe before the container runs", view: { runningSinceMs: undefined }, dueAtMs: undefined },
  { it: "no probe when the result is final", view: { state: probed(1, { isOnHold: true }) }, dueAtMs: undefined },
  { it: "no probe before the startup probe succeeded", view: { isStarted: false }, dueAtMs: undefined },
  { it: "except the startup probe itself", view: { isStarted: false, kind: "startup" }, dueAtMs: 11_000 },
  { it: "which does not run after it succeeded", view: { kind: "startup" }, dueAtMs: undefined },
  { it: "an unknown readiness is probed at once", view: { kind: "readiness", state: newProbeState("readiness") }, dueAtMs: 4_000 },
  {
    it: "readiness is probed when the initial delay is over, to the millisecond",
    view: { kind: "readiness", state: newProbeState("readiness"), probe: { ...EVERY_TEN, initialDelaySeconds: 15 } },
    dueAtMs: 18_000,
  },
  {
    it: "a known readiness waits for its period",
    view: { kind: "readiness", state: newProbeState("readiness", { isReady: true, isStarted: true }) },
    dueAtMs: 11_000,
  },
  { it: "a terminating Pod has no liveness probes", view: { isEnding: true }, dueAtMs: undefined },
  { it: "a first failure of readiness is repeated after a second", view: { kind: "readiness", state: failed(1) }, dueAtMs: 5_000 },
  { it: "the back-off of readiness doubles", view: { kind: "readiness", state: failed(3) }, dueAtMs: 8_000 },
  { it: "the back-off of readiness ends at the period", view: { kind: "readiness", state: failed(5) }, dueAtMs: 14_000 },
  {
    it: "a period shorter than the back-off of readiness counts",
    view: { kind: "readiness", state: failed(3), probe: { periodSeconds: 2 } },
    dueAtMs: 6_000,
  },
  {
    it: "readiness that was lost is probed once per period",
    view: { kind: "readiness", state: failed(1, { hasSucceeded: true }) },
    dueAtMs: 14_000,
  },
  { it: "liveness is probed once per period", view: { state: failed(1) }, dueAtMs: 14_000 },
  { it: "a terminating Pod has readiness probes", view: { isEnding: true, kind: "readiness", state: probed(2_000) }, dueAtMs: 12_000 },
];

test("the due time of the next probe follows from its period and state", async (t) => {
  for (const { it, view, dueAtMs } of dueRows) {
    await t.test(it, () => {
      const whole: ProbeView = {
        kind: "liveness",
        probe: EVERY_TEN,
        state: newProbeState("liveness"),
        runningSinceMs: 3_000,
        isStarted: true,
        isEnding: false,
        firstDueAtMs: 1_000,
        nowMs: 4_000,
        ...view,
      };

      assert.equal(nextProbeAtMs(whole), dueAtMs);
    });
  }
});

test("readiness that succeeded once has no back-off, whether in this process or reported by the one before", () => {
  const dueAtMs = (state: ProbeState): number | undefined =>
    nextProbeAtMs({
      ...{ kind: "readiness", probe: EVERY_TEN, runningSinceMs: 0, isStarted: true, isEnding: false, firstDueAtMs: 0, nowMs: 4_000 },
      state: { ...afterAnswer(state, { kind: "readiness", probe: EVERY_TEN, answer: "failure" }), probedAtMs: 4_000 },
    });
  const neverReady = newProbeState("readiness");
  const wasReady = afterAnswer(neverReady, { kind: "readiness", probe: EVERY_TEN, answer: "success" });
  const reportedReady = newProbeState("readiness", { isReady: true, isStarted: true });

  assert.deepEqual([neverReady, wasReady, reportedReady].map(dueAtMs), [5_000, 14_000, 14_000]);
});
