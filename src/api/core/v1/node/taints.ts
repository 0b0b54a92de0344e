/** Validation of taints, which repel Pods from a Node unless they tolerate them. */
import type { Taint } from "../../../generated/core/v1.ts";
import { child, duplicate, element, invalid, notSupported, required, type FieldError } from "../../../machinery/field-error.ts";
import { errorsOf } from "../../../machinery/findings.ts";
import { validateLabelName } from "../../../machinery/metadata-validation.ts";
import { validateLabelValue } from "../../../machinery/names.ts";

const EFFECTS = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

export function* validateTaints(taints: readonly Taint[], at: string): Iterable<FieldError> {
  const seen = new Set<string>();
  for (const [index, taint] of taints.entries()) {
    const here = element(at, index);
    const { key, value = "", effect } = taint;
    yield* errorsOf((errors) => validateLabelName(errors, key, child(here, "key")));
    const wrong = validateLabelValue(value);
    if (wrong.length > 0) yield invalid(child(here, "value"), value, wrong.join(";"));
    if (!EFFECTS.includes(effect)) yield effect ? notSupported(child(here, "effect"), effect, EFFECTS) : required(child(here, "effect"));
    const pair = `${effect} ${key}`;
    if (seen.has(pair)) yield duplicateTaint(taint, here);
    seen.add(pair);
  }
}

/** In the format of upstream's message: with its type names. */
function duplicateTaint({ key, value = "", effect, timeAdded }: Taint, field: string): FieldError {
  const { type, body } = duplicate(field, { Key: key, Value: value, Effect: effect, TimeAdded: timeAdded ?? null });
  return { type, field, body: `${body}: taints must be unique by key and effect pair` };
}
