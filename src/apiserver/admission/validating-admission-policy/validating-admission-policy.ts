/**
 * Evaluates ValidatingAdmissionPolicies for the requests that their bindings select: a failed validation denies the request, warns the
 * client, or is recorded for the audit log, as the binding says. Equivalent to upstream's plugin of this name.
 */
import type { ValidatingAdmissionPolicySpec } from "../../../api/generated/admissionregistration.k8s.io/v1.ts";
import { reasonNamed, StatusError } from "../../../api/machinery/status-error.ts";
import type { ObservedPolicy } from "../../framework/admission/admission-metrics.ts";
import type { AdmissionDependencies, AdmissionPlugin, AdmissionRequest } from "../../framework/admission.ts";
import { refused } from "../../shared/admission-request.ts";
import { findInvocations, requestNamespace, type PolicyInvocation } from "../../shared/admission-policy/policy-invocations.ts";
import { PolicyIndex, type PolicyMatch } from "../../shared/admission-policy/policy-index.ts";
import { objectsFor } from "../../shared/admission/admitted-objects.ts";
import { NAMESPACES } from "../../shared/admission/selected-request.ts";
import { compilePolicy, type CompiledPolicy } from "./compile-policy.ts";
import { evaluatePolicy, type PolicyDecision, type PolicyResult } from "./evaluate-policy.ts";

const GROUP = "admissionregistration.k8s.io";
const POLICIES = { group: GROUP, plural: "validatingadmissionpolicies" };
const BINDINGS = { group: GROUP, plural: "validatingadmissionpolicybindings" };

type Invocation = PolicyInvocation<ValidatingAdmissionPolicySpec, CompiledPolicy>;
type Match = PolicyMatch<ValidatingAdmissionPolicySpec, CompiledPolicy>;

export function validatingAdmissionPolicy(dependencies: AdmissionDependencies): AdmissionPlugin {
  const index = new PolicyIndex<ValidatingAdmissionPolicySpec, CompiledPolicy>(dependencies, compilePolicy);
  return {
    name: "ValidatingAdmissionPolicy",
    async start() {
      const { objects } = dependencies;
      await objects.load(NAMESPACES);
      await objects.follow(POLICIES, index.policyFollower);
      await objects.follow(BINDINGS, index.bindingFollower);
    },
    validate(request) {
      const matches = index.matching(request);
      return matches.length === 0 ? undefined : validate(dependencies, request, matches);
    },
  };
}

interface Denial {
  readonly policy: string;
  readonly binding?: string;
  readonly message: string;
  readonly reason: string;
}

async function validate(dependencies: AdmissionDependencies, request: AdmissionRequest, matches: readonly Match[]): Promise<void> {
  const { objects, authorizer, evaluations } = dependencies;
  const { invocations, unusable } = await findInvocations(dependencies, request, matches);
  const denials: Denial[] = unusable.map((one) => ({ ...one, reason: "" }));
  const annotations = new Map<string, Set<string>>();
  const namespace = invocations.length === 0 ? undefined : await requestNamespace(objects, request);
  for (const invocation of invocations) {
    const { policy, target, params } = invocation;
    const input = { request, target, params, namespace, authorizer, evaluations, ...(await objectsFor(request, target)) };
    const result = await evaluatePolicy(policy, input, dependencies);
    denials.push(...enforce(dependencies, request, invocation, result));
    for (const { key, value } of result.annotations) collect(annotations, `${policy.name}/${key}`, value);
  }
  for (const [key, values] of annotations) request.context.trail?.annotate(key, [...values].join(", "));
  const [first] = denials;
  if (first !== undefined) throw denied(request, first);
}

function collect(annotations: Map<string, Set<string>>, key: string, value: string): void {
  const known = annotations.get(key);
  if (known === undefined) annotations.set(key, new Set([value]));
  else known.add(value);
}

/** Does what the binding says about each failed validation; returns those that deny the request. */
function enforce(
  { metrics }: AdmissionDependencies,
  { context }: AdmissionRequest,
  invocation: Invocation,
  result: PolicyResult,
): readonly Denial[] {
  const { policy, binding } = invocation;
  const denials: Denial[] = [];
  for (const [index, decision] of result.decisions.entries()) {
    const observed = (action: ObservedPolicy["action"]) =>
      metrics.policyChecked("validating", { policy: policy.name, binding: binding.name, action, ...observation(decision) });
    if (!decision.isDenied) {
      if (decision.isError) observed("allow");
      continue;
    }
    const { message, reason } = decision;
    for (const action of binding.spec.validationActions ?? []) {
      if (action === "Deny") {
        denials.push({ policy: policy.name, binding: binding.name, message, reason });
        observed("deny");
      } else if (action === "Warn") {
        context.warn(`Validation failed for ValidatingAdmissionPolicy '${policy.name}' with binding '${binding.name}': ${message}`);
        observed("warn");
      } else if (action === "Audit") {
        context.trail?.annotate("validation.policy.admission.k8s.io/validation_failure", auditValue(invocation, index, message));
        observed("audit");
      }
    }
  }
  return denials;
}

function observation({ isError, message, durationMs }: PolicyDecision): Pick<ObservedPolicy, "error" | "durationMs"> {
  if (!isError && message === "") return { error: "no_error", durationMs };
  if (message.startsWith("compilation")) return { error: "compile_error", durationMs };
  return {
    error: message.startsWith("validation failed due to running out of cost budget") ? "out_of_budget" : "invalid_error",
    durationMs,
  };
}

function auditValue({ policy, binding }: Invocation, expressionIndex: number, message: string): string {
  const { validationActions = [] } = binding.spec;
  return JSON.stringify([{ message, policy: policy.name, binding: binding.name, expressionIndex, validationActions }]);
}

/** Worded as Forbidden with the reason and code of the validation, as upstream. */
function denied(request: AdmissionRequest, { policy, binding, message, reason }: Denial): StatusError {
  const by = `ValidatingAdmissionPolicy '${policy}'${binding === undefined ? "" : ` with binding '${binding}'`}`;
  const why = `${by} denied request: ${message}`;
  const { message: text, details = {} } = refused(request, why);
  return new StatusError(reasonNamed(reason) ?? "Invalid", text, { details: { ...details, causes: [{ message: why }] } });
}
