import assert from "node:assert/strict";
import test from "node:test";
import type { ClusterRole, PolicyRule } from "../../generated/rbac.authorization.k8s.io/v1.ts";
import { aggregatedRules, haveSameRules } from "./aggregation.ts";

const may = (verb: string): PolicyRule => ({ verbs: [verb], apiGroups: [""], resources: ["pods"] });

function role(name: string, labels: Readonly<Record<string, string>>, ...verbs: readonly string[]): ClusterRole {
  return { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole", metadata: { name, labels }, rules: verbs.map(may) };
}

function aggregate(...labels: readonly Readonly<Record<string, string>>[]): ClusterRole {
  return {
    ...role("whole", { to: "a" }, "own"),
    aggregationRule: { clusterRoleSelectors: labels.map((matchLabels) => ({ matchLabels })) },
  };
}

test("aggregated rules are those of the selected roles by selector and name, each once, without its own", () => {
  const whole = aggregate({ to: "b" }, { to: "a" });
  const all = [role("c", { to: "a" }, "c", "a"), role("a", { to: "a" }, "a", "b"), whole, role("z", { to: "b" }, "z"), role("x", {}, "x")];

  assert.deepEqual(aggregatedRules(whole, all), ["z", "a", "b", "c"].map(may));
});

test("rules that differ only in empty lists are equal", () => {
  const all = [{ ...role("b", { to: "a" }), rules: [{ ...may("a"), resourceNames: [] }] }, role("a", { to: "a" }, "a")];

  assert.deepEqual(aggregatedRules(aggregate({ to: "a" }), all), [may("a")]);
});

test("a role without selectors is not aggregated, and one that selects no role has no rules", () => {
  assert.deepEqual(aggregatedRules(role("a", {}, "a"), [role("b", {}, "b")]), []);
  assert.deepEqual(aggregatedRules(aggregate({ to: "c" }), [role("b", { to: "b" }, "b")]), []);
});

test("rule lists are equal only in the same order, and absent equals empty", () => {
  assert.equal(haveSameRules([], []), true);
  assert.equal(haveSameRules([may("a")], [{ ...may("a"), nonResourceURLs: [] }]), true);
  assert.equal(haveSameRules([may("a"), may("b")], [may("b"), may("a")]), false);
  assert.equal(haveSameRules([may("a")], [may("a"), may("a")]), false);
});
