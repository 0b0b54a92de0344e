/**
 * Applies the mutations of MutatingAdmissionPolicies to the objects of requests that their bindings select, one after the other. If one
 * changes the object, all mutating plugins are called once more, and of the policies those with reinvocationPolicy IfNeeded that were
 * evaluated before a change. Equivalent to upstream's plugin of this name.
 */
import type { MutatingAdmissionPolicySpec } from "../../../api/generated/admissionregistration.k8s.io/v1.ts";
import type { KubeObject } from "../../../api/machinery/object.ts";
import { StatusError } from "../../../api/machinery/status-error.ts";
import { deepEqual } from "../../../base/deep.ts";
import { RUNTIME_BUDGET } from "../../../cel/contract.ts";
import type { ObservedPolicy } from "../../framework/admission/admission-metrics.ts";
import type { AdmissionDependencies, AdmissionPlugin, AdmissionRequest } from "../../framework/admission.ts";
import { ExpressionEvaluation, OutOfBudget, type ExpressionInput } from "../../shared/admission-policy/expression-input.ts";
import { evaluateConditions } from "../../shared/admission-policy/match-conditions.ts";
import { findInvocations, requestNamespace, type PolicyInvocation } from "../../shared/admission-policy/policy-invocations.ts";
import { PolicyIndex, type PolicyMatch } from "../../shared/admission-policy/policy-index.ts";
import { refused } from "../../shared/admission-request.ts";
import { objectBack, objectsFor } from "../../shared/admission/admitted-objects.ts";
import { CalledBefore } from "../../shared/admission/called-before.ts";
import { NAMESPACES } from "../../shared/admission/selected-request.ts";
import { applyMutation, MutationError } from "./apply-mutation.ts";
import { compilePolicy, type CompiledPolicy } from "./compile-policy.ts";

const NAME = "MutatingAdmissionPolicy";
const GROUP = "admissionregistration.k8s.io";
const POLICIES = { group: GROUP, plural: "mutatingadmissionpolicies" };
const BINDINGS = { group: GROUP, plural: "mutatingadmissionpolicybindings" };

type Invocation = PolicyInvocation<MutatingAdmissionPolicySpec, CompiledPolicy>;
type Match = PolicyMatch<MutatingAdmissionPolicySpec, CompiledPolicy>;

export function mutatingAdmissionPolicy(dependencies: AdmissionDependencies): AdmissionPlugin {
  const index = new PolicyIndex<MutatingAdmissionPolicySpec, CompiledPolicy>(dependencies, compilePolicy);
  return {
    name: NAME,
    async start() {
      const { objects } = dependencies;
      await objects.load(NAMESPACES);
      await objects.follow(POLICIES, index.policyFollower);
      await objects.follow(BINDINGS, index.bindingFollower);
    },
    mutate(request) {
      const matches = index.matching(request);
      return matches.length === 0 ? undefined : mutate(dependencies, request, matches);
    },
  };
}

interface Denial {
  readonly policy: string;
  readonly binding?: string;
  readonly message: string;
  /** True if an expression failed, and not the configuration. */
  readonly isInvalid?: true;
}

