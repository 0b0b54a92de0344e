/**
 * admissionregistration.k8s.io/v1 MutatingAdmissionPolicyBinding: activates a MutatingAdmissionPolicy. Not here: whether the user may read
 * the parameters, which needs an authorizer.
 */
import { deepEqual } from "../../../base/deep.ts";
import type { MutatingAdmissionPolicyBinding } from "../../generated/admissionregistration.k8s.io/v1.ts";
import { changed, withChanges } from "../../changes.ts";
import { ageColumn, nameColumn, textColumn } from "../../machinery/columns.ts";
import { defineResource } from "../../machinery/resource.ts";
import { staticNameWarnings } from "./failure-policy.ts";
import { defaultBindingSpec, paramRefCell, validateBinding } from "./policy-binding.ts";
import { validateMutableOperations } from "./rules.ts";

export const mutatingAdmissionPolicyBindings = defineResource<MutatingAdmissionPolicyBinding>({
  kind: "MutatingAdmissionPolicyBinding",
  plural: "mutatingadmissionpolicybindings",
  singular: "mutatingadmissionpolicybinding",
  categories: ["api-extensions"],
  scope: "Cluster",
  served: [
    {
      group: "admissionregistration.k8s.io",
      version: "v1",
      schema: "io.k8s.api.admissionregistration.v1.MutatingAdmissionPolicyBinding",
      defaults: (binding: MutatingAdmissionPolicyBinding) => withChanges(binding, { spec: changed(binding.spec, defaultBindingSpec) }),
    },
  ],
  olderStorage: [{ version: "v1beta1" }],
  unconditionalUpdate: false,

  changesGeneration: (next, previous) => !deepEqual(next.spec, previous.spec),

  allowsPlainFinalizers: true,
  *validate({ spec = {} }) {
    yield* validateBinding(spec);
    yield* validateMutableOperations(spec.matchResources, "spec.matchResources");
  },
  warnings: staticNameWarnings,

  columns: [
    nameColumn,
    textColumn("PolicyName", "Bound policy", ({ spec }) => spec?.policyName ?? ""),
    textColumn("ParamRef", "Parameter objects", ({ spec }) => paramRefCell(spec?.paramRef)),
    ageColumn,
  ],
});
