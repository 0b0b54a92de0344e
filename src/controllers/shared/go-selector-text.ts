/** Formats a label selector as Go prints it. Upstream's events and conditions contain it. */
import type { LabelSelectorObject } from "../../api/machinery/selectors/label-selector.ts";

export function goSelectorText(selector: LabelSelectorObject | undefined): string {
  if (selector === undefined) return "nil";
  const { matchLabels = {}, matchExpressions = [] } = selector;
  const keys = Object.keys(matchLabels).toSorted();
  const labels = keys.map((key) => `${key}: ${matchLabels[key]},`).join("");
  const expressions = matchExpressions.map(
    ({ key, operator, values = [] }) => `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${values.join(" ")}],},`,
  );
  return `&LabelSelector{MatchLabels:map[string]string{${labels}},MatchExpressions:[]LabelSelectorRequirement{${expressions.join("")}},}`;
}
