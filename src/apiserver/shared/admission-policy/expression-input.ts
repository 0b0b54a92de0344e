/** The variables of expressions of webhooks and policies for one request, and the evaluation of expressions within a budget. */
import type { Namespace } from "../../../api/generated/core/v1.ts";
import type { AdmissionExpressions, CompiledExpression } from "../../../api/admissionregistration.k8s.io/v1/cel/admission-expressions.ts";
import type { Variable } from "../../../api/generated/admissionregistration.k8s.io/v1.ts";
import type { JsonObject, KubeObject } from "../../../api/machinery/object.ts";
import type { AccessCheck, AccessCheckDecision, Bindings, DecideAccess, Evaluation, SuspendedEvaluation } from "../../../cel/contract.ts";
import type { EvaluationTurns } from "../../../cel/program/evaluation-turns.ts";
import { completeNested } from "../../../cel/program/program.ts";
import { authorizerValue, resourceCheckValue } from "../../../cel/library/authorizer.ts";
import { dynValue, LazyMap } from "../../../cel/values/json.ts";
import { CelError, type CelResult, type CelValue } from "../../../cel/values/value.ts";
import type { AdmissionRequest } from "../../framework/admission.ts";
import type { MaybePromise } from "../../framework/authentication.ts";
import type { Authorizer } from "../../framework/authorization.ts";
import type { User } from "../../framework/request.ts";
import type { AdmissionTarget } from "../admission/admission-target.ts";
import type { AdmittedObjects } from "../admission/admitted-objects.ts";
import { requestVariable } from "./request-variable.ts";

export interface ExpressionInput extends AdmittedObjects {
  readonly request: AdmissionRequest;
  readonly target: AdmissionTarget;
  readonly params?: KubeObject | undefined;
  readonly namespace?: Namespace | undefined;
  readonly authorizer: Authorizer;
  readonly evaluations: EvaluationTurns;
}

/** A variable of a policy. */
export interface NamedExpression {
  readonly name: string;
  readonly compiled: CompiledExpression;
}

/** Yields where the event loop should be yielded. */
export function* compileVariables(
  expressions: AdmissionExpressions,
  variables: readonly Variable[],
): Generator<void, readonly NamedExpression[]> {
  const compiled: NamedExpression[] = [];
  for (const [index, { name }] of variables.entries()) compiled.push({ name, compiled: yield* expressions.variable(index) });
  return compiled;
}

export type Evaluated = { readonly ok: true; readonly value: CelValue } | { readonly ok: false; readonly message: string };

/** Upstream's message; nothing else of the policy is evaluated. */
export const OUT_OF_BUDGET = "validation failed due to running out of cost budget, no further validation rules will be run";

export class OutOfBudget extends Error {
  override readonly name = "OutOfBudget";

  constructor() {
    super(OUT_OF_BUDGET);
  }
}

/**
 * Evaluates several expressions with one budget. Variables are evaluated when first read, at most once per instance, and cost what their
 * expression costs.
 */
export class ExpressionEvaluation {
  readonly #bindings: Bindings;
  readonly #turns: EvaluationTurns;
  /** Variables whose evaluation is suspended, by name. */
  readonly #suspended = new Map<string, SuspendedEvaluation>();
  #budget: number;
  #variablesCost = 0;

