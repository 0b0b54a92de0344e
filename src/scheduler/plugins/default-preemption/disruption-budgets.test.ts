import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import type { PodDisruptionBudget } from "../../../api/generated/policy/v1.ts";
import { aPod, podInfo } from "../../framework/testing/builders.ts";
import { DisruptionBudgets } from "./disruption-budgets.ts";
import { aBudget } from "./testing/preemption.ts";

const WEB = { app: "web" };

/** Each is "name" with no label, "name:app" or "name:app:tier". */
function podNamed(text: string) {
  const [name = "", app, tier] = text.split(":");
  return podInfo(aPod(name, { labels: { ...(app !== undefined && { app }), ...(tier !== undefined && { tier }) } }));
}

function selecting(selector: NonNullable<PodDisruptionBudget["spec"]>["selector"]): PodDisruptionBudget {
  return { ...aBudget("b", 0, {}), spec: selector === undefined ? {} : { selector } };
}

for (const { why, pods, budgets, order, violating } of [
  { why: "without budgets all stay in their order", pods: ["a:web", "b"], budgets: [], order: "a b", violating: 0 },
  {
    why: "a budget is used up in the order of importance",
    pods: ["a:web", "b", "c:web"],
    budgets: [aBudget("w", 1, WEB)],
    order: "c a b",
    violating: 1,
  },
  {
    why: "an empty budget is violated by all it selects",
    pods: ["a", "b:web", "c:web"],
    budgets: [aBudget("w", 0, WEB)],
    order: "b c a",
    violating: 2,
  },
  { why: "a budget for all is violated by none", pods: ["a:web", "b:web"], budgets: [aBudget("w", 2, WEB)], order: "a b", violating: 0 },
  {
    why: "what was counted before counts no more",
    pods: ["a:web", "b:web"],
    budgets: [aBudget("w", 1, WEB, ["a"])],
    order: "a b",
    violating: 0,
  },
  {
    why: "who violates two budgets is one Pod",
    pods: ["a:db", "b:web:front"],
    budgets: [aBudget("w", 0, WEB), aBudget("f", 0, { tier: "front" })],
    order: "b a",
    violating: 1,
  },
  {
    why: "one budget that allows it does not make up for one that does not, and is used up all the same",
    pods: ["a:web:front", "b:web"],
    budgets: [aBudget("w", 1, WEB), aBudget("f", 0, { tier: "front" })],
    order: "a b",
    violating: 2,
  },
  { why: "an empty selector selects nothing", pods: ["a", "b:web"], budgets: [selecting({})], order: "a b", violating: 0 },
  { why: "no selector selects nothing", pods: ["a", "b:web"], budgets: [selecting(undefined)], order: "a b", violating: 0 },
  {
    why: "a selector that cannot be read selects nothing",
    pods: ["a", "b:web"],
    budgets: [selecting({ matchExpressions: [{ key: "app", operator: "Like", values: ["web"] }] })],
    order: "a b",
    violating: 0,
  },
  {
    why: "a Pod without labels is in no budget",
    pods: ["a", "b:web"],
    budgets: [selecting({ matchExpressions: [{ key: "tier", operator: "DoesNotExist" }] })],
    order: "b a",
    violating: 1,
  },
]) {
  test(`disruption budgets: ${why}`, () => {
    const found = new DisruptionBudgets({ podDisruptionBudgets: () => budgets }).sparingOrder(pods.map(podNamed));

    deepEqual({ order: found.pods.map(({ pod }) => pod.metadata.name).join(" "), violating: found.violating }, { order, violating });
  });
}
