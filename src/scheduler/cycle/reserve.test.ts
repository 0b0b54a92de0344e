import { test } from "node:test";
import { deepEqual, equal, rejects, throws } from "node:assert/strict";
import { silentLogger } from "../../base/logger.ts";
import type { PermitAnswer, Plugin, Rejection } from "../framework/plugin.ts";
import { fitErrorMessage } from "./fit-error.ts";
import { type PermitWait, diagnosisOf, permit, reserve, reserveAndPermit, unreserve, waitOnPermit } from "./reserve.ts";
import { virtualClock } from "../../testing/virtual-clock.ts";
import { fakePod, fakeProfile, rejection } from "./testing/fakes.ts";

function reserving(log: string[], name: string, answer?: Rejection): Plugin {
  return {
    name,
    reserve: (_pod, nodeName) => {
      log.push(`reserve ${name} ${nodeName}`);
      return answer;
    },
    unreserve: (_pod, nodeName) => void log.push(`unreserve ${name} ${nodeName}`),
  };
}

test("a rejection at reserve unreserves all called plugins in reverse order", () => {
  const log: string[] = [];
  const no = rejection("no");
  const profile = fakeProfile([reserving(log, "A"), reserving(log, "B", no), reserving(log, "C")]);

  deepEqual(reserve(profile, fakePod("p"), "n1", silentLogger), { plugin: "B", rejection: no });

  deepEqual(log, ["reserve A n1", "reserve B n1", "unreserve B n1", "unreserve A n1"]);
});

test("unreserve calls all plugins in reverse order", () => {
  const log: string[] = [];
  const profile = fakeProfile([reserving(log, "A"), reserving(log, "B")]);

  equal(reserve(profile, fakePod("p"), "n1", silentLogger), undefined);
  unreserve(profile, fakePod("p"), "n1", silentLogger);

  deepEqual(log.slice(2), ["unreserve B n1", "unreserve A n1"]);
});

test("when permit rejects or throws, all plugins are unreserved; otherwise none is", () => {
  const rows: readonly (readonly [() => PermitAnswer, number])[] = [
    [() => ({ is: "allowed" }), 0],
    [() => ({ is: "wait", timeoutMs: 1, decision: forever }), 0],
    [() => ({ is: "rejected", rejection: rejection("no") }), 2],
    [fail, 2],
  ];
  for (const [answer, takenBack] of rows) {
    const log: string[] = [];
    const profile = fakeProfile([reserving(log, "A"), reserving(log, "B"), { name: "C", permit: answer }]);
    const ask = () => reserveAndPermit(profile, fakePod("p"), "n1", silentLogger);

    if (answer === fail) throws(ask, /boom/);
    else equal(ask().is, answer().is);

    deepEqual(log.slice(2), ["unreserve B n1", "unreserve A n1"].slice(0, takenBack));
  }
});

test("an exception at reserve unreserves all called plugins, also if one of them throws again", () => {
  const log: string[] = [];
  const profile = fakeProfile([reserving(log, "A"), { name: "B", reserve: fail, unreserve: fail }, reserving(log, "C")]);

  throws(() => reserve(profile, fakePod("p"), "n1", silentLogger), /boom/);

  deepEqual(log, ["reserve A n1", "unreserve A n1"]);
});

function fail(): never {
  throw new Error("boom");
}

test("a rejection at reserve or permit is reported as that of the only node", () => {
  const diagnosis = diagnosisOf({ plugin: "A", rejection: rejection("not now") }, "n1");
  deepEqual(diagnosis.unschedulablePlugins, new Set(["A"]));
  equal(fitErrorMessage({ ...diagnosis, postFilterMessage: "" }), "0/1 nodes are available: 1 not now.");
});

const forever = new Promise<"allowed">(() => {});

function permitting(...answers: readonly PermitAnswer[]) {
  const plugins = answers.map((answer, index): Plugin => ({ name: `P${index}`, permit: () => answer }));
  return permit(fakeProfile(plugins), fakePod("p"), "n1");
}

test("permit: one rejection suffices, otherwise wait requests are honoured, at most 15 minutes", () => {
  const no = rejection("no");
  const wait: PermitAnswer = { is: "wait", timeoutMs: 3_600_000, decision: forever };
  deepEqual(permitting(), { is: "allowed" });
  deepEqual(permitting({ is: "allowed" }, { is: "allowed" }), { is: "allowed" });
  deepEqual(permitting(wait, { is: "rejected", rejection: no }), { is: "rejected", refusal: { plugin: "P1", rejection: no } });
  deepEqual(permitting({ is: "allowed" }, wait), { is: "wait", waits: [{ plugin: "P1", timeoutMs: 900_000, decision: forever }] });
});

function waits(...decisions: readonly Promise<"allowed" | Rejection>[]): PermitWait[] {
  return decisions.map((decision, index) => ({ plugin: `P${index}`, timeoutMs: 90_000 * (index + 1), decision }));
}

const { signal: notAborted } = new AbortController();

test("a waiting Pod proceeds when all plugins allow it", async () => {
  equal(await waitOnPermit(waits(Promise.resolve("allowed"), Promise.resolve("allowed")), virtualClock(), notAborted), undefined);
});

test("the first rejection ends the wait though others have not decided", async () => {
  const no = rejection("no");
  deepEqual(await waitOnPermit(waits(forever, Promise.resolve(no)), virtualClock(), notAborted), { plugin: "P1", rejection: no });
});

test("a permit timeout rejects in upstream's wording, exactly then", async () => {
  const clock = virtualClock();
  const answer = waitOnPermit(waits(forever, Promise.resolve("allowed")), clock, notAborted);
  let isOver = false;
  void answer.then(() => (isOver = true));

  await clock.advance(89_999);
  equal(isOver, false);
  await clock.advance(1);

  const reasons = ["rejected due to timeout after waiting 1m30s at plugin P0"];
  deepEqual(await answer, { plugin: "P0", rejection: { reasons, resolvable: true } });
});

test("stopping the scheduler ends the wait", async () => {
  const stopping = new AbortController();
  const answer = waitOnPermit(waits(forever), virtualClock(), stopping.signal);
  stopping.abort(new Error("stopping"));
  await rejects(answer, { message: "stopping" });
});

test("no timer remains after the wait", async () => {
  const clock = virtualClock();
  const signals: (AbortSignal | undefined)[] = [];
  const watched = {
    now: () => clock.now(),
    monotonic: () => clock.monotonic(),
    soon: (work: () => void) => clock.soon(work),
    external: <T>(operation: Promise<T>) => clock.external(operation),
    sleep: (durationMs: number, signal?: AbortSignal) => {
      signals.push(signal);
      return clock.sleep(durationMs, signal);
    },
  };

  await waitOnPermit(waits(Promise.resolve("allowed"), Promise.resolve("allowed")), watched, notAborted);

  deepEqual(
    signals.map((signal) => signal?.aborted),
    [true, true],
  );
});