async function mutate(
  dependencies: AdmissionDependencies,
  request: AdmissionRequest,
  matches: readonly Match[],
): Promise<KubeObject | undefined> {
  const rounds = CalledBefore.of(request.reinvocation, NAME);
  const isSecondRound = request.reinvocation?.isSecondRound ?? false;
  if (isSecondRound && !deepEqual(rounds.output, request.object)) rounds.requireAll();
  const { invocations, unusable } = await findInvocations(dependencies, request, matches);
  const denials: Denial[] = [...unusable];
  const namespace = invocations.length === 0 ? undefined : await requestNamespace(dependencies.objects, request);
  let current = request;
  for (const invocation of invocations) {
    const { target, params, policy } = invocation;
    const id = `${policy.name}/${invocation.binding.name}/${params?.metadata.namespace ?? ""}/${params?.metadata.name ?? ""}`;
    const input = {
      request: current,
      target,
      params,
      namespace,
      authorizer: dependencies.authorizer,
      evaluations: dependencies.evaluations,
      ...(await objectsFor(current, target)),
    };
    const compiled = await policy.compiled.get();
    if (!(await isWanted(dependencies, invocation, { input, conditions: compiled.conditions }, denials))) continue;
    if (isSecondRound && !rounds.isRequired(id)) continue;
    const changed = await mutated(dependencies, invocation, { input, compiled }, denials);
    if (changed !== undefined) {
      current = { ...current, object: await objectBack(current, target, changed) };
      rounds.requireAll();
      request.reinvocation?.invokeAgain();
    }
    if (policy.spec.reinvocationPolicy === "IfNeeded") rounds.called(id);
  }
  rounds.output = current.object;
  if (denials.length > 0) throw denied(request, denials);
  return current.object === request.object ? undefined : current.object;
}

/** Evaluates the match conditions. */
async function isWanted(
  { metrics, clock }: AdmissionDependencies,
  { policy, binding }: Invocation,
  { input, conditions }: { readonly input: ExpressionInput; readonly conditions: CompiledPolicy["conditions"] },
  denials: Denial[],
): Promise<boolean> {
  const owner = { name: policy.name, kind: "policy", type: "validate", operation: input.request.operation } as const;
  const result = await evaluateConditions(conditions, input, { metrics, clock, owner });
  if ("error" in result) {
    if (policy.spec.failurePolicy !== "Ignore")
      denials.push({ policy: policy.name, binding: binding.name, message: result.error, isInvalid: true });
    return false;
  }
  if (!result.matches) metrics.conditionExcluded(owner);
  return result.matches;
}

/** The object after all mutations of a policy; undefined: unchanged. A mutation that fails is left out, unless the request is denied for it. */
async function mutated(
  { metrics, clock }: AdmissionDependencies,
  { policy, binding }: Invocation,
  { input, compiled }: { readonly input: ExpressionInput; readonly compiled: CompiledPolicy },
  denials: Denial[],
): Promise<KubeObject | undefined> {
  const { object } = input;
  if (object === undefined) return undefined;
  let current = object;
  for (const mutation of compiled.mutations) {
    const startMs = clock.monotonic();
    const observed = (error: ObservedPolicy["error"], action: ObservedPolicy["action"]) =>
      metrics.policyChecked("mutating", {
        policy: policy.name,
        binding: binding.name,
        error,
        action,
        durationMs: clock.monotonic() - startMs,
      });
    try {
      const evaluation = new ExpressionEvaluation({ ...input, object: current }, { budget: RUNTIME_BUDGET, variables: compiled.variables });
      current = await applyMutation(mutation, evaluation, { object: current, target: input.target });
      observed("no_error", "allow");
    } catch (error) {
      if (!(error instanceof MutationError || error instanceof OutOfBudget)) throw error;
      const { message } = error;
      observed(
        message.startsWith("compilation") ? "compile_error" : error instanceof OutOfBudget ? "out_of_budget" : "invalid_error",
        "deny",
      );
      if (policy.spec.failurePolicy !== "Ignore") denials.push({ policy: policy.name, binding: binding.name, message, isInvalid: true });
    }
  }
  return deepEqual(current, object) ? undefined : current;
}

/** Upstream's form: the message of the first denial, all of them as causes, the reason Invalid with the code of Forbidden. */
function denied(request: AdmissionRequest, denials: readonly Denial[]): StatusError {
  const messages = denials.map(({ policy, binding, message }) =>
    binding === undefined
      ? `policy "${policy}" denied request: ${message}`
      : `policy '${policy}' with binding '${binding}' denied request: ${message}`,
  );
  const { details = {}, code } = refused(request, "admission request denied by policy");
  const [first = ""] = messages;
  const reason = denials[0]?.isInvalid === true ? "Invalid" : "Forbidden";
  return new StatusError(reason, first, { code, details: { ...details, causes: messages.map((message) => ({ message })) } });
}
