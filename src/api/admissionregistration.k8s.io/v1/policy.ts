/**
 * Shared by ValidatingAdmissionPolicy and MutatingAdmissionPolicy: the matching requests, and the kind of their parameters. Not here: the
 * expressions (expressions.ts), bindings (policy-binding.ts).
 */
import { deepEqual } from "../../../base/deep.ts";
import type { MatchCondition, MatchResources, ParamKind, Variable } from "../../generated/admissionregistration.k8s.io/v1.ts";
import { changed, withChanges } from "../../changes.ts";
import { UNSET } from "../../machinery/columns.ts";
import { child, invalid, required, type FieldError } from "../../machinery/field-error.ts";
import { validateDns1035Label, validateDnsSubdomain } from "../../machinery/names.ts";
import { validateMatchConditions } from "./expressions.ts";
import { validateFailurePolicy } from "./failure-policy.ts";
import { defaultMatchResources, validateMatchResources } from "./rules.ts";

export interface PolicySpec {
  readonly paramKind?: ParamKind;
  readonly matchConstraints?: MatchResources;
  readonly matchConditions?: readonly MatchCondition[];
  readonly variables?: readonly Variable[];
  readonly failurePolicy?: "Fail" | "Ignore";
}

export function defaultPolicySpec<S extends PolicySpec>(spec: S): S {
  const { failurePolicy = "Fail", matchConstraints } = spec;
  return withChanges<PolicySpec>(spec, { failurePolicy, matchConstraints: changed(matchConstraints, defaultMatchResources) }) as S;
}

/** Common validation before the expressions. `constraints` are rules of one of the kinds. */
export function* validatePolicy(
  spec: PolicySpec,
  previous: PolicySpec | undefined,
  constraints: (match: MatchResources, at: string) => Iterable<FieldError> = () => [],
): Iterable<FieldError> {
  const { paramKind, matchConstraints } = spec;
  yield* validateFailurePolicy(spec.failurePolicy, "spec");
  if (paramKind !== undefined) yield* validateParamKind(paramKind, "spec.paramKind");
  if (matchConstraints === undefined) yield required("spec.matchConstraints");
  else {
    yield* validateMatchResources(matchConstraints, "spec.matchConstraints");
    if ((matchConstraints.resourceRules ?? []).length === 0) yield required("spec.matchConstraints.resourceRules");
    yield* constraints(matchConstraints, "spec.matchConstraints");
  }
  if (previous !== undefined && keepsMatchConditions(spec, previous)) return;
  yield* validateMatchConditions(spec.matchConditions, "spec.matchConditions", { hasParams: paramKind !== undefined });
}

/** Stored match conditions remain valid, unless the parameter kind changes. */
function keepsMatchConditions(next: PolicySpec, previous: PolicySpec): boolean {
  return deepEqual(next.paramKind, previous.paramKind) && deepEqual(next.matchConditions, previous.matchConditions);
}

function* validateParamKind({ apiVersion = "", kind = "" }: ParamKind, at: string): Iterable<FieldError> {
  yield* validateApiVersion(apiVersion, child(at, "apiVersion"));
  if (kind === "") {
    yield required(child(at, "kind"));
    return;
  }
  const wrong = validateDns1035Label(kind.toLowerCase());
  if (wrong.length > 0) yield invalid(child(at, "kind"), kind, `may have mixed case, but should otherwise match: ${wrong.join(",")}`);
}

function* validateApiVersion(apiVersion: string, at: string): Iterable<FieldError> {
  if (apiVersion === "") {
    yield required(at);
    return;
  }
  const parts = apiVersion.split("/");
  if (parts.length > 2) {
    yield invalid(at, apiVersion, `unexpected GroupVersion string: ${apiVersion}`);
    return;
  }
  const group = parts.length === 2 ? (parts[0] ?? "") : "";
  const version = parts.at(-1) ?? "";
  const wrongGroup = group === "" ? [] : validateDnsSubdomain(group);
  if (wrongGroup.length > 0) yield invalid(at, group, wrongGroup.join(","));
  if (version === "") yield invalid(at, apiVersion, "version must be specified");
  else {
    const wrong = validateDns1035Label(version);
    if (wrong.length > 0) yield invalid(at, version, wrong.join(","));
  }
}

export function paramKindCell(spec: PolicySpec | undefined): string {
  const paramKind = spec?.paramKind;
  return paramKind === undefined ? UNSET : `${paramKind.apiVersion ?? ""}/${paramKind.kind ?? ""}`;
}
