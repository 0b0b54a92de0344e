import { test } from "node:test";
import { deepEqual, equal, ok } from "node:assert/strict";
import type { Plugin, PostFilterAnswer } from "../framework/plugin.ts";
import { decide } from "./decide.ts";
import { askPostFilters } from "./post-filter.ts";
import { fakeCycleInput, fakePod, fakeProfile, fakeTurns, refusing } from "./testing/fakes.ts";

function ask(...answers: readonly PostFilterAnswer[]): PostFilterAnswer {
  const plugins = answers.map((answer, index): Plugin => ({ name: `P${index}`, postFilter: () => answer }));
  const profile = fakeProfile([refusing("Fit", "full", "n0"), ...plugins]);
  const decision = decide(profile, fakePod("p"), fakeCycleInput(1), fakeTurns());
  ok(decision.is === "unschedulable" && decision.whatIf !== undefined);
  return askPostFilters(profile, fakePod("p"), decision.whatIf);
}

const nothing: PostFilterAnswer = { is: "none", message: "no new claims to deallocate", clearsNomination: false };
const clears: PostFilterAnswer = { is: "none", message: "preemption: none", clearsNomination: true };
const nominated: PostFilterAnswer = { is: "nominated", nodeName: "n0", victims: 1, act: () => Promise.resolve() };

test("the first postFilter that nominates a node ends the search", () => {
  equal(ask(nothing, nominated, clears), nominated);
});

test("if none nominates, all messages are joined and one suffices to clear a nomination", () => {
  deepEqual(ask(nothing, clears), { is: "none", message: "no new claims to deallocate, preemption: none", clearsNomination: true });
  deepEqual(ask(nothing), nothing);
});

test("without postFilter plugins a nomination is cleared without a message", () => {
  deepEqual(ask(), { is: "none", message: "", clearsNomination: true });
});
