/**
 * policy/v1 PodDisruptionBudget: how many Pods must remain during voluntary disruptions. Not here: the counts (controllers/disruption);
 * enforcement (the eviction subresource of Pods).
 */
import { deepEqual } from "../../../base/deep.ts";
import { shownSelector, statusSubresource } from "../../apps/v1/workload.ts";
import { changed, withChanges, withMembersOf } from "../../changes.ts";
import type { LabelSelector } from "../../generated/meta/v1.ts";
import type { PodDisruptionBudget, PodDisruptionBudgetSpec, PodDisruptionBudgetStatus } from "../../generated/policy/v1.ts";
import { ageColumn, nameColumn, textColumn } from "../../machinery/columns.ts";
import { validateConditions } from "../../machinery/conditions.ts";
import { invalid, notSupported, type FieldError } from "../../machinery/field-error.ts";
import { validateLabelSelectorObject } from "../../machinery/selectors/label-selector.ts";
import { validatePathSegmentName } from "../../machinery/names.ts";
import { defineResource } from "../../machinery/resource.ts";
import { validateAtMostAll, validateNumberOrPercent, type NumberOrPercent } from "../../number-or-percent.ts";
import { nonNegative } from "../../number-validation.ts";

const EVICTION_POLICIES = ["AlwaysAllow", "IfHealthyBudget"];
const NO_STATUS: PodDisruptionBudgetStatus = { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 };

/** Meant "select nothing" when an empty selector did not yet select everything. Ignored beside other labels. */
const MATCH_LABEL = "pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match";
const MATCH_NOTHING: LabelSelector = { matchExpressions: [{ key: MATCH_LABEL, operator: "Exists" }] };

export const podDisruptionBudgets = defineResource<PodDisruptionBudget>({
  kind: "PodDisruptionBudget",
  plural: "poddisruptionbudgets",
  singular: "poddisruptionbudget",
  shortNames: ["pdb"],
  scope: "Namespaced",
  served: [{ group: "policy", version: "v1", schema: "io.k8s.api.policy.v1.PodDisruptionBudget", defaults: defaultBudget }],
  unconditionalUpdate: false,

  prepareForCreate: (budget) => ({ ...budget, status: NO_STATUS }),
  prepareForUpdate: (next, previous) => withMembersOf(next, previous, "status"),
  changesGeneration: (next, previous) => !deepEqual(next.spec, previous.spec),
  validateName: validatePathSegmentName,
  checksMetadataLast: true,
  allowsPlainFinalizers: true,
  *validate({ spec }) {
    if (spec !== undefined) yield* validateSpec(spec);
  },

  subresources: { status: statusSubresource(validateStatus) },

  columns: [
    nameColumn,
    textColumn("Min Available", "Minimum number of available Pods", ({ spec }) => amountText(spec?.minAvailable)),
    textColumn("Max Unavailable", "Maximum number of unavailable Pods", ({ spec }) => amountText(spec?.maxUnavailable)),
    textColumn("Allowed Disruptions", "Number of Pods that may be disrupted now", ({ status }) => status?.disruptionsAllowed ?? 0, {
      type: "integer",
    }),
    ageColumn,
  ],
});

function amountText(amount: NumberOrPercent | undefined): string {
  return amount === undefined ? "N/A" : String(amount);
}

function defaultBudget(budget: PodDisruptionBudget): PodDisruptionBudget {
  return withChanges(budget, {
    spec: changed(budget.spec, (spec) => withChanges(spec, { selector: changed(spec.selector, withoutMatchLabel) })),
  });
}

function withoutMatchLabel(selector: LabelSelector): LabelSelector {
  const { matchExpressions, ...others } = selector;
  if (matchExpressions === undefined || deepEqual(selector, MATCH_NOTHING)) return selector;
  const kept = matchExpressions.filter(({ key }) => key !== MATCH_LABEL);
  if (kept.length === matchExpressions.length) return selector;
  return kept.length === 0 ? others : { ...others, matchExpressions: kept };
}

function* validateSpec(spec: PodDisruptionBudgetSpec): Iterable<FieldError> {
  const { minAvailable, maxUnavailable, unhealthyPodEvictionPolicy } = spec;
  if (minAvailable !== undefined && maxUnavailable !== undefined) {
    yield invalid("spec", shownSpec(spec), "minAvailable and maxUnavailable cannot be both set");
  }
  for (const name of ["minAvailable", "maxUnavailable"] as const) {
    const amount = spec[name];
    if (amount === undefined) continue;
    yield* validateNumberOrPercent(amount, `spec.${name}`);
    yield* validateAtMostAll(amount, `spec.${name}`);
  }
  yield* validateLabelSelectorObject(spec.selector, "spec.selector");
  if (unhealthyPodEvictionPolicy !== undefined && !EVICTION_POLICIES.includes(unhealthyPodEvictionPolicy)) {
    yield notSupported("spec.unhealthyPodEvictionPolicy", unhealthyPodEvictionPolicy, EVICTION_POLICIES);
  }
}

/** In the format of upstream's message: with the names of its own types. */
function shownSpec({ minAvailable, selector, maxUnavailable, unhealthyPodEvictionPolicy }: PodDisruptionBudgetSpec): unknown {
  return {
    MinAvailable: minAvailable ?? null,
    Selector: shownSelector(selector) ?? null,
    MaxUnavailable: maxUnavailable ?? null,
    UnhealthyPodEvictionPolicy: unhealthyPodEvictionPolicy ?? null,
  };
}

const COUNTS = ["disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"] as const;

function* validateStatus({ status = {} }: PodDisruptionBudget): Iterable<FieldError> {
  yield* validateConditions(status.conditions, "status.conditions");
  for (const count of COUNTS) yield* nonNegative(status[count], `status.${count}`);
}
