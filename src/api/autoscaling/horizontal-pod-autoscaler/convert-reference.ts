/** Converts references and label selectors in the annotations of autoscaling/v1. */
import type { CrossVersionObjectReference } from "../../generated/autoscaling/v2.ts";
import type { LabelSelector, LabelSelectorRequirement } from "../../generated/meta/v1.ts";
import { defined } from "../../members.ts";
import type { Members } from "./go-json.ts";

export function writeReference({ kind, name, apiVersion }: CrossVersionObjectReference): CrossVersionObjectReference {
  return defined<CrossVersionObjectReference>({ kind, name, apiVersion });
}

export const NO_REFERENCE: CrossVersionObjectReference = { kind: "", name: "" };

export function readReference(reference: Members): CrossVersionObjectReference {
  return defined<CrossVersionObjectReference>({
    kind: reference.text("kind") ?? "",
    name: reference.text("name") ?? "",
    apiVersion: reference.text("apiVersion") || undefined,
  });
}

/** With labels sorted by key, as Go writes every map. */
export function writeSelector(selector: LabelSelector | undefined): LabelSelector | undefined {
  if (selector === undefined) return undefined;
  const { matchLabels, matchExpressions } = selector;
  return defined<LabelSelector>({
    matchLabels: matchLabels && Object.fromEntries(Object.entries(matchLabels).toSorted(([a], [b]) => (a < b ? -1 : 1))),
    matchExpressions: matchExpressions?.map(({ key, operator, values }) => defined<LabelSelectorRequirement>({ key, operator, values })),
  });
}

export function readSelector(selector: Members): LabelSelector {
  return defined<LabelSelector>({
    matchLabels: selector.textMap("matchLabels"),
    matchExpressions: selector.list("matchExpressions", (requirement) =>
      defined<LabelSelectorRequirement>({
        key: requirement.text("key") ?? "",
        operator: requirement.text("operator") ?? "",
        values: requirement.texts("values"),
      }),
    ),
  });
}
