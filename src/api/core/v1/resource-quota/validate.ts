/** Validation of a ResourceQuota: countable resources, amounts, and valid combinations of scopes. */
import type {
  ResourceQuota,
  ResourceQuotaSpec,
  ResourceQuotaStatus,
  ScopedResourceSelectorRequirement,
} from "../../../generated/core/v1.ts";
import { child, element, immutable, invalid, required, type FieldError } from "../../../machinery/field-error.ts";
import { errorsOf } from "../../../machinery/findings.ts";
import { readQuantity, type ResourceList } from "../pod/resource-list.ts";
import { isStandardResource, validateResourceName, validateResourceQuantity } from "../pod/validation/resources.ts";

const POD_COUNT = ["pods"];
const POD_RESOURCES = [...POD_COUNT, "cpu", "memory", "limits.cpu", "limits.memory", "requests.cpu", "requests.memory"];
const CLAIM_RESOURCES = ["persistentvolumeclaims", "requests.storage"];

/** What can be counted within a scope: it selects Pods or claims, and BestEffort Pods request nothing. */
const RESOURCES_OF_SCOPES: ReadonlyMap<string, readonly string[]> = new Map([
  ["Terminating", POD_RESOURCES],
  ["NotTerminating", POD_RESOURCES],
  ["BestEffort", POD_COUNT],
  ["NotBestEffort", POD_RESOURCES],
  ["PriorityClass", POD_RESOURCES],
  ["CrossNamespacePodAffinity", POD_RESOURCES],
  ["VolumeAttributesClass", CLAIM_RESOURCES],
]);

/** Scopes without values to choose from. */
const SCOPES_WITHOUT_VALUES: readonly string[] = [
  "BestEffort",
  "NotBestEffort",
  "Terminating",
  "NotTerminating",
  "CrossNamespacePodAffinity",
];
const CONFLICTS: readonly (readonly [string, string])[] = [
  ["BestEffort", "NotBestEffort"],
  ["Terminating", "NotTerminating"],
];
const WITHOUT_VALUES_MESSAGE =
  "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity";

export function* validateQuotaSpec(spec: ResourceQuotaSpec): Iterable<FieldError> {
  yield* validateAmounts(spec.hard, "spec.hard");
  yield* validateScopes(spec);
  yield* validateSelector(spec);
}

export function* validateQuotaStatus(status: ResourceQuotaStatus): Iterable<FieldError> {
  yield* validateAmounts(status.hard, "status.hard");
  yield* validateAmounts(status.used, "status.used");
}

/** In any order, with any repetitions. */
export function* validateSameScopes({ spec }: ResourceQuota, previous: ResourceQuota): Iterable<FieldError> {
  const next = new Set(spec?.scopes);
  const before = new Set(previous.spec?.scopes);
  if (next.size !== before.size || [...next].some((scope) => !before.has(scope))) yield immutable("spec.scopes", spec?.scopes);
}

function* validateAmounts(list: ResourceList | undefined, at: string): Iterable<FieldError> {
  for (const [name, text] of Object.entries(list ?? {})) {
    const here = element(at, name);
    yield* errorsOf((errors) => validateResourceName(errors, name, here));
    if (!name.includes("/") && !isQuotaResource(name)) yield invalid(here, name, "must be a standard resource for quota");
    yield* errorsOf((errors) => validateResourceQuantity(errors, name, readQuantity(text), here));
  }
}

/** A quota distinguishes requests and limits, and storage has requests only. */
function isQuotaResource(name: string): boolean {
  return isStandardResource(name) && name !== "storage";
}

function* validateScopes(spec: ResourceQuotaSpec): Iterable<FieldError> {
  const at = "spec.scopes";
  const { scopes = [] } = spec;
  const outside = outsideOf(spec);
  for (const scope of scopes) {
    if (!RESOURCES_OF_SCOPES.has(scope)) yield invalid(at, scopes, "unsupported scope");
    for (const _ of outside(scope)) yield invalid(at, scopes, "unsupported scope applied to resource");
  }
  for (const _ of conflictsIn(scopes)) yield invalid(at, scopes, "conflicting scopes");
}

function* validateSelector(spec: ResourceQuotaSpec): Iterable<FieldError> {
  const at = "spec.scopeSelector.matchExpressions";
  const expressions = spec.scopeSelector?.matchExpressions ?? [];
  const outside = outsideOf(spec);
  for (const { scopeName, operator, values = [] } of expressions) {
    if (!RESOURCES_OF_SCOPES.has(scopeName)) yield invalid(child(at, "scopeName"), scopeName, "unsupported scope");
    for (const _ of outside(scopeName)) yield invalid(at, shown(expressions), "unsupported scope applied to resource");
    if (SCOPES_WITHOUT_VALUES.includes(scopeName) && operator !== "Exists") {
      yield invalid(child(at, "operator"), operator, WITHOUT_VALUES_MESSAGE);
    }
    yield* validateOperator(operator, values, at);
  }
  const names = expressions.map(({ scopeName }) => scopeName);
  // Upstream quotes the other list of scopes here.
  for (const _ of conflictsIn(names)) yield invalid(at, spec.scopes, "conflicting scopes");
}

function* validateOperator(operator: string, values: readonly string[], at: string): Iterable<FieldError> {
  if (operator === "In" || operator === "NotIn") {
    if (values.length > 0) return;
    yield required(child(at, "values"), "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector");
  } else if (operator === "Exists" || operator === "DoesNotExist") {
    if (values.length === 0) return;
    yield invalid(child(at, "values"), values, "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector");
  } else {
    yield invalid(child(at, "operator"), operator, "not a valid selector operator");
  }
}

/** Resources that the quota counts although no object in the scope uses them; computed once per scope, however often it occurs. */
function outsideOf({ hard = {} }: ResourceQuotaSpec): (scope: string) => readonly string[] {
  const counted = Object.keys(hard).filter(isQuotaResource);
  const known = new Map<string, readonly string[]>();
  return (scope) => {
    const inside = RESOURCES_OF_SCOPES.get(scope);
    if (inside === undefined) return [];
    const found = known.get(scope) ?? counted.filter((name) => !inside.includes(name));
    known.set(scope, found);
    return found;
  };
}

function conflictsIn(scopes: readonly string[]): readonly (readonly string[])[] {
  return CONFLICTS.filter((pair) => pair.every((scope) => scopes.includes(scope)));
}

/** In the format of upstream's messages. */
function shown(expressions: readonly ScopedResourceSelectorRequirement[]): object {
  const each = expressions.map(({ scopeName, operator, values }) => ({ ScopeName: scopeName, Operator: operator, Values: values ?? null }));
  return { MatchExpressions: each };
}
