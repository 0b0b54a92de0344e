import assert from "node:assert/strict";
import { test } from "node:test";
import type { ClusterRole, ClusterRoleBinding } from "../../../api/generated/rbac.authorization.k8s.io/v1.ts";
import { CORE, grant, group, may, READ, user } from "./grants.ts";
import { planOf } from "./reconcile.ts";

const { role, binding } = grant("r", [may(...READ).of(CORE, "pods", "services")], { to: [user("u"), group("g")] }) as {
  readonly role: ClusterRole;
  readonly binding: ClusterRoleBinding;
};

const AUTO = "rbac.authorization.kubernetes.io/autoupdate";

function annotated<T extends ClusterRole | ClusterRoleBinding>(object: T, annotations: Readonly<Record<string, string>>): T {
  return { ...object, metadata: { ...object.metadata, annotations } };
}

/** The reconciled object, or the decision. */
function outcome(found: ClusterRole | ClusterRoleBinding, wanted: ClusterRole | ClusterRoleBinding): unknown {
  const plan = planOf(found, wanted);
  return plan.is === "update" ? plan.object : plan.is;
}

test("reconciliation keeps an up-to-date role with its additions", () => {
  const more: ClusterRole = { ...role, rules: [may("*").of("*", "*")], metadata: { ...role.metadata, uid: "x" } };
  const others: ClusterRoleBinding = { ...binding, subjects: [user("other"), ...(binding.subjects ?? [])] };

  assert.equal(outcome(role, role), "keep");
  assert.equal(outcome(more, role), "keep");
  assert.equal(outcome(others, binding), "keep");
});

test("reconciliation appends missing permissions one by one", () => {
  const found: ClusterRole = { ...role, rules: [may("get").of(CORE, "pods", "secrets"), may(...READ).of(CORE, "services")] };

  assert.deepEqual(outcome(found, role), {
    ...found,
    rules: [...(found.rules ?? []), may("list").of(CORE, "pods"), may("watch").of(CORE, "pods")],
  });
});

test("reconciliation appends missing subjects", () => {
  const found: ClusterRoleBinding = { ...binding, subjects: [user("mine"), group("g")] };

  assert.deepEqual(outcome(found, binding), { ...found, subjects: [user("mine"), group("g"), user("u")] });
});

test("reconciliation adds missing labels and annotations, and keeps differing ones", () => {
  const found: ClusterRole = { ...role, metadata: { name: "r", labels: { "kubernetes.io/bootstrapping": "mine" } } };

  assert.deepEqual(outcome(found, role), {
    ...role,
    metadata: { name: "r", labels: { "kubernetes.io/bootstrapping": "mine" }, annotations: { [AUTO]: "true" } },
  });
});

test("reconciliation recreates a binding to another role, since roleRef is immutable", () => {
  const found: ClusterRoleBinding = { ...binding, roleRef: { ...binding.roleRef, name: "other" } };

  assert.equal(outcome(found, binding), "replace");
});

test('reconciliation skips objects whose autoupdate annotation is "false"', () => {
  const lessRules = annotated({ ...role, rules: [] }, { [AUTO]: "false" });
  const otherRole = annotated({ ...binding, roleRef: { ...binding.roleRef, name: "other" } }, { [AUTO]: "false" });

  assert.equal(outcome(lessRules, role), "keep");
  assert.equal(outcome(otherRole, binding), "keep");
});

test("reconciliation sets an aggregation rule only where the bootstrap role has one", () => {
  const gathered = grant("r", [], { aggregates: "to-r" }).role;
  const other = { matchLabels: { mine: "true" } };
  const withOther: ClusterRole = { ...gathered, aggregationRule: { clusterRoleSelectors: [other] }, rules: [may("get").of(CORE, "pods")] };

  assert.deepEqual(outcome(withOther, gathered), {
    ...withOther,
    aggregationRule: { clusterRoleSelectors: [other, { matchLabels: { "to-r": "true" } }] },
  });
  assert.deepEqual(outcome({ ...role, aggregationRule: { clusterRoleSelectors: [other] } }, role), role);
});
