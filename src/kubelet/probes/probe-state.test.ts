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
  /** After each of them: what counts, with "." if nothing more is asked. */
  readonly results: string;
}

const answerRows: readonly AnswersRow[] = [
  { it: "one success makes it ready", kind: "readiness", answers: "+", results: "+" },
  { it: "three failures make it unready, as by default", kind: "readiness", answers: "+---", results: "+++-" },
  { it: "a success in between counts anew", kind: "readiness", answers: "+--+---", results: "++++++-" },
  { it: "as many successes as it says", kind: "readiness", probe: { successThreshold: 3 }, answers: "++-+++", results: "-----+" },
  { it: "alive until it failed often enough, and then it is not asked any more", kind: "liveness", answers: "--+---", results: "+++++-." },
  { it: "one failure is enough if it says so", kind: "liveness", probe: { failureThreshold: 1 }, answers: "-", results: "-." },
  { it: "started once is started", kind: "startup", answers: "--+", results: "??+." },
  { it: "never started", kind: "startup", probe: { failureThreshold: 2 }, answers: "--", results: "?-." },
];

const SIGNS = { success: "+", failure: "-", unknown: "?" } as const;

test("what counts follows from the answers", async (t) => {
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

test("of a container that ran before the kubelet came, what was told counts until it is asked", () => {
  const told = { isReady: true, isStarted: true };
  const results = (["startup", "liveness", "readiness"] as const).map((kind) => [
    newProbeState(kind).result,
    newProbeState(kind, told).result,
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
const EVERY_TEN = { periodSeconds: 10 };

/** Unless it says otherwise, it runs since 3 s, beats came since 1 s, and it is 4 s. */
const dueRows: readonly DueRow[] = [
  { it: "the first comes with the next beat", view: {}, dueAtMs: 11_000 },
  { it: "at a beat it is due now", view: { nowMs: 11_000 }, dueAtMs: 11_000 },
  { it: "not before the delay is over", view: { probe: { ...EVERY_TEN, initialDelaySeconds: 15 } }, dueAtMs: 21_000 },
  { it: "the next comes a period after the last", view: { state: probed(11_000), nowMs: 12_000 }, dueAtMs: 21_000 },
  { it: "one that took longer than a period is followed at once", view: { state: probed(11_000), nowMs: 30_000 }, dueAtMs: 30_000 },
  { it: "ten seconds is the default", view: { probe: {}, state: probed(11_000), nowMs: 12_000 }, dueAtMs: 21_000 },
  { it: "nothing is asked before it runs", view: { runningSinceMs: undefined }, dueAtMs: undefined },
  { it: "nothing is asked when enough is known", view: { state: probed(1, { isOnHold: true }) }, dueAtMs: undefined },
  { it: "nothing is asked before its startup is over", view: { isStarted: false }, dueAtMs: undefined },
  { it: "but the startup itself", view: { isStarted: false, kind: "startup" }, dueAtMs: 11_000 },
  { it: "which is not asked for when it is over", view: { kind: "startup" }, dueAtMs: undefined },
  { it: "readiness is asked for at once", view: { kind: "readiness", state: newProbeState("readiness") }, dueAtMs: 4_000 },
  {
    it: "readiness is asked for when the delay is over, to the millisecond",
    view: { kind: "readiness", state: newProbeState("readiness"), probe: { ...EVERY_TEN, initialDelaySeconds: 15 } },
    dueAtMs: 18_000,
  },
  {
    it: "readiness that is known waits for its beat",
    view: { kind: "readiness", state: newProbeState("readiness", { isReady: true, isStarted: true }) },
    dueAtMs: 11_000,
  },
  { it: "of a Pod that ends nobody asks whether it lives", view: { isEnding: true }, dueAtMs: undefined },
  { it: "but whether it takes requests", view: { isEnding: true, kind: "readiness", state: probed(2_000) }, dueAtMs: 12_000 },
];

test("the next probe is due when it should be", async (t) => {
  for (const { it, view, dueAtMs } of dueRows) {
    await t.test(it, () => {
      const whole: ProbeView = {
        kind: "liveness",
        probe: EVERY_TEN,
        state: newProbeState("liveness"),
        runningSinceMs: 3_000,
        isStarted: true,
        isEnding: false,
        beatAtMs: 1_000,
        nowMs: 4_000,
        ...view,
      };

      assert.equal(nextProbeAtMs(whole), dueAtMs);
    });
  }
});
