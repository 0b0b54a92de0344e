import { test } from "node:test";
import { deepEqual, equal, notEqual } from "node:assert/strict";
import type { Plugin } from "../framework/plugin.ts";
import type { PodInfo } from "../framework/pod-info.ts";
import { PodFilters } from "./pod-filters.ts";
import { fakeNode, fakePod, rejection } from "./testing/fakes.ts";

const full = rejection("full");
const alone = rejection("alone");

/** Allows one Pod per node. */
const onePerNode: Plugin = { name: "OnePerNode", filter: (_state, _pod, node) => (node.pods.length > 0 ? full : undefined) };

/** Requires other Pods: counts the Pods of the cluster in its state. */
const company: Plugin<{ pods: number }> = {
  name: "Company",
  filter: (state) => (state.pods === 0 ? alone : undefined),
  copyState: (state) => ({ ...state }),
  podAdded: (state) => void state.pods++,
  podRemoved: (state) => void state.pods--,
};

function filtersOf(plugins: readonly Plugin[], states: readonly unknown[], nominated: readonly PodInfo[], priority = 5) {
  return new PodFilters(fakePod("p", { priority }), plugins, states, (name) => (name === "n1" ? nominated : []));
}

for (const { who, nominated, answer } of [
  { who: "no Pod is nominated", nominated: [], answer: undefined },
  { who: "a Pod of higher priority is nominated", nominated: [fakePod("high", { priority: 6 })], answer: full },
  { who: "a Pod of equal priority is nominated", nominated: [fakePod("equal", { priority: 5 })], answer: full },
  { who: "a Pod of lower priority is nominated", nominated: [fakePod("low", { priority: 4 })], answer: undefined },
  { who: "the Pod itself is nominated", nominated: [fakePod("p", { priority: 5 })], answer: undefined },
]) {
  test(`space for one Pod is ${answer === undefined ? "free" : "taken"} when ${who}`, () => {
    const filters = filtersOf([onePerNode], [undefined], nominated);
    equal(filters.firstRejection(filters.base, fakeNode("n1")), answer);
    equal(filters.firstRejection(filters.base, fakeNode("n2")), undefined);
  });
}

test("nominated Pods are not relied on for affinity", () => {
  const filters = filtersOf([company], [{ pods: 0 }], [fakePod("high", { priority: 6 })]);
  equal(filters.firstRejection(filters.base, fakeNode("n1")), alone);
  deepEqual(filters.base.values, [{ pods: 0 }]);
});

test("filters see nominated Pods on a node that has them", () => {
  const seen: (readonly string[])[] = [];
  const watches: Plugin<{ pods: number }> = {
    ...company,
    podAdded: (_state, _pod, _added, node) => void seen.push(node.pods.map(({ uid }) => uid)),
  };
  const filters = filtersOf([watches], [{ pods: 1 }], [fakePod("a", { priority: 6 }), fakePod("b", { priority: 6 })]);
  equal(filters.firstRejection(filters.base, fakeNode("n1")), undefined);
  deepEqual(seen, [["a"], ["a", "b"]]);
});

test("the rejecting plugin is identified by its index", () => {
  const filters = filtersOf([company, onePerNode], [{ pods: 1 }, undefined], []);
  equal(filters.firstRejection(filters.base, fakeNode("n1", [fakePod("x")])), full);
  equal(filters.refusedBy, 1);
});

test("a plugin's filter is called as its method", () => {
  class Counting implements Plugin {
    readonly name = "Counting";
    asked = 0;
    filter(): undefined {
      this.asked++;
      return undefined;
    }
  }
  const counting = new Counting();
  const filters = filtersOf([counting], [undefined], []);
  filters.firstRejection(filters.base, fakeNode("n1"));
  equal(counting.asked, 1);
});

test("copies share states until one of them is changed", () => {
  const untouched = { of: "a plugin that does not follow Pods" };
  const { base } = filtersOf([company, onePerNode], [{ pods: 3 }, untouched], []);
  const one = base.copy();
  const two = one.copy();
  equal(one.values, base.values);

  one.podRemoved(fakePod("x"), fakeNode("n1"));
  two.podAdded(fakePod("x"), fakeNode("n1"));
  two.podAdded(fakePod("y"), fakeNode("n1"));

  deepEqual([base.values[0], one.values[0], two.values[0]], [{ pods: 3 }, { pods: 2 }, { pods: 5 }]);
  equal(two.values[1], untouched);
});

test("a copy is independent of later changes of its original", () => {
  const { base } = filtersOf([company], [{ pods: 3 }], []);
  const original = base.copy();
  original.podRemoved(fakePod("x"), fakeNode("n1"));
  const copied = original.copy();

  original.podRemoved(fakePod("y"), fakeNode("n1"));

  deepEqual([original.values, copied.values], [[{ pods: 1 }], [{ pods: 2 }]]);
  notEqual(original.values, copied.values);
});

test("changes to the base leave the cycle's states alone", () => {
  const made = { pods: 3 };
  const { base } = filtersOf([company], [made], []);
  base.podAdded(fakePod("x"), fakeNode("n1"));
  deepEqual(made, { pods: 3 });
});
