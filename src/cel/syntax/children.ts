/** The direct parts of an expression, in the order of evaluation. */
import type { Expression } from "./ast.ts";

export function childrenOf(expression: Expression): readonly Expression[] {
  switch (expression.kind) {
    case "literal":
    case "identifier":
    case "malformed":
      return [];
    case "select":
      return [expression.operand];
    case "call":
      return expression.target === undefined ? expression.args : [expression.target, ...expression.args];
    case "list":
      return expression.elements;
    case "map":
      return expression.entries.flatMap(({ key, value }) => [key, value]);
    case "object":
      return expression.fields.map(({ value }) => value);
    case "comprehension":
      return [expression.range, expression.initial, expression.condition, expression.step, expression.result];
  }
}
