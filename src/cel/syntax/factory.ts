/** Creates nodes of the syntax tree and counts them. */
import { spend } from "../values/meter.ts";
import type { CelValue } from "../values/value.ts";
import {
  depthOf,
  type Call,
  type Comprehension,
  type Expression,
  type Identifier,
  type ListLiteral,
  type Literal,
  type MapEntry,
  type MapLiteral,
  type ObjectField,
  type ObjectLiteral,
  type Select,
} from "./ast.ts";

/** Thrown if the expression exceeds a limit; the message is the issue's. */
export class TooLarge extends Error {
  override readonly name = "TooLarge";
}

/**
 * A compilation cannot be interrupted, and in a process that has compiled little so far it takes about 5 µs per node: 20 ms, and twice that with the garbage that it leaves. Written
 * expressions have hundreds of nodes; copies that macros make could be exponentially many. Upstream has no such limit.
 */
const NODES_MAX = 4_000;
const NODE_STEPS = 1_800;

/** The accumulator of macros; no user can write the name. */
export const ACCUMULATOR = "@result";

export class Factory {
  #nodes = 0;

  #count(): void {
    if (++this.#nodes > NODES_MAX) throw new TooLarge(`expression node count exceeds limit: ${NODES_MAX}`);
    spend(NODE_STEPS);
  }

  literal(position: number, value: CelValue): Literal {
    this.#count();
    return { kind: "literal", position, depth: 0, value };
  }

  identifier(position: number, name: string): Identifier {
    this.#count();
    return { kind: "identifier", position, depth: 0, name };
  }

  accumulator(position: number): Identifier {
    return this.identifier(position, ACCUMULATOR);
  }

  select(position: number, operand: Expression, field: string, { testOnly = false } = {}): Select {
    this.#count();
    return { kind: "select", position, depth: operand.depth + 1, operand, field, testOnly };
  }

  call(position: number, name: string, args: readonly Expression[], target?: Expression): Call {
    this.#count();
    return { kind: "call", position, depth: depthOf(target, ...args), name, target, args };
  }

  list(position: number, elements: readonly Expression[], optionals: ReadonlySet<number> = new Set()): ListLiteral {
    this.#count();
    return { kind: "list", position, depth: depthOf(...elements), elements, optionals };
  }

  map(position: number, entries: readonly MapEntry[]): MapLiteral {
    this.#count();
    return { kind: "map", position, depth: depthOf(...entries.flatMap(({ key, value }) => [key, value])), entries };
  }

  object(position: number, typeName: string, fields: readonly ObjectField[]): ObjectLiteral {
    this.#count();
    return { kind: "object", position, depth: depthOf(...fields.map(({ value }) => value)), typeName, fields };
  }

  comprehension(position: number, parts: Omit<Comprehension, "kind" | "position" | "depth" | "type">): Comprehension {
    this.#count();
    const depth = depthOf(parts.range, parts.initial, parts.condition, parts.step, parts.result) + 1;
    return { kind: "comprehension", position, depth, ...parts };
  }

  malformed(position: number): Expression {
    return { kind: "malformed", position, depth: 0 };
  }

  copy(expression: Expression): Expression {
    this.#count();
    switch (expression.kind) {
      case "select":
        return { ...expression, operand: this.copy(expression.operand) };
      case "call": {
        const target = expression.target === undefined ? undefined : this.copy(expression.target);
        return { ...expression, target, args: expression.args.map((arg) => this.copy(arg)) };
      }
      case "list":
        return { ...expression, elements: expression.elements.map((element) => this.copy(element)) };
      case "map":
        return {
          ...expression,
          entries: expression.entries.map((entry) => ({ ...entry, key: this.copy(entry.key), value: this.copy(entry.value) })),
        };
      case "object":
        return { ...expression, fields: expression.fields.map((field) => ({ ...field, value: this.copy(field.value) })) };
      case "comprehension":
        return {
          ...expression,
          range: this.copy(expression.range),
          initial: this.copy(expression.initial),
          condition: this.copy(expression.condition),
          step: this.copy(expression.step),
          result: this.copy(expression.result),
        };
      default:
        return { ...expression };
    }
  }
}
