/** Validation of scheduling fields other than affinity: tolerations, topology spread constraints, scheduling gates. */
import type {
  PodReadinessGate,
  PodResourceClaim,
  PodSchedulingGate,
  Toleration,
  TopologySpreadConstraint,
} from "../../../../generated/core/v1.ts";
import { duplicate, forbidden, invalid, notSupported, required, type FieldError } from "../../../../machinery/field-error.ts";
import { validateLabelSelectorObject } from "../../../../machinery/selectors/label-selector.ts";
import { validateLabelValue } from "../../../../machinery/names.ts";
import { dnsLabel, dnsSubdomain, positive, qualifiedName, WHOLE_OBJECT } from "./checks.ts";
import { validateLabelKeys } from "./affinity.ts";

const TAINT_EFFECTS = ["NoSchedule", "PreferNoSchedule", "NoExecute"];
const UNSATISFIABLE_ACTIONS = ["DoNotSchedule", "ScheduleAnyway"];
const NODE_INCLUSION_POLICIES = ["Honor", "Ignore"];

export function* validateTolerations(tolerations: readonly Toleration[], at: string): Iterable<FieldError> {
  for (const [index, toleration] of tolerations.entries()) yield* validateToleration(toleration, `${at}[${index}]`);
}

function* validateToleration({ key, operator, value = "", effect, tolerationSeconds }: Toleration, at: string): Iterable<FieldError> {
  if (key) yield* qualifiedName(key, `${at}.key`);
  if (!key && operator !== "Exists") {
    const why = 'operator must be Exists when `key` is empty, which means "match all values and all keys"';
    yield invalid(`${at}.operator`, operator ?? "", why);
  }
  if (tolerationSeconds !== undefined && effect !== "NoExecute") {
    yield invalid(`${at}.effect`, effect ?? "", "effect must be 'NoExecute' when `tolerationSeconds` is set");
  }
  yield* validateTolerationOperator(operator, value, at);
  if (effect && !TAINT_EFFECTS.includes(effect)) yield notSupported(`${at}.effect`, effect, TAINT_EFFECTS);
}

/** Numeric comparison (Lt, Gt) is behind a feature gate that is off upstream, though the error message names it. */
function* validateTolerationOperator(operator: string | undefined, value: string, at: string): Iterable<FieldError> {
  const here = `${at}.operator`;
  if (!operator || operator === "Equal") {
    const problems = validateLabelValue(value);
    if (problems.length > 0) yield invalid(here, value, problems.join(";"));
  } else if (operator === "Exists") {
    if (value !== "") yield invalid(here, value, "value must be empty when `operator` is 'Exists'");
  } else if (operator === "Lt" || operator === "Gt") {
    yield notSupported(here, operator, ["Equal", "Exists", "Lt", "Gt"]);
  } else yield notSupported(here, operator, ["Equal", "Exists"]);
}

export function* validateTopologySpread(constraints: readonly TopologySpreadConstraint[], at: string): Iterable<FieldError> {
  const lastPlaces = new Map(constraints.map((constraint, index) => [spreadId(constraint), index]));
  for (const [index, constraint] of constraints.entries()) {
    const isRepeated = lastPlaces.get(spreadId(constraint)) !== index;
    yield* validateSpreadConstraint(constraint, { isRepeated }, `${at}[${index}]`);
  }
}

/** Must be unique among the constraints. */
function spreadId({ topologyKey, whenUnsatisfiable }: TopologySpreadConstraint): string {
  return JSON.stringify([topologyKey, whenUnsatisfiable]);
}

function* validateSpreadConstraint(
  constraint: TopologySpreadConstraint,
  { isRepeated }: { readonly isRepeated: boolean },
  at: string,
): Iterable<FieldError> {
  const { maxSkew, topologyKey, whenUnsatisfiable, minDomains } = constraint;
  yield* positive(maxSkew, `${at}.maxSkew`);
  if (!topologyKey) yield required(`${at}.topologyKey`, "can not be empty");
  if (!UNSATISFIABLE_ACTIONS.includes(whenUnsatisfiable)) {
    yield notSupported(`${at}.whenUnsatisfiable`, whenUnsatisfiable ?? "", UNSATISFIABLE_ACTIONS);
  }
  if (isRepeated) {
    yield duplicate(`${at}.{topologyKey, whenUnsatisfiable}`, `{${topologyKey}, ${whenUnsatisfiable}}`);
  }
  if (minDomains !== undefined) {
    yield* positive(minDomains, `${at}.minDomains`);
    if (whenUnsatisfiable !== "DoNotSchedule") {
      const why = `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${whenUnsatisfiable}`;
      yield invalid(`${at}.minDomains`, minDomains, why);
    }
  }
  for (const name of ["nodeAffinityPolicy", "nodeTaintsPolicy"] as const) {
    const policy = constraint[name];
    if (policy !== undefined && !NODE_INCLUSION_POLICIES.includes(policy)) {
      yield notSupported(`${at}.${name}`, policy, NODE_INCLUSION_POLICIES);
    }
  }
  yield* validateLabelKeys(constraint, at);
  yield* validateLabelSelectorObject(constraint.labelSelector, `${at}.labelSelector`);
}

export function* validateReadinessGates(gates: readonly PodReadinessGate[], at: string): Iterable<FieldError> {
  for (const [index, { conditionType }] of gates.entries()) yield* qualifiedName(conditionType ?? "", `${at}[${index}].conditionType`);
}

export function* validateSchedulingGates(gates: readonly PodSchedulingGate[], at: string): Iterable<FieldError> {
  const seen = new Set<string>();
  for (const [index, { name = "" }] of gates.entries()) {
    yield* qualifiedName(name, `${at}[${index}]`);
    if (seen.has(name)) yield duplicate(`${at}[${index}]`, name);
    seen.add(name);
  }
}

/** Resource claims, which the containers of the Pod can reference by name. */
export function* validateResourceClaims(
  claims: readonly PodResourceClaim[],
  at: string,
  { isMirror }: { readonly isMirror: boolean },
): Iterable<FieldError> {
  const seen = new Set<string>();
  for (const [index, claim] of claims.entries()) {
    if (isMirror) yield forbidden(WHOLE_OBJECT, "static pods do not support resource claims");
    else yield* validateResourceClaim(claim, seen, `${at}[${index}]`);
  }
}

function* validateResourceClaim(claim: PodResourceClaim, seen: Set<string>, at: string): Iterable<FieldError> {
  const { name, resourceClaimName, resourceClaimTemplateName } = claim;
  if (!name) yield required(`${at}.name`);
  else if (seen.has(name)) yield duplicate(`${at}.name`, name);
  else {
    yield* dnsLabel(name, `${at}.name`);
    seen.add(name);
  }
  // In the format of upstream's type.
  const shown = {
    Name: name ?? "",
    ResourceClaimName: resourceClaimName ?? null,
    ResourceClaimTemplateName: resourceClaimTemplateName ?? null,
  };
  if (resourceClaimName !== undefined && resourceClaimTemplateName !== undefined) {
    yield invalid(at, shown, "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified");
  }
  if (resourceClaimName === undefined && resourceClaimTemplateName === undefined) {
    yield invalid(at, shown, "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`");
  }
  if (resourceClaimName !== undefined) yield* dnsSubdomain(resourceClaimName, `${at}.resourceClaimName`);
  if (resourceClaimTemplateName !== undefined) yield* dnsSubdomain(resourceClaimTemplateName, `${at}.resourceClaimTemplateName`);
}
