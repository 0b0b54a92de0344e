/**
 * admissionregistration.k8s.io/v1 ValidatingAdmissionPolicyBinding: activates a ValidatingAdmissionPolicy, and sets what happens to a write
 * that it rejects. Not here: whether the user may read the parameters, which needs an authorizer.
 */
import { deepEqual } from "../../../base/deep.ts";
import type { ValidatingAdmissionPolicyBinding } from "../../generated/admissionregistration.k8s.io/v1.ts";
import { withChanges } from "../../changes.ts";
import { ageColumn, nameColumn, textColumn } from "../../machinery/columns.ts";
import { duplicate, element, invalid, notSupported, required, type FieldError } from "../../machinery/field-error.ts";
import { defineResource } from "../../machinery/resource.ts";
import { staticNameWarnings } from "./failure-policy.ts";
import { defaultBindingSpec, paramRefCell, validateBinding } from "./policy-binding.ts";

export const validatingAdmissionPolicyBindings = defineResource<ValidatingAdmissionPolicyBinding>({
  kind: "ValidatingAdmissionPolicyBinding",
  plural: "validatingadmissionpolicybindings",
  singular: "validatingadmissionpolicybinding",
  categories: ["api-extensions"],
  scope: "Cluster",
  served: [
    {
      group: "admissionregistration.k8s.io",
      version: "v1",
      schema: "io.k8s.api.admissionregistration.v1.ValidatingAdmissionPolicyBinding",
      defaults: (binding: ValidatingAdmissionPolicyBinding) => withChanges(binding, { spec: defaultBindingSpec(binding.spec) }),
    },
  ],
  unconditionalUpdate: false,

  changesGeneration: (next, previous) => !deepEqual(next.spec, previous.spec),

  allowsPlainFinalizers: true,
  *validate({ spec }) {
    yield* validateBinding(spec);
    yield* validateActions(spec.validationActions ?? [], "spec.validationActions");
  },
  warnings: staticNameWarnings,

  columns: [
    nameColumn,
    textColumn("PolicyName", "Bound policy", ({ spec }) => spec.policyName ?? ""),
    textColumn("ParamRef", "Parameter objects", ({ spec }) => paramRefCell(spec.paramRef)),
    ageColumn,
  ],
});

const ACTIONS: readonly string[] = ["Audit", "Deny", "Warn"];

function* validateActions(actions: readonly string[], at: string): Iterable<FieldError> {
  const seen = new Set<string>();
  for (const [index, action] of actions.entries()) {
    if (!ACTIONS.includes(action)) yield notSupported(element(at, index), action, ACTIONS);
    if (seen.has(action)) yield duplicate(element(at, index), action);
    seen.add(action);
  }
  if (seen.has("Deny") && seen.has("Warn")) {
    const why = "(repeating the same validation failure information in the API response and headers serves no purpose)";
    yield invalid(at, actions, `must not contain both Deny and Warn ${why}`);
  }
  if (seen.size === 0) yield required(at, "at least one validation action is required");
}
