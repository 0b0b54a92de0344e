import { test } from "node:test";
import { deepEqual } from "node:assert/strict";
import type { Plugin } from "../framework/plugin.ts";
import { askPreFilters, notAmong } from "./pre-filter.ts";
import { snapshotOf } from "../framework/testing/builders.ts";
import { fakePod, fakeProfile, narrowing, rejection } from "./testing/fakes.ts";

function ask(...plugins: readonly Plugin[]) {
  return askPreFilters(fakeProfile(plugins), fakePod("p"), snapshotOf());
}

function saysNo(name: string, resolvable: boolean): Plugin {
  return { name, preFilter: () => ({ is: "rejected", rejection: { reasons: [`${name} says no`], resolvable } }) };
}

const fits = (): undefined => undefined;

test("a filter without preFilter is called without state, one that skips is not called", () => {
  const plain: Plugin = { name: "Plain", filter: fits };
  const skips: Plugin = { name: "Skips", preFilter: () => ({ is: "skip" }), filter: fits };
  const ready: Plugin = { name: "Ready", preFilter: () => ({ is: "ready", state: 42 }), filter: fits };

  const result = ask(plain, skips, ready);

  deepEqual(result, { is: "ready", filters: [plain, ready], states: [undefined, 42], narrowed: undefined });
});

test("only nodes requested by all plugins are examined", () => {
  const result = ask(narrowing("A", "n1", "n2", "n3"), narrowing("B", "n3", "n2", "n4"));
  deepEqual(result.is === "ready" && result.narrowed, { names: new Set(["n2", "n3"]), plugins: new Set(["A", "B"]) });
});

test("the rejection of excluded nodes names the narrowing plugins, sorted", () => {
  deepEqual(notAmong({ names: new Set(), plugins: new Set(["NodeAffinity", "A"]) }), "node(s) didn't satisfy plugin(s) [A NodeAffinity]");
});

for (const { when, plugins, reason, by } of [
  {
    when: "two plugins narrow to different nodes",
    plugins: [narrowing("B", "n1"), narrowing("A", "n2")],
    reason: "node(s) didn't satisfy plugin(s) [A B] simultaneously",
    by: ["B", "A"],
  },
  { when: "one plugin narrows to no node", plugins: [narrowing("A")], reason: "node(s) didn't satisfy plugin A", by: ["A"] },
  { when: "a plugin rejects the Pod", plugins: [narrowing("N", "n1"), saysNo("A", false)], reason: "A says no", by: ["A"] },
  {
    when: "two plugins reject it unresolvably: the first is reported",
    plugins: [saysNo("A", false), saysNo("B", false)],
    reason: "A says no",
    by: ["A"],
  },
  {
    when: "the first rejection is resolvable: the last is reported",
    plugins: [saysNo("A", true), saysNo("B", false)],
    reason: "B says no",
    by: ["B"],
  },
  {
    when: "a rejection is resolvable and another plugin narrowed",
    plugins: [narrowing("N", "n1"), saysNo("A", true)],
    reason: "A says no",
    by: ["N", "A"],
  },
]) {
  test(`preFilter rejects all nodes when ${when}`, () => {
    const result = ask(...plugins);
    deepEqual(result.is === "rejected" && [result.rejection.reasons, result.plugins], [[reason], new Set(by)]);
  });
}

test("after a resolvable rejection the other plugins are still called", () => {
  const asked: string[] = [];
  const curious: Plugin = {
    name: "Curious",
    preFilter: () => {
      asked.push("Curious");
      return { is: "rejected", rejection: rejection("later") };
    },
  };
  ask(saysNo("A", true), curious);
  ask(saysNo("A", false), curious);
  deepEqual(asked, ["Curious"]);
});
