/** Allowed topologies of a class: ORed terms of node label values. Duplicate terms are rejected. */
import type { TopologySelectorLabelRequirement, TopologySelectorTerm } from "../../../generated/core/v1.ts";
import { duplicate, element, required, type FieldError } from "../../../machinery/field-error.ts";
import { errorsOf } from "../../../machinery/findings.ts";
import { validateLabelName } from "../../../machinery/metadata-validation.ts";

export function* validateTopologies(terms: readonly TopologySelectorTerm[], at: string): Iterable<FieldError> {
  const seen = new Map<string, number>();
  for (const [index, { matchLabelExpressions = [] }] of terms.entries()) {
    const here = `${element(at, index)}.matchLabelExpressions`;
    yield* validateRequirements(matchLabelExpressions, here);
    const meaning = meaningOf(matchLabelExpressions);
    // Upstream starts with as many empty terms as there are, so an empty one is a duplicate of each of them.
    const emptyTerms = matchLabelExpressions.length === 0 ? terms.length : 0;
    const same = seen.get(meaning) ?? 0;
    for (let count = 0; count < emptyTerms + same; count++) yield duplicate(here, "");
    seen.set(meaning, same + 1);
  }
}

function* validateRequirements(requirements: readonly TopologySelectorLabelRequirement[], at: string): Iterable<FieldError> {
  const keys = new Set<string>();
  for (const [index, { key, values }] of requirements.entries()) {
    const here = element(at, index);
    yield* validateValues(values ?? [], `${here}.values`);
    yield* errorsOf((errors) => validateLabelName(errors, key, `${here}.key`));
    if (keys.has(key)) yield duplicate(`${here}.key`, key);
    keys.add(key);
  }
}

function* validateValues(values: readonly string[], at: string): Iterable<FieldError> {
  if (values.length === 0) yield required(at);
  const seen = new Set<string>();
  for (const [index, value] of values.entries()) {
    if (seen.has(value)) yield duplicate(element(at, index), value);
    seen.add(value);
  }
}

/** Equal text for equivalent terms: order is irrelevant. Of requirements with one key the last counts, as upstream. */
function meaningOf(requirements: readonly TopologySelectorLabelRequirement[]): string {
  const byKey = new Map(requirements.map(({ key, values }) => [key, [...new Set(values ?? [])].toSorted()]));
  return JSON.stringify([...byKey].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
