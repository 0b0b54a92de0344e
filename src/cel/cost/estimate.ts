/**
 * The cost of an expression before it is evaluated: a range, from the sizes that the schema allows. Upstream decides by it which rules a
 * CRD may have, so every figure is upstream's, including its habits (a `has` is free, an unknown size is the largest number).
 */
import type { CostEstimate } from "../contract.ts";
import type { Declaration } from "../types/declaration.ts";
import { type Call, type Comprehension, type Expression, type ListLiteral, type MapLiteral, type Select } from "../syntax/ast.ts";
import { ACCUMULATOR } from "../syntax/factory.ts";
import { codePoints } from "../syntax/source.ts";
import { UINT_MAX } from "../syntax/literals.ts";
import { isOptional, type CelType } from "../types/type.ts";
import { estimateCall } from "./call-estimate.ts";
import type { CallNode } from "./estimated.ts";
import type { EntrySize, EntrySizes } from "./entries.ts";
import { estimateLanguageCall } from "./language-estimate.ts";
import { LIST_CREATE, MAP_CREATE, STRUCT_CREATE } from "./figures.ts";
import { add, exactly, multiply, NOTHING, union, UNKNOWN, ZERO, type Range } from "./size.ts";

export function estimateCost(expression: Expression, sizes: Declaration | undefined): CostEstimate {
  return new Estimator(sizes).cost(expression);
}

interface Local {
  readonly path: readonly string[];
  readonly size: Range | undefined;
  readonly entry: EntrySize | undefined;
}

const ONE = exactly(1);

class Estimator implements EntrySizes {
  readonly #root: Declaration | undefined;
  readonly #paths = new Map<Expression, readonly string[]>();
  readonly #sizes = new Map<Expression, Range>();
  readonly #entries = new Map<Expression, EntrySize>();
  readonly #locals = new Map<string, Local[]>();

  constructor(root: Declaration | undefined) {
    this.#root = root;
  }

  cost(expression: Expression): Range {
    switch (expression.kind) {
      case "literal":
      case "malformed":
        return ZERO;
      case "identifier":
        this.#paths.set(expression, this.#local(expression.name)?.path ?? [expression.name]);
        return ONE;
      case "select":
        return this.#select(expression);
      case "call":
        return this.#call(expression);
      case "list":
        return this.#list(expression);
      case "map":
        return this.#map(expression);
      case "object":
        return expression.fields.reduce((sum, { value }) => add(sum, this.cost(value)), exactly(STRUCT_CREATE));
      case "comprehension":
        return isBinding(expression) ? this.#binding(expression) : this.#loop(expression);
    }
  }

