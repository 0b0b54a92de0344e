/** Validation of scheduling fields other than affinity: tolerations, topology spread constraints, scheduling gates. */
import type {
  PodReadinessGate,
  PodResourceClaim,
  PodSchedulingGate,
  Toleration,
  TopologySpreadConstraint,
} from "../../../../generated/core/v1.ts";
import { duplicate, forbidden, invalid, notSupported, required } from "../../../../machinery/field-error.ts";
import type { FieldErrors } from "../../../../machinery/findings.ts";
import { validateLabelSelectorObject } from "../../../../machinery/selectors/label-selector.ts";
import { validateLabelValue } from "../../../../machinery/names.ts";
import { dnsLabel, dnsSubdomain, positive, qualifiedName, WHOLE_OBJECT } from "./checks.ts";
import { validateLabelKeys } from "./affinity.ts";

const TAINT_EFFECTS = ["NoSchedule", "PreferNoSchedule", "NoExecute"];
const UNSATISFIABLE_ACTIONS = ["DoNotSchedule", "ScheduleAnyway"];
const NODE_INCLUSION_POLICIES = ["Honor", "Ignore"];

export function validateTolerations(errors: FieldErrors, tolerations: readonly Toleration[], at: string): void {
  for (const [index, toleration] of tolerations.entries()) validateToleration(errors, toleration, `${at}[${index}]`);
}

function validateToleration(errors: FieldErrors, { key, operator, value = "", effect, tolerationSeconds }: Toleration, at: string): void {
  if (key) errors.addAll(qualifiedName(key, `${at}.key`));
  if (!key && operator !== "Exists") {
    const why = 'operator must be Exists when `key` is empty, which means "match all values and all keys"';
    errors.add(invalid(`${at}.operator`, operator ?? "", why));
  }
  if (tolerationSeconds !== undefined && effect !== "NoExecute") {
    errors.add(invalid(`${at}.effect`, effect ?? "", "effect must be 'NoExecute' when `tolerationSeconds` is set"));
  }
  validateTolerationOperator(errors, operator, value, at);
  if (effect && !TAINT_EFFECTS.includes(effect)) errors.add(notSupported(`${at}.effect`, effect, TAINT_EFFECTS));
}

/** Numeric comparison (Lt, Gt) is behind a feature gate that is off upstream, though the error message names it. */
function validateTolerationOperator(errors: FieldErrors, operator: string | undefined, value: string, at: string): void {
  const here = `${at}.operator`;
  if (!operator || operator === "Equal") {
    const problems = validateLabelValue(value);
    if (problems.length > 0) errors.add(invalid(here, value, problems.join(";")));
  } else if (operator === "Exists") {
    if (value !== "") errors.add(invalid(here, value, "value must be empty when `operator` is 'Exists'"));
  } else if (operator === "Lt" || operator === "Gt") {
    errors.add(notSupported(here, operator, ["Equal", "Exists", "Lt", "Gt"]));
  } else errors.add(notSupported(here, operator, ["Equal", "Exists"]));
}

export function validateTopologySpread(errors: FieldErrors, constraints: readonly TopologySpreadConstraint[], at: string): void {
  const lastPlaces = new Map(constraints.map((constraint, index) => [spreadId(constraint), index]));
  for (const [index, constraint] of constraints.entries()) {
    const isRepeated = lastPlaces.get(spreadId(constraint)) !== index;
    validateSpreadConstraint(errors, constraint, { isRepeated }, `${at}[${index}]`);
  }
}

/** Must be unique among the constraints. */
function spreadId({ topologyKey, whenUnsatisfiable }: TopologySpreadConstraint): string {
  return JSON.stringify([topologyKey, whenUnsatisfiable]);
}

