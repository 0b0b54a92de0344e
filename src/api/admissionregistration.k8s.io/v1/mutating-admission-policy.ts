/**
 * admissionregistration.k8s.io/v1 MutatingAdmissionPolicy: expressions that change an object while it is being written. It has no effect
 * until a MutatingAdmissionPolicyBinding names it. Not here: compiling expressions (expressions.ts says where), applying them
 * (apiserver/admission), and whether the user may read the kind of its parameters, which needs an authorizer.
 */
import { deepEqual } from "../../../base/deep.ts";
import type { MutatingAdmissionPolicy, MutatingAdmissionPolicySpec, Mutation } from "../../generated/admissionregistration.k8s.io/v1.ts";
import { changed, withChanges } from "../../changes.ts";
import { ageColumn, nameColumn, textColumn } from "../../machinery/columns.ts";
import { child, element, invalid, notSupported, required, type FieldError } from "../../machinery/field-error.ts";
import { defineResource } from "../../machinery/resource.ts";
import { checkExpression, isBlank, validateVariables, type ExpressionUse } from "./expressions.ts";
import { staticNameWarnings, validateReinvocationPolicy } from "./failure-policy.ts";
import { defaultPolicySpec, paramKindCell, validatePolicy } from "./policy.ts";
import { validateMutableOperations } from "./rules.ts";

export const mutatingAdmissionPolicies = defineResource<MutatingAdmissionPolicy>({
  kind: "MutatingAdmissionPolicy",
  plural: "mutatingadmissionpolicies",
  singular: "mutatingadmissionpolicy",
  categories: ["api-extensions"],
  scope: "Cluster",
  served: [
    {
      group: "admissionregistration.k8s.io",
      version: "v1",
      schema: "io.k8s.api.admissionregistration.v1.MutatingAdmissionPolicy",
      defaults: (policy: MutatingAdmissionPolicy) => withChanges(policy, { spec: changed(policy.spec, defaultPolicySpec) }),
    },
  ],
  olderStorage: [{ version: "v1beta1" }],
  unconditionalUpdate: false,

  changesGeneration: (next, previous) => !deepEqual(next.spec, previous.spec),

  allowsPlainFinalizers: true,
  *validate({ spec = {} }, previous) {
    yield* validatePolicy(spec, previous?.spec, validateMutableOperations);
    yield* validateVariables(spec.variables, "spec.variables", { hasParams: spec.paramKind !== undefined });
    yield* validateMutations(spec);
    if (spec.reinvocationPolicy === undefined) yield required("spec.reinvocationPolicy");
    else yield* validateReinvocationPolicy(spec.reinvocationPolicy, "spec");
  },
  warnings: staticNameWarnings,

  columns: [
    nameColumn,
    textColumn("Mutations", "Number of mutations", ({ spec }) => (spec?.mutations ?? []).length, { type: "integer" }),
    textColumn("ParamKind", "Kind of the parameter objects", ({ spec }) => paramKindCell(spec)),
    ageColumn,
  ],
});

/** The member of each patch type. */
const PATCH_TYPES = {
  ApplyConfiguration: { member: "applyConfiguration", other: "jsonPatch", purpose: "apply configuration" },
  JSONPatch: { member: "jsonPatch", other: "applyConfiguration", purpose: "JSON patch" },
} as const;

function* validateMutations({ mutations = [], paramKind, variables }: MutatingAdmissionPolicySpec): Iterable<FieldError> {
  if (mutations.length === 0) yield required("spec.mutations", "mutations must contain at least one item");
  const use = { hasParams: paramKind !== undefined, ...(variables === undefined ? {} : { variables }) };
  for (const [index, mutation] of mutations.entries()) yield* validateMutation(mutation, element("spec.mutations", index), use);
}

function* validateMutation(mutation: Mutation, at: string, use: Omit<ExpressionUse, "purpose">): Iterable<FieldError> {
  // A client may send any value, whatever the type says.
  const patchType: string = mutation.patchType;
  if (patchType === "") {
    yield required(child(at, "patchType"));
    return;
  }
  if (patchType !== "ApplyConfiguration" && patchType !== "JSONPatch") {
    yield notSupported(child(at, "patchType"), patchType, Object.keys(PATCH_TYPES));
    return;
  }
  const { member, other, purpose } = PATCH_TYPES[patchType];
  const { expression = "" } = mutation[member] ?? {};
  if (mutation[member] === undefined) yield required(child(at, member), `must be specified when patchType is ${patchType}`);
  else if (isBlank(expression)) yield required(child(at, member, "expression"));
  else yield* checkExpression(expression.trim(), child(at, member, "expression"), { ...use, purpose });
  if (mutation[other] !== undefined) {
    yield invalid(child(at, other), `{${other}}`, `must not be specified when patchType is ${patchType}`);
  }
}
