/** Validation of the Pod failure policy of a Job, and of its success policy. */
import type {
  JobSpec,
  PodFailurePolicy,
  PodFailurePolicyOnExitCodesRequirement,
  PodFailurePolicyOnPodConditionsPattern,
  PodFailurePolicyRule,
  SuccessPolicy,
  SuccessPolicyRule,
} from "../../../generated/batch/v1.ts";
import {
  child,
  duplicate,
  element,
  invalid,
  notSupported,
  required,
  tooLong,
  tooMany,
  type FieldError,
} from "../../../machinery/field-error.ts";
import { errorsOf } from "../../../machinery/findings.ts";
import { validateLabelName } from "../../../machinery/metadata-validation.ts";
import { isLongerThan } from "../../../machinery/names.ts";
import { nonNegative } from "../../../number-validation.ts";
import { countIndexes, indexesProblem } from "./indexes.ts";

/** Rules are evaluated for every Pod that fails, and for every Pod that ends. */
const FAILURE_RULES_MAX = 20;
const SUCCESS_RULES_MAX = 20;
const PATTERNS_MAX = 20;
/** The number of exit codes other than success. */
const EXIT_CODES_MAX = 255;
/** They are stored in the object, once for each rule. */
const INDEXES_LENGTH_MAX_BYTES = 64 * 1024;

const ACTIONS = ["Count", "FailIndex", "FailJob", "Ignore"];
const OPERATORS = ["In", "NotIn"];
const STATUSES = ["False", "True", "Unknown"];

export function* validatePodFailurePolicy(policy: Partial<PodFailurePolicy>, spec: JobSpec, at: string): Iterable<FieldError> {
  const rules = policy.rules ?? [];
  if (rules.length > FAILURE_RULES_MAX) yield tooMany(child(at, "rules"), rules.length, FAILURE_RULES_MAX);
  for (const [index, rule] of rules.entries()) yield* validateFailureRule(rule, spec, element(child(at, "rules"), index));
}

function* validateFailureRule(rule: PodFailurePolicyRule, spec: JobSpec, at: string): Iterable<FieldError> {
  const { onExitCodes, onPodConditions = [] } = rule;
  yield* validateAction(rule.action ?? "", spec, child(at, "action"));
  if (onExitCodes !== undefined) yield* validateExitCodes(onExitCodes, spec, child(at, "onExitCodes"));
  yield* validatePatterns(onPodConditions, child(at, "onPodConditions"));
  const hasPatterns = onPodConditions.length > 0;
  if (onExitCodes !== undefined && hasPatterns) yield wrong(at, "specifying both OnExitCodes and OnPodConditions is not supported");
  if (onExitCodes === undefined && !hasPatterns) yield wrong(at, "specifying one of OnExitCodes and OnPodConditions is required");
}

/** Without the value, which would be the whole rule, or all conditions. */
export function wrong(field: string, detail: string): FieldError {
  return { type: "FieldValueInvalid", field, body: `Invalid value: ${detail}` };
}

function* validateAction(action: string, { backoffLimitPerIndex }: JobSpec, at: string): Iterable<FieldError> {
  if (action === "") yield required(at, validValues(ACTIONS));
  else if (!ACTIONS.includes(action)) yield notSupported(at, action, ACTIONS);
  else if (action === "FailIndex" && backoffLimitPerIndex === undefined) {
    yield invalid(at, action, "requires the backoffLimitPerIndex to be set");
  }
}

/** As Go prints a list of quoted strings. */
function validValues(values: readonly string[]): string {
  return `valid values: [${values.map((value) => `"${value}"`).join(" ")}]`;
}

function* validatePatterns(patterns: readonly PodFailurePolicyOnPodConditionsPattern[], at: string): Iterable<FieldError> {
  if (patterns.length > PATTERNS_MAX) yield tooMany(at, patterns.length, PATTERNS_MAX);
  for (const [index, { type = "", status = "" }] of patterns.entries()) {
    const here = element(at, index);
    yield* errorsOf((errors) => validateLabelName(errors, type, child(here, "type")));
    if (status === "") yield required(child(here, "status"), validValues(STATUSES));
    else if (!STATUSES.includes(status)) yield notSupported(child(here, "status"), status, STATUSES);
  }
}

function* validateExitCodes(
  { operator, containerName, values }: Partial<PodFailurePolicyOnExitCodesRequirement>,
  spec: JobSpec,
  at: string,
): Iterable<FieldError> {
  const operatorAt = child(at, "operator");
  if (!operator) yield required(operatorAt, validValues(OPERATORS));
  else if (!OPERATORS.includes(operator)) yield notSupported(operatorAt, operator, OPERATORS);
  if (containerName !== undefined && !containerNames(spec).includes(containerName)) {
    const why = "must be one of the container or initContainer names in the pod template";
    yield invalid(child(at, "containerName"), containerName, why);
  }
  yield* validateExitCodeValues(values, operator, child(at, "values"));
}

