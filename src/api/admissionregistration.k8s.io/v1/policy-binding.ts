/**
 * Shared by ValidatingAdmissionPolicyBinding and MutatingAdmissionPolicyBinding: the policy, its parameter objects, and which of the
 * policy's requests it applies to.
 */
import type { MatchResources, ParamRef } from "../../generated/admissionregistration.k8s.io/v1.ts";
import { changed, withChanges } from "../../changes.ts";
import { UNSET } from "../../machinery/columns.ts";
import { child, forbidden, invalid, notSupported, required, type FieldError } from "../../machinery/field-error.ts";
import { validateLabelSelectorObject, type LabelSelectorObject } from "../../machinery/selectors/label-selector.ts";
import { validateDnsSubdomain, validatePathSegmentName } from "../../machinery/names.ts";
import { defaultMatchResources, validateMatchResources } from "./rules.ts";

export interface BindingSpec {
  readonly policyName?: string;
  readonly paramRef?: ParamRef;
  readonly matchResources?: MatchResources;
}

export function defaultBindingSpec<S extends BindingSpec>(spec: S): S {
  return withChanges<BindingSpec>(spec, { matchResources: changed(spec.matchResources, defaultMatchResources) }) as S;
}

export function* validateBinding({ policyName = "", paramRef, matchResources }: BindingSpec): Iterable<FieldError> {
  if (policyName === "") yield required("spec.policyName");
  else for (const wrong of validateDnsSubdomain(policyName)) yield invalid("spec.policyName", policyName, wrong);
  if (paramRef !== undefined) yield* validateParamRef(paramRef, "spec.paramRef");
  yield* validateMatchResources(matchResources, "spec.matchResources");
}

const NOT_FOUND_ACTIONS = ["Deny", "Allow"];
const EITHER = "name and selector are mutually exclusive";

function* validateParamRef({ name = "", selector, parameterNotFoundAction = "" }: ParamRef, at: string): Iterable<FieldError> {
  if (name !== "") {
    for (const wrong of validatePathSegmentName(name)) yield invalid(child(at, "name"), name, wrong);
    if (selector !== undefined) yield forbidden(child(at, "name"), EITHER);
  }
  if (selector !== undefined) {
    yield* validateLabelSelectorObject(selector, child(at, "selector"));
    if (name !== "") yield forbidden(child(at, "selector"), EITHER);
  }
  if (name === "" && selector === undefined) yield required(at, "one of name or selector must be specified");
  if (parameterNotFoundAction === "") yield required(child(at, "parameterNotFoundAction"));
  else if (!NOT_FOUND_ACTIONS.includes(parameterNotFoundAction)) {
    yield notSupported(child(at, "parameterNotFoundAction"), parameterNotFoundAction, NOT_FOUND_ACTIONS);
  }
}

export function paramRefCell(paramRef: ParamRef | undefined): string {
  if (paramRef?.name !== undefined) return `${paramRef.namespace ?? "*"}/${paramRef.name}`;
  return paramRef?.selector === undefined ? UNSET : describeSelector(paramRef.selector);
}

/** As Go prints a LabelSelector; upstream shows it so. */
function describeSelector({ matchLabels = {}, matchExpressions = [] }: LabelSelectorObject): string {
  const labels = Object.keys(matchLabels)
    .toSorted()
    .map((key) => `${key}: ${matchLabels[key]},`);
  const expressions = matchExpressions.map(
    ({ key, operator, values = [] }) => `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${values.join(" ")}],},`,
  );
  return `&LabelSelector{MatchLabels:map[string]string{${labels.join("")}},MatchExpressions:[]LabelSelectorRequirement{${expressions.join("")}},}`;
}
