/** Device taints and tolerations, and the conditions that delay binding a Pod to a device. */
import type { DeviceTaint, DeviceToleration } from "../../generated/resource.k8s.io/v1.ts";
import { duplicate, element, invalid, notSupported, required, type FieldError } from "../../machinery/field-error.ts";
import { errorsOf } from "../../machinery/findings.ts";
import { validateLabelName } from "../../machinery/metadata-validation.ts";
import { validateTextOfLabel } from "./device-names.ts";
import { validateList } from "./limited-lists.ts";

const EFFECTS = ["NoExecute", "NoSchedule", "None"];
const OPERATORS = ["Equal", "Exists"];
/** Maximum of each of the two lists. */
const BINDING_CONDITIONS_MAX = 4;

export function* validateTaint({ key, value = "", effect }: DeviceTaint, at: string): Iterable<FieldError> {
  yield* errorsOf((errors) => validateLabelName(errors, key, `${at}.key`));
  if (value !== "") yield* validateTextOfLabel(value, `${at}.value`);
  if (!effect) yield required(`${at}.effect`);
  else yield* validateEffect(effect, `${at}.effect`);
}

export function* validateTolerations(tolerations: readonly DeviceToleration[] | undefined, at: string): Iterable<FieldError> {
  for (const [index, toleration] of (tolerations ?? []).entries()) yield* validateToleration(toleration, element(at, index));
}

function* validateToleration(toleration: DeviceToleration, at: string): Iterable<FieldError> {
  const { key = "", operator, value = "", effect } = toleration;
  if (key !== "") yield* errorsOf((errors) => validateLabelName(errors, key, `${at}.key`));
  if (operator === "Exists") {
    if (value !== "") yield invalid(`${at}.value`, value, "must be empty for operator `Exists`");
  } else if (operator === "Equal") {
    yield* validateTextOfLabel(value, `${at}.value`);
  } else {
    yield notSupported(`${at}.operator`, operator, OPERATORS);
  }
  if (effect) yield* validateEffect(effect, `${at}.effect`);
}

function* validateEffect(effect: string, at: string): Iterable<FieldError> {
  if (!EFFECTS.includes(effect)) yield notSupported(at, effect, EFFECTS);
}

interface BindingConditions {
  readonly bindingConditions?: readonly string[];
  readonly bindingFailureConditions?: readonly string[];
}

/** Conditions of success and of failure must be set together, and be disjoint. */
export function* validateBindingConditions(device: BindingConditions, at: string): Iterable<FieldError> {
  const { bindingConditions = [], bindingFailureConditions = [] } = device;
  const [successAt, failureAt] = [`${at}.bindingConditions`, `${at}.bindingFailureConditions`];
  const validate = (name: string, here: string) => errorsOf((errors) => validateLabelName(errors, name, here));
  const rules = { max: BINDING_CONDITIONS_MAX, validate };
  yield* validateList(bindingConditions, rules, successAt);
  yield* validateList(bindingFailureConditions, rules, failureAt);
  const successes = new Set<string>();
  for (const [index, condition] of bindingConditions.entries()) {
    if (successes.has(condition)) yield duplicate(element(successAt, index), condition);
    successes.add(condition);
  }
  const failures = new Set<string>();
  for (const [index, condition] of bindingFailureConditions.entries()) {
    if (failures.has(condition)) yield duplicate(element(failureAt, index), condition);
    failures.add(condition);
    if (successes.has(condition)) {
      yield invalid(element(failureAt, index), condition, "bindingFailureConditions must not overlap with bindingConditions");
    }
  }
  if (bindingConditions.length === 0 && bindingFailureConditions.length > 0) {
    yield invalid(successAt, null, "bindingConditions are required to use bindingFailureConditions");
  }
  if (bindingFailureConditions.length === 0 && bindingConditions.length > 0) {
    yield invalid(failureAt, null, "bindingFailureConditions are required to use bindingConditions");
  }
}
