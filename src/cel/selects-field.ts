/** Finds out whether an expression reads a field of a variable by name, without evaluating it. */
import type { Environment } from "./environment.ts";
import { OPERATORS, type Expression } from "./syntax/ast.ts";
import { childrenOf } from "./syntax/children.ts";
import { parse } from "./syntax/parser.ts";
import { Source } from "./syntax/source.ts";

export interface SelectedField {
  readonly variable: string;
  readonly field: string;
}

/** True for `variable.field`, `has(variable.field)` and `variable.?field` anywhere in the expression; not for `variable["field"]`, as upstream. */
export function selectsField(environment: Environment, text: string, selected: SelectedField): boolean {
  const { expression } = parse(new Source(text), environment);
  return expression !== undefined && isIn(expression, selected);
}

function isIn(expression: Expression, selected: SelectedField): boolean {
  return isSelection(expression, selected) || childrenOf(expression).some((part) => isIn(part, selected));
}

function isSelection(expression: Expression, { variable, field }: SelectedField): boolean {
  if (expression.kind === "select") return isVariable(expression.operand, variable) && expression.field === field;
  if (expression.kind !== "call" || expression.name !== OPERATORS.optionalSelect) return false;
  const [operand, name] = expression.args;
  return operand !== undefined && isVariable(operand, variable) && name?.kind === "literal" && name.value === field;
}

function isVariable(expression: Expression, name: string): boolean {
  return expression.kind === "identifier" && expression.name === name;
}
