/** Admission policies and bindings: authorizes access of the writer to the parameters they name (param-access.ts). */
import { firstCausesInSteps } from "../../../api/machinery/validation-errors.ts";
import type { ParamKind, ParamRef } from "../../../api/generated/admissionregistration.k8s.io/v1.ts";
import { forbidden, type FieldError } from "../../../api/machinery/field-error.ts";
import { deepEqual } from "../../../base/deep.ts";
import type { CheckedWrite } from "../../framework/extension.ts";
import type { ExtensionFactory, ServerContext } from "../../framework/server-context.ts";
import { paramKindProblem, paramRefProblem } from "./param-access.ts";

const GROUP = "admissionregistration.k8s.io";

interface Policy {
  readonly spec?: { readonly paramKind?: ParamKind };
}

interface Binding {
  readonly spec?: { readonly paramRef?: ParamRef; readonly policyName?: string };
}

export const validatingAdmissionPolicyExtension: ExtensionFactory = (server) => ({
  group: GROUP,
  plural: "validatingadmissionpolicies",
  validate: (write) => validatePolicy(server, "validatingadmissionpolicies", write),
});

export const mutatingAdmissionPolicyExtension: ExtensionFactory = (server) => ({
  group: GROUP,
  plural: "mutatingadmissionpolicies",
  validate: (write) => validatePolicy(server, "mutatingadmissionpolicies", write),
});

export const validatingAdmissionPolicyBindingExtension: ExtensionFactory = (server) => ({
  group: GROUP,
  plural: "validatingadmissionpolicybindings",
  validate: (write) =>
    validateBinding(server, { plural: "validatingadmissionpolicybindings", policies: "validatingadmissionpolicies" }, write),
});

export const mutatingAdmissionPolicyBindingExtension: ExtensionFactory = (server) => ({
  group: GROUP,
  plural: "mutatingadmissionpolicybindings",
  validate: (write) => validateBinding(server, { plural: "mutatingadmissionpolicybindings", policies: "mutatingadmissionpolicies" }, write),
});

async function validatePolicy(server: ServerContext, plural: string, write: CheckedWrite): Promise<readonly FieldError[]> {
  const { paramKind } = (write.object as Policy).spec ?? {};
  const before = (write.previous as Policy | undefined)?.spec?.paramKind;
  if (paramKind === undefined || deepEqual(paramKind, before) || !(await isWellFormed(server, plural, write))) return [];
  const problem = paramKindProblem(server, write.request, paramKind);
  return problem === undefined ? [] : [forbidden("spec.paramKind", problem)];
}

/** An update of a binding with parameters is always checked again, as upstream, which never considers two references equal. */
async function validateBinding(
  server: ServerContext,
  { plural, policies }: { readonly plural: string; readonly policies: string },
  write: CheckedWrite,
): Promise<readonly FieldError[]> {
  const { paramRef, policyName = "" } = (write.object as Binding).spec ?? {};
  if (paramRef === undefined || !(await isWellFormed(server, plural, write))) return [];
  const policy = await server.objects.getExact<Policy>({ group: GROUP, plural: policies }, { namespace: "", name: policyName });
  const named = { paramRef, policyName, policy: policy === undefined ? undefined : (policy.spec ?? {}) };
  const problem = paramRefProblem(server, write.request, named, { swaps: plural.startsWith("mutating") });
  return problem === undefined ? [] : [forbidden("spec.paramRef", problem)];
}

/** An invalid object is rejected with its validation errors only. */
async function isWellFormed(server: ServerContext, plural: string, { object, previous, subresource }: CheckedWrite): Promise<boolean> {
  if (subresource !== "") return false;
  const resource = server.endpoints.stored(GROUP, plural)?.resource;
  const causes = await server.evaluations.run(firstCausesInSteps(resource?.validate?.(object, previous) ?? []));
  return causes.length === 0;
}