  constructor(
    input: ExpressionInput,
    { budget, variables = [] }: { readonly budget: number; readonly variables?: readonly NamedExpression[] },
  ) {
    this.#budget = budget;
    this.#turns = input.evaluations;
    const bindings: Record<string, Bindings[string]> = bindingsOf(input);
    const fields = variables.map(({ name, compiled }) => [name, () => this.#variable(name, compiled)] as const);
    bindings["variables"] = new LazyMap(new Map(fields));
    this.#bindings = bindings;
  }

  /** What is left. */
  get budget(): number {
    return this.#budget;
  }

  /** Throws or rejects with OutOfBudget. A promise only if the evaluation takes long. */
  evaluate(source: string, compiled: CompiledExpression): MaybePromise<Evaluated> {
    if (!compiled.ok) return { ok: false, message: `compilation error: ${compiled.message}` };
    const result = this.#turns.complete(compiled.program.start(this.#bindings));
    return result instanceof Promise ? result.then((late) => this.#charged(source, late)) : this.#charged(source, result);
  }

  #charged(source: string, result: Evaluation): Evaluated {
    this.#spend(this.#variablesCost);
    this.#variablesCost = 0;
    this.#spend(result.cost);
    if (result.ok) return { ok: true, value: result.value };
    return { ok: false, message: `expression '${source}' resulted in error: ${result.error.message}` };
  }

  #variable(name: string, compiled: CompiledExpression): CelResult {
    if (!compiled.ok) return new CelError(`composited variable "${name}" fails to compile: ${compiled.message}`);
    const pending = this.#suspended.get(name)?.resume() ?? compiled.program.start(this.#bindings);
    const result = completeNested(pending, (suspended) => void this.#suspended.set(name, suspended));
    this.#suspended.delete(name);
    this.#variablesCost += result.cost;
    return result.ok ? result.value : new CelError(`composited variable "${name}" fails to evaluate: ${result.error.message}`);
  }

  #spend(cost: number): void {
    if (cost > this.#budget) throw new OutOfBudget();
    this.#budget -= cost;
  }
}

function bindingsOf(input: ExpressionInput): Record<string, Bindings[string]> {
  const { request, object, oldObject, params, namespace, authorizer } = input;
  const decide = decider(authorizer, request.context.user);
  return {
    object: valueOf(object),
    oldObject: valueOf(oldObject),
    params: valueOf(params),
    request: () => dynValue(requestVariable(request, input.target)),
    namespaceObject: () => (namespace === undefined ? null : dynValue(shownNamespace(namespace))),
    authorizer: () => authorizerValue(decide),
    "authorizer.requestResource": () => resourceCheckValue(decide, checkOf(request)),
  };
}

function valueOf(object: KubeObject | undefined): CelValue {
  return object === undefined ? null : dynValue(object);
}

/** Without ownerReferences and managedFields, as upstream. */
function shownNamespace({ metadata, spec, status }: Namespace): JsonObject {
  const { ownerReferences: _ownerReferences, managedFields: _managedFields, ...shown } = metadata;
  return { metadata: shown, spec: spec ?? {}, status: status ?? {} };
}

/** The permission that the request itself needed. */
function checkOf({ endpoint, subresource, namespace, name }: AdmissionRequest): Omit<AccessCheck, "verb"> {
  const { group, plural } = endpoint.name;
  return { group, resource: plural, subresource, namespace, name };
}

function decider(authorizer: Authorizer, requester: User): DecideAccess {
  return ({
    path,
    verb,
    serviceAccount,
    group,
    resource,
    subresource,
    namespace,
    name,
    fieldSelector,
    labelSelector,
  }): AccessCheckDecision => {
    const user = serviceAccount === undefined ? requester : serviceAccountUser(serviceAccount);
    const selectors = {
      ...(fieldSelector === undefined ? {} : { fieldSelector }),
      ...(labelSelector === undefined ? {} : { labelSelector }),
    };
    const accessed = { group, version: "*", plural: resource, subresource, namespace, name, ...selectors };
    const {
      allowed,
      reason = "",
      evaluationError,
    } = authorizer.authorize({
      user,
      verb,
      path: path ?? "",
      ...(path === undefined ? { resource: accessed } : {}),
    });
    return { allowed, reason, ...(evaluationError === undefined ? {} : { error: evaluationError }) };
  };
}

function serviceAccountUser({ namespace, name }: { readonly namespace: string; readonly name: string }): User {
  const groups = ["system:serviceaccounts", `system:serviceaccounts:${namespace}`, "system:authenticated"];
  return { name: `system:serviceaccount:${namespace}:${name}`, groups };
}