function validateSpreadConstraint(
  errors: FieldErrors,
  constraint: TopologySpreadConstraint,
  { isRepeated }: { readonly isRepeated: boolean },
  at: string,
): void {
  const { maxSkew, topologyKey, whenUnsatisfiable, minDomains } = constraint;
  errors.addAll(positive(maxSkew, `${at}.maxSkew`));
  if (!topologyKey) errors.add(required(`${at}.topologyKey`, "can not be empty"));
  if (!UNSATISFIABLE_ACTIONS.includes(whenUnsatisfiable)) {
    errors.add(notSupported(`${at}.whenUnsatisfiable`, whenUnsatisfiable ?? "", UNSATISFIABLE_ACTIONS));
  }
  if (isRepeated) {
    errors.add(duplicate(`${at}.{topologyKey, whenUnsatisfiable}`, `{${topologyKey}, ${whenUnsatisfiable}}`));
  }
  if (minDomains !== undefined) {
    errors.addAll(positive(minDomains, `${at}.minDomains`));
    if (whenUnsatisfiable !== "DoNotSchedule") {
      const why = `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${whenUnsatisfiable}`;
      errors.add(invalid(`${at}.minDomains`, minDomains, why));
    }
  }
  for (const name of ["nodeAffinityPolicy", "nodeTaintsPolicy"] as const) {
    const policy = constraint[name];
    if (policy !== undefined && !NODE_INCLUSION_POLICIES.includes(policy)) {
      errors.add(notSupported(`${at}.${name}`, policy, NODE_INCLUSION_POLICIES));
    }
  }
  validateLabelKeys(errors, constraint, at);
  errors.addAll(validateLabelSelectorObject(constraint.labelSelector, `${at}.labelSelector`));
}

export function validateReadinessGates(errors: FieldErrors, gates: readonly PodReadinessGate[], at: string): void {
  for (const [index, { conditionType }] of gates.entries())
    errors.addAll(qualifiedName(conditionType ?? "", `${at}[${index}].conditionType`));
}

export function validateSchedulingGates(errors: FieldErrors, gates: readonly PodSchedulingGate[], at: string): void {
  const seen = new Set<string>();
  for (const [index, { name = "" }] of gates.entries()) {
    errors.addAll(qualifiedName(name, `${at}[${index}]`));
    if (seen.has(name)) errors.add(duplicate(`${at}[${index}]`, name));
    seen.add(name);
  }
}

/** Resource claims, which the containers of the Pod can reference by name. */
export function validateResourceClaims(
  errors: FieldErrors,
  claims: readonly PodResourceClaim[],
  at: string,
  { isMirror }: { readonly isMirror: boolean },
): void {
  const seen = new Set<string>();
  for (const [index, claim] of claims.entries()) {
    if (isMirror) errors.add(forbidden(WHOLE_OBJECT, "static pods do not support resource claims"));
    else validateResourceClaim(errors, claim, seen, `${at}[${index}]`);
  }
}

function validateResourceClaim(errors: FieldErrors, claim: PodResourceClaim, seen: Set<string>, at: string): void {
  const { name, resourceClaimName, resourceClaimTemplateName } = claim;
  if (!name) errors.add(required(`${at}.name`));
  else if (seen.has(name)) errors.add(duplicate(`${at}.name`, name));
  else {
    errors.addAll(dnsLabel(name, `${at}.name`));
    seen.add(name);
  }
  // In the format of upstream's type.
  const shown = {
    Name: name ?? "",
    ResourceClaimName: resourceClaimName ?? null,
    ResourceClaimTemplateName: resourceClaimTemplateName ?? null,
  };
  if (resourceClaimName !== undefined && resourceClaimTemplateName !== undefined) {
    errors.add(invalid(at, shown, "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified"));
  }
  if (resourceClaimName === undefined && resourceClaimTemplateName === undefined) {
    errors.add(invalid(at, shown, "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"));
  }
  if (resourceClaimName !== undefined) errors.addAll(dnsSubdomain(resourceClaimName, `${at}.resourceClaimName`));
  if (resourceClaimTemplateName !== undefined) errors.addAll(dnsSubdomain(resourceClaimTemplateName, `${at}.resourceClaimTemplateName`));
}
