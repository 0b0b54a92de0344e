/**
 * `matchLabelKeys` and `mismatchLabelKeys` name labels whose values are those of the Pod itself ("Pods of the same revision as mine"). When
 * a Pod is created they become plain requirements of the selector beside them, so that readers of the selector need no Pod.
 */
import type { PodAffinity, PodAffinityTerm, PodAntiAffinity, PodSpec, WeightedPodAffinityTerm } from "../../../generated/core/v1.ts";
import type { LabelSelector } from "../../../generated/meta/v1.ts";
import { changed, changedItems, withChanges } from "../../../changes.ts";

type Labels = Readonly<Record<string, string>>;

interface WithKeys {
  readonly labelSelector?: LabelSelector;
  readonly matchLabelKeys?: readonly string[];
  readonly mismatchLabelKeys?: readonly string[];
}

export function withMatchedLabelKeys(spec: PodSpec, labels: Labels): PodSpec {
  const ofTerms = (affinity: PodAffinity | PodAntiAffinity): PodAffinity | PodAntiAffinity => withMatchedTerms(affinity, labels);
  return withChanges(spec, {
    affinity: changed(spec.affinity, (affinity) =>
      withChanges(affinity, {
        podAffinity: changed(affinity.podAffinity, ofTerms),
        podAntiAffinity: changed(affinity.podAntiAffinity, ofTerms),
      }),
    ),
    topologySpreadConstraints: changedItems(spec.topologySpreadConstraints, (constraint) => withMatchedKeys(constraint, labels)),
  });
}

function withMatchedTerms(affinity: PodAffinity | PodAntiAffinity, labels: Labels): PodAffinity | PodAntiAffinity {
  const ofTerm = (term: PodAffinityTerm): PodAffinityTerm => withMatchedKeys(term, labels);
  return withChanges(affinity, {
    requiredDuringSchedulingIgnoredDuringExecution: changedItems(affinity.requiredDuringSchedulingIgnoredDuringExecution, ofTerm),
    preferredDuringSchedulingIgnoredDuringExecution: changedItems(
      affinity.preferredDuringSchedulingIgnoredDuringExecution,
      (weighted: WeightedPodAffinityTerm) => withChanges(weighted, { podAffinityTerm: ofTerm(weighted.podAffinityTerm) }),
    ),
  });
}

function withMatchedKeys<T extends WithKeys>(term: T, labels: Labels): T {
  const { labelSelector, matchLabelKeys = [], mismatchLabelKeys = [] } = term;
  if (labelSelector === undefined) return term;
  const requirementsOf = (keys: readonly string[], operator: "In" | "NotIn"): NonNullable<LabelSelector["matchExpressions"]> =>
    keys.filter((key) => Object.hasOwn(labels, key)).map((key) => ({ key, operator, values: [labels[key] ?? ""] }));
  const added = [...requirementsOf(matchLabelKeys, "In"), ...requirementsOf(mismatchLabelKeys, "NotIn")];
  if (added.length === 0) return term;
  return { ...term, labelSelector: { ...labelSelector, matchExpressions: [...(labelSelector.matchExpressions ?? []), ...added] } };
}