function containerNames({ template }: JobSpec): readonly string[] {
  const { containers = [], initContainers = [] } = template.spec ?? {};
  return [...containers, ...initContainers].map(({ name }) => name ?? "");
}

function* validateExitCodeValues(values: readonly number[] | undefined, operator: string | undefined, at: string): Iterable<FieldError> {
  const codes = values ?? [];
  if (codes.length === 0) yield invalid(at, values, "at least one value is required");
  if (codes.length > EXIT_CODES_MAX) yield tooMany(at, codes.length, EXIT_CODES_MAX);
  const seen = new Set<number>();
  for (const [index, code] of codes.entries()) {
    const here = element(at, index);
    if (operator === "In" && code === 0) yield invalid(here, code, "must not be 0 for the In operator");
    if (seen.has(code)) yield duplicate(here, code);
    seen.add(code);
  }
  const isOrdered = codes.every((code, index) => index === 0 || (codes[index - 1] ?? 0) <= code);
  if (!isOrdered) yield invalid(at, values, "must be ordered");
}

export function* validateSuccessPolicy(
  { rules = [] }: Partial<SuccessPolicy>,
  completions: number | undefined,
  at: string,
): Iterable<FieldError> {
  const here = child(at, "rules");
  if (rules.length === 0) yield required(here, "at least one rules must be specified when the successPolicy is specified");
  if (rules.length > SUCCESS_RULES_MAX) yield tooMany(here, rules.length, SUCCESS_RULES_MAX);
  for (const [index, rule] of rules.entries()) yield* validateSuccessRule(rule, completions, element(here, index));
}

/** Without completions, which is reported elsewhere, a rule cannot be validated (upstream panics on it). */
function* validateSuccessRule(rule: SuccessPolicyRule, completions: number | undefined, at: string): Iterable<FieldError> {
  const { succeededCount, succeededIndexes } = rule;
  if (succeededCount === undefined && succeededIndexes === undefined) {
    yield required(at, "at least one of succeededCount or succeededIndexes must be specified");
  }
  if (completions === undefined) return;
  if (succeededIndexes !== undefined) yield* validateSucceededIndexes(succeededIndexes, completions, child(at, "succeededIndexes"));
  if (succeededCount !== undefined) yield* validateSucceededCount(rule, completions, child(at, "succeededCount"));
}

function* validateSucceededIndexes(indexes: string, completions: number, at: string): Iterable<FieldError> {
  if (isLongerThan(indexes, INDEXES_LENGTH_MAX_BYTES)) yield tooLong(at, INDEXES_LENGTH_MAX_BYTES);
  const problem = indexesProblem(indexes, completions);
  if (problem !== undefined) yield invalid(at, indexes, `error parsing succeededIndexes: ${problem}`);
}

function* validateSucceededCount(rule: SuccessPolicyRule, completions: number, at: string): Iterable<FieldError> {
  const { succeededCount = 0, succeededIndexes } = rule;
  yield* nonNegative(succeededCount, at);
  if (succeededCount > completions) {
    yield invalid(at, succeededCount, `must be less than or equal to ${completions} (the number of specified completions)`);
  }
  if (succeededIndexes === undefined) return;
  // Malformed indexes count as none.
  const total = indexesProblem(succeededIndexes, completions) === undefined ? countIndexes(succeededIndexes, completions) : 0;
  if (succeededCount > total) {
    const what = "the number of indexes in the specified succeededIndexes field";
    yield invalid(at, succeededCount, `must be less than or equal to ${total} (${what})`);
  }
}

/** In the format of upstream's message: with its type names. */
export function shownSuccessPolicy({ rules }: Partial<SuccessPolicy>): unknown {
  const shown = rules?.map(({ succeededIndexes = null, succeededCount = null }) => ({
    SucceededIndexes: succeededIndexes,
    SucceededCount: succeededCount,
  }));
  return { Rules: shown ?? null };
}

export function shownPodFailurePolicy({ rules }: Partial<PodFailurePolicy>): unknown {
  const shown = rules?.map(({ action, onExitCodes, onPodConditions }) => ({
    Action: action ?? "",
    OnExitCodes: onExitCodes === undefined ? null : shownExitCodes(onExitCodes),
    OnPodConditions: onPodConditions?.map(({ type, status }) => ({ Type: type ?? "", Status: status ?? "" })) ?? null,
  }));
  return { Rules: shown ?? null };
}

function shownExitCodes({ containerName, operator, values }: Partial<PodFailurePolicyOnExitCodesRequirement>): unknown {
  return { ContainerName: containerName ?? null, Operator: operator ?? "", Values: values ?? null };
}
