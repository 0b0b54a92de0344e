/**
 * The syntax tree. Positions are offsets in the source. The checker writes the type of each node and what its name refers to into the tree,
 * so that later passes need no tables.
 */
import type { CelType } from "../types/type.ts";
import type { CelValue } from "../values/value.ts";

interface Node {
  readonly position: number;
  /** Nested operations, for the recursion limit. */
  readonly depth: number;
  /** Written by the checker. */
  type?: CelType;
}

export interface Literal extends Node {
  readonly kind: "literal";
  readonly value: CelValue;
}

export interface Identifier extends Node {
  readonly kind: "identifier";
  name: string;
  /** The value, if the name is that of a type. */
  constant?: CelValue;
}

export interface Select extends Node {
  readonly kind: "select";
  readonly operand: Expression;
  readonly field: string;
  /** From has(). */
  readonly testOnly: boolean;
  /** Written by the checker if the whole path is one variable or type. */
  resolved?: Identifier;
}

export interface Call extends Node {
  readonly kind: "call";
  /** Written by the checker with the qualified name. */
  name: string;
  target: Expression | undefined;
  readonly args: readonly Expression[];
  /** Overloads that the argument types allow. */
  overloads?: readonly string[];
}

export interface ListLiteral extends Node {
  readonly kind: "list";
  readonly elements: readonly Expression[];
  readonly optionals: ReadonlySet<number>;
}

export interface MapEntry {
  readonly position: number;
  readonly key: Expression;
  readonly value: Expression;
  readonly isOptional: boolean;
}

export interface MapLiteral extends Node {
  readonly kind: "map";
  readonly entries: readonly MapEntry[];
}

export interface ObjectField {
  readonly position: number;
  readonly name: string;
  readonly value: Expression;
  readonly isOptional: boolean;
}

export interface ObjectLiteral extends Node {
  readonly kind: "object";
  typeName: string;
  readonly fields: readonly ObjectField[];
}

/** A loop: macros expand to it. */
export interface Comprehension extends Node {
  readonly kind: "comprehension";
  readonly range: Expression;
  readonly variable: string;
  readonly variable2: string | undefined;
  readonly accumulator: string;
  readonly initial: Expression;
  readonly condition: Expression;
  readonly step: Expression;
  readonly result: Expression;
}

/** In place of what could not be parsed. */
export interface Malformed extends Node {
  readonly kind: "malformed";
}

export type Expression = Literal | Identifier | Select | Call | ListLiteral | MapLiteral | ObjectLiteral | Comprehension | Malformed;

/** Functions that operators and macros are calls of. */
export const OPERATORS = {
  conditional: "_?_:_",
  and: "_&&_",
  or: "_||_",
  not: "!_",
  equals: "_==_",
  notEquals: "_!=_",
  less: "_<_",
  lessEquals: "_<=_",
  greater: "_>_",
  greaterEquals: "_>=_",
  add: "_+_",
  subtract: "_-_",
  multiply: "_*_",
  divide: "_/_",
  modulo: "_%_",
  negate: "-_",
  index: "_[_]",
  in: "@in",
  optionalIndex: "_[?_]",
  optionalSelect: "_?._",
  notStrictlyFalse: "@not_strictly_false",
} as const;

export function depthOf(...expressions: readonly (Expression | undefined)[]): number {
  let depth = 0;
  for (const expression of expressions) if (expression !== undefined && expression.depth > depth) depth = expression.depth;
  return depth;
}

/** A dotted name ("a.b.c"), or undefined if the expression is something else. */
export function qualifiedName(expression: Expression): string | undefined {
  const fields: string[] = [];
  let at = expression;
  while (at.kind === "select") {
    if (at.testOnly) return undefined;
    fields.push(at.field);
    at = at.operand;
  }
  return at.kind === "identifier" ? [at.name, ...fields.reverse()].join(".") : undefined;
}
