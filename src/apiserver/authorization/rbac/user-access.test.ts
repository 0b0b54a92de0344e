import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import type { AccessedResource } from "../../framework/authorization.ts";
import { Policy } from "./policy.ts";
import { AnswerBudget, UserAccess } from "./user-access.ts";

const JANE = { name: "jane", groups: [] };

function about(plural: string, namespace = "n"): AccessedResource {
  return { group: "", version: "v1", plural, subresource: "", namespace, name: "" };
}

test("RBAC answers oversized questions without caching them", () => {
  const budget = new AnswerBudget(1_000);
  const access = new UserAccess(new Policy(), JANE, budget);
  const long = "x".repeat(1_000);
  let spent = 0;
  budget.spend = () => void spent++;

  const answers = [about(long), about("pods", long), about(long, long)].map(
    (resource) => access.authorizeResource("get", resource).allowed,
  );

  deepEqual(answers, [false, false, false]);
  // For the second, the cluster-wide answer is cached, which contains no namespace.
  equal(spent, 1);
});

test("the RBAC answer cache is bounded, and answers stay correct beyond the limit", () => {
  const budget = new AnswerBudget(3);
  const access = new UserAccess(new Policy(), JANE, budget);

  for (let index = 0; index < 10; index++) equal(access.authorizeResource("get", about(`kind${index}`)).allowed, false);

  equal(budget.isSpent, true);
});