  #select(select: Select): Range {
    if (select.resolved !== undefined) {
      this.#paths.set(select, [select.resolved.name]);
      return ONE;
    }
    const operand = this.cost(select.operand);
    if (select.testOnly) return operand;
    this.#paths.set(select, [...this.pathOf(select.operand), select.field]);
    const kind = select.operand.type?.kind;
    return kind === "map" || kind === "object" || kind === "parameter" ? add(operand, ONE) : operand;
  }

  #list(list: ListLiteral): Range {
    let sum = ZERO;
    let size = list.elements.length === 0 ? ZERO : NOTHING;
    for (const element of list.elements) {
      sum = add(sum, this.cost(element));
      size = union(size, this.sizeOrUnknown(element));
    }
    this.#entries.set(list, { container: "list", key: ONE, value: size });
    return add(sum, exactly(LIST_CREATE));
  }

  #map(map: MapLiteral): Range {
    let sum = ZERO;
    let keySize = map.entries.length === 0 ? ZERO : NOTHING;
    let valueSize = keySize;
    for (const { key, value } of map.entries) {
      sum = add(add(sum, this.cost(key)), this.cost(value));
      keySize = union(keySize, this.sizeOrUnknown(key));
      valueSize = union(valueSize, this.sizeOrUnknown(value));
    }
    this.#entries.set(map, { container: "map", key: keySize, value: valueSize });
    return add(sum, exactly(MAP_CREATE));
  }

  #call(call: Call): Range {
    if (call.name === "dyn") return this.#dynCall(call);
    const argCosts = call.args.map((argument) => this.cost(argument));
    const args = call.args.map((argument) => this.#node(argument));
    const { overloads = [] } = call;
    if (overloads.length === 0) return ZERO;
    const targetCost = call.target === undefined ? ZERO : this.cost(call.target);
    const target = call.target === undefined ? undefined : this.#node(call.target);
    let cost: Range = NOTHING;
    let size: Range | undefined;
    for (const overload of overloads) {
      const argumentCost = argCosts.reduce(add, ZERO);
      const estimated = estimateCall({ name: call.name, overload, target, args }, (node) => this.#sizeOfNode(node));
      const own = estimated ?? estimateLanguageCall({ call, overload, target, args, argCosts }, this);
      const total = own.includesArguments === true ? own.cost : add(own.cost, argumentCost);
      cost = union(cost, total);
      if (own.size !== undefined) size = size === undefined ? own.size : union(size, own.size);
      size = this.#indexed(call, overload, size) ?? this.sizeOf(call);
    }
    if (size !== undefined) this.#sizes.set(call, size);
    return add(targetCost, cost);
  }

  /** The element that an index selects has the size and path of elements. */
  #indexed(call: Call, overload: string, size: Range | undefined): Range | undefined {
    const [operand] = call.args;
    if (operand === undefined || (overload !== "index_list" && overload !== "index_map")) return size;
    this.#paths.set(call, [...this.pathOf(operand), overload === "index_list" ? "@items" : "@values"]);
    return this.entryOf(operand)?.value;
  }

  #dynCall(call: Call): Range {
    const argument = call.args[0] as Expression;
    const cost = this.cost(argument);
    this.#copySizes(call, argument);
    return add(ONE, cost);
  }

  #loop(loop: Comprehension): Range {
    let sum = add(this.cost(loop.range), this.cost(loop.initial));
    this.#push(loop.accumulator, { path: this.pathOf(loop.initial), size: this.sizeOf(loop.initial), entry: this.entryOf(loop.initial) });
    this.#pushVariables(loop);
    const perIteration = add(this.cost(loop.condition), this.cost(loop.step));
    this.#pop(loop.variable);
    if (loop.variable2 !== undefined) this.#pop(loop.variable2);
    sum = add(sum, this.cost(loop.result));
    this.#pop(loop.accumulator);
    const count = this.sizeOrUnknown(loop.range);
    sum = add(sum, multiply(count, perIteration));
    this.#setLoopSize(loop, count);
    return sum;
  }

  #setLoopSize(loop: Comprehension, count: Range): void {
    if (loop.initial.kind === "literal") {
      const size = this.sizeOf(loop.initial);
      if (size !== undefined) this.#sizes.set(loop, size);
    } else if (loop.initial.kind === "list" || loop.initial.kind === "map") {
      this.#sizes.set(loop, count);
      const entry = this.entryOf(loop.step);
      if (entry !== undefined) this.#entries.set(loop, entry);
    }
  }

  #pushVariables({ range, variable, variable2 }: Comprehension): void {
    const entry = this.entryOf(range);
    const container = entry?.container ?? range.type?.kind;
    const path = this.pathOf(range);
    const keys: Local = { path: [...path, container === "list" ? "@indices" : "@keys"], size: entry?.key, entry: undefined };
    const values: Local = { path: [...path, container === "list" ? "@items" : "@values"], size: entry?.value, entry: undefined };
    if (variable2 !== undefined) {
      this.#push(variable, keys);
      this.#push(variable2, values);
    } else this.#push(variable, container === "list" ? values : keys);
  }

  #binding(loop: Comprehension): Range {
    let sum = add(this.cost(loop.range), this.cost(loop.initial));
    this.#push(loop.accumulator, { path: this.pathOf(loop.initial), size: this.sizeOf(loop.initial), entry: this.entryOf(loop.initial) });
    sum = add(sum, this.cost(loop.result));
    // Sizes of the result are looked up while the variable is known.
    this.#pop(loop.accumulator);
    this.#copySizes(loop, loop.result);
    return sum;
  }

  #push(name: string, local: Local): void {
    this.#locals.set(name, [...(this.#locals.get(name) ?? []), local]);
  }

  #pop(name: string): void {
    this.#locals.set(name, (this.#locals.get(name) ?? []).slice(0, -1));
  }

  #local(name: string): Local | undefined {
    return this.#locals.get(name)?.at(-1);
  }

  pathOf(expression: Expression): readonly string[] {
    const local = expression.kind === "identifier" ? this.#local(expression.name) : undefined;
    return local?.path ?? this.#paths.get(expression) ?? [];
  }

  #node(expression: Expression): CallNode {
    const path = this.pathOf(expression);
    return { path: path[0] === ACCUMULATOR ? [] : path, type: expression.type, expression, size: this.sizeOf(expression) };
  }

  #sizeOfNode({ size, path }: CallNode): Range {
    return size ?? this.#declaredSize(path) ?? UNKNOWN;
  }

  sizeOrUnknown(expression: Expression): Range {
    return this.sizeOf(expression) ?? UNKNOWN;
  }

  sizeOf(expression: Expression): Range | undefined {
    const known = this.#sizes.get(expression) ?? literalSize(expression);
    if (known !== undefined) return known;
    const declared = this.#declaredSize(this.pathOf(expression));
    if (declared !== undefined) {
      this.#sizes.set(expression, declared);
      return declared;
    }
    if (expression.type !== undefined && isScalar(expression.type)) return ONE;
    return expression.kind === "identifier" ? this.#local(expression.name)?.size : undefined;
  }

  entryOf(expression: Expression): EntrySize | undefined {
    const known = this.#entries.get(expression);
    if (known !== undefined) return known;
    return expression.kind === "identifier" ? this.#local(expression.name)?.entry : undefined;
  }

  setEntry(expression: Expression, entry: EntrySize | undefined): void {
    if (entry !== undefined) this.#entries.set(expression, entry);
  }

  #copySizes(to: Expression, from: Expression): void {
    const size = this.sizeOf(from);
    if (size !== undefined) this.#sizes.set(to, size);
    this.setEntry(to, this.entryOf(from));
  }

  /** The size that the schema declares. The first name is the variable: all have the same schema. */
  #declaredSize(path: readonly string[]): Range | undefined {
    if (path.length === 0) return undefined;
    let at = this.#root;
    for (const name of path.slice(1)) {
      if (at === undefined) return undefined;
      if (name === "@items" || name === "@values") at = at.element;
      else if (name === "@keys") at = at.key;
      else at = at.fields?.get(name) ?? (at.sizedByName === true ? at.element : undefined);
    }
    if (at === undefined) return undefined;
    return { min: 0n, max: at.maxElements < 0 ? UINT_MAX : BigInt(at.maxElements) };
  }
}

function isBinding({ range, condition, accumulator }: Comprehension): boolean {
  const isEmpty = range.kind === "list" && range.elements.length === 0;
  return isEmpty && condition.kind === "literal" && condition.value === false && accumulator !== "__result__";
}

function literalSize(expression: Expression): Range | undefined {
  switch (expression.kind) {
    case "literal": {
      const { value } = expression;
      if (typeof value === "string") return exactly(codePoints(value));
      return exactly(value instanceof Uint8Array ? value.length : 1);
    }
    case "list":
      return exactly(expression.elements.length);
    case "map":
      return exactly(expression.entries.length);
    default:
      return undefined;
  }
}

function isScalar(type: CelType): boolean {
  if (isOptional(type)) return type.parameters[0] !== undefined && isScalar(type.parameters[0]);
  return ["bool", "double", "duration", "int", "timestamp", "uint"].includes(type.kind);
}
