/**
 * Expressions in policies and webhooks: required fields, names, and limits. `checkExpression` compiles them, and reports what does not
 * compile or has the wrong type as upstream does.
 */
import { paused, pauseIfTickSpent } from "../../expression-pauses.ts";
import {
  AdmissionExpressions,
  type CompiledExpression,
  type ExpressionPurpose,
  type ExpressionsOptions,
} from "./cel/admission-expressions.ts";
import type { MatchCondition, Variable } from "../../generated/admissionregistration.k8s.io/v1.ts";
import { child, duplicate, element, internalFieldError, invalid, required, tooMany, type FieldError } from "../../machinery/field-error.ts";
import { validateQualifiedName } from "../../machinery/names.ts";

/** The variables and the result type of an expression follow from its purpose. */
export interface ExpressionUse {
  readonly purpose: Exclude<ExpressionPurpose, "check" | "variable">;
  /** True if the policy has parameters, which expressions know as `params`. */
  readonly hasParams: boolean;
  /** Variables of the policy, which expressions know as `variables`; match conditions do not. */
  readonly variables?: readonly Variable[];
}

export function* checkExpression(expression: string, at: string, { purpose, hasParams, variables }: ExpressionUse): Iterable<FieldError> {
  yield* pauseIfTickSpent();
  yield* compilationErrors(yield* paused(compilerOf({ hasParams, variables }).compile(expression, purpose)), expression, at);
}

function* compilationErrors(compiled: CompiledExpression, expression: string, at: string): Iterable<FieldError> {
  if (compiled.ok) return;
  yield compiled.isInternal ? internalFieldError(at, compiled.message) : invalid(at, expression, compiled.message);
}

/** One compiler for all expressions of a policy: variables are compiled once. */
const compilers = new WeakMap<readonly Variable[], AdmissionExpressions>();
const withoutVariables = {
  params: new AdmissionExpressions({ hasParams: true }),
  plain: new AdmissionExpressions({ hasParams: false }),
};

function compilerOf({ hasParams, variables = [] }: ExpressionsOptions): AdmissionExpressions {
  if (variables.length === 0) return hasParams ? withoutVariables.params : withoutVariables.plain;
  let compiler = compilers.get(variables);
  // A policy whose paramKind is removed keeps its list of variables.
  if (compiler === undefined || compiler.hasParams !== hasParams) compiler = new AdmissionExpressions({ hasParams, variables });
  compilers.set(variables, compiler);
  return compiler;
}

/** Each is evaluated for every matching request, so upstream limits them. */
const MATCH_CONDITIONS_MAX = 64;

export function* validateMatchConditions(
  conditions: readonly MatchCondition[] | undefined,
  at: string,
  { hasParams }: { readonly hasParams: boolean },
): Iterable<FieldError> {
  if (conditions === undefined) return;
  if (conditions.length > MATCH_CONDITIONS_MAX) yield tooMany(at, conditions.length, MATCH_CONDITIONS_MAX);
  const names = new Set<string>();
  for (const [index, { name, expression }] of conditions.entries()) {
    const here = element(at, index);
    if (isBlank(expression)) yield required(child(here, "expression"));
    else yield* checkExpression(expression.trim(), child(here, "expression"), { purpose: "match condition", hasParams });
    if (name === "") {
      yield required(child(here, "name"));
      continue;
    }
    for (const wrong of validateQualifiedName(name)) yield invalid(child(here, "name"), name, wrong);
    if (names.has(name)) yield duplicate(child(here, "name"), name);
    names.add(name);
  }
}

export function* validateVariables(
  variables: readonly Variable[] | undefined,
  at: string,
  { hasParams }: { readonly hasParams: boolean },
): Iterable<FieldError> {
  for (const [index, { name, expression }] of (variables ?? []).entries()) {
    const here = element(at, index);
    if (isBlank(name)) yield required(child(here, "name"), "name is not specified");
    else if (!isIdentifier(name)) yield invalid(child(here, "name"), name, "must be a valid CEL identifier");
    if (isBlank(expression)) {
      yield required(child(here, "expression"), "expression is not specified");
      continue;
    }
    yield* pauseIfTickSpent();
    const compiled = yield* paused(compilerOf({ hasParams, variables }).variable(index));
    yield* compilationErrors(compiled, expression, child(here, "expression"));
  }
}

export function isBlank(text: string | undefined): boolean {
  return text === undefined || text.trim() === "";
}

/** Reserved words of CEL. */
const RESERVED: ReadonlySet<string> = new Set([
  ...["true", "false", "null", "in"],
  ...["as", "break", "const", "continue", "else", "for", "function", "if", "import", "let", "loop"],
  ...["package", "namespace", "return", "var", "void", "while"],
]);

function isIdentifier(name: string): boolean {
  return /^[_a-zA-Z][_a-zA-Z0-9]*$/.test(name) && !RESERVED.has(name);
}
