/**
 * Expressions in policies and webhooks: required fields, names, and limits. `checkExpression` is the one place where they would be
 * compiled. There is no CEL compiler yet, so it accepts every text; upstream's errors for an expression that does not compile, or has the
 * wrong type, belong there and nowhere else.
 */
import type { MatchCondition, Variable } from "../../generated/admissionregistration.k8s.io/v1.ts";
import { child, duplicate, element, invalid, required, tooMany, type FieldError } from "../../machinery/field-error.ts";
import { validateQualifiedName } from "../../machinery/names.ts";

/** The variables and the result type of an expression follow from its purpose. */
export interface ExpressionUse {
  readonly purpose: "match condition" | "variable" | "validation" | "message" | "audit annotation" | "apply configuration" | "JSON patch";
  /** True if the policy has parameters, which expressions know as `params`. */
  readonly hasParams: boolean;
  /** Variables of the policy that it may use: those before it. */
  readonly variables?: readonly Variable[];
}

export type ExpressionCheck = (expression: string, at: string, use: ExpressionUse) => Iterable<FieldError>;

export const checkExpression: ExpressionCheck = () => [];

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
    yield* checkExpression(expression, child(here, "expression"), {
      purpose: "variable",
      hasParams,
      // Computed on demand: all of these lists together have quadratic size.
      get variables() {
        return (variables ?? []).slice(0, index);
      },
    });
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
