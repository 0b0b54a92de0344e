/**
 * Turns a checked tree into closures, once per expression. What is constant is computed here: literals of lists and maps, conversions of
 * constants, sets of `in`, patterns. Costs follow upstream's planner, which does the same.
 */
import { LIST_CREATE, MAP_CREATE, STRUCT_CREATE } from "../cost/figures.ts";
import type { Environment } from "../environment.ts";
import { CONVERSIONS } from "../library/conversions.ts";
import { compiledPattern } from "../library/patterns.ts";
import { newObject } from "../library/patch-objects.ts";
import { newWellKnownMessage, wellKnownMessage } from "../library/well-known-messages.ts";
import {
  OPERATORS,
  type Call,
  type Comprehension,
  type Expression,
  type Identifier,
  type ListLiteral,
  type MapLiteral,
  type ObjectLiteral,
  type Select,
} from "../syntax/ast.ts";
import { equal, NO_SUCH_OVERLOAD } from "../values/compare.ts";
import { ArrayList, EntryMap, keyText } from "../values/containers.ts";
import { describe } from "../values/describe.ts";
import { CelError, ListValue, Optional, type CelResult, type CelValue } from "../values/value.ts";
import { addQualifier, evaluateAttribute, resolver, type Attribute } from "./attribute.ts";
import { evaluateCall, recorded } from "./call.ts";
import { callCost } from "../cost/runtime.ts";
import { Frame, type Evaluate } from "./frame.ts";
import { evaluateLoop, readAccumulator } from "./loop.ts";

/** Thrown if a constant has no value; the message is the error's. */
export class PlanError extends Error {
  override readonly name = "PlanError";
}

type Planned =
  | { readonly is: "constant"; readonly value: CelValue }
  | { readonly is: "attribute"; readonly attribute: Attribute }
  /** The path of has(). */
  | { readonly is: "presence"; readonly attribute: Attribute }
  | { readonly is: "other"; readonly evaluate: Evaluate };

export interface Plan {
  readonly evaluate: Evaluate;
  /** Slots that loop variables need. */
  readonly slots: number;
}

/** Throws PlanError. */
export function planProgram(environment: Environment, expression: Expression): Plan {
  const planner = new Planner(environment);
  const evaluate = planner.evaluator(expression);
  return { evaluate, slots: planner.slots };
}

class Planner {
  readonly #environment: Environment;
  /** How loop variables are read, by name; inner loops hide outer ones. */
  #locals: ReadonlyMap<string, Evaluate> = new Map();
  slots = 0;
  /** Nodes that journals know. */
  #nodes = 0;

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  evaluator(expression: Expression): Evaluate {
    return evaluated(this.#plan(expression));
  }

  #plan(expression: Expression): Planned {
    switch (expression.kind) {
      case "literal":
        return { is: "constant", value: expression.value };
      case "identifier":
        return this.#identifier(expression);
      case "select":
        return this.#select(expression);
      case "call":
        return this.#call(expression);
      case "list":
        return this.#list(expression);
      case "map":
        return this.#map(expression);
      case "object":
        return this.#object(expression);
      case "comprehension":
        return this.#loop(expression);
      case "malformed":
        throw new PlanError("unsupported expr");
    }
  }

  #identifier({ name, constant }: Identifier): Planned {
    if (constant !== undefined) return { is: "constant", value: constant };
    const base = this.#locals.get(name) ?? ((frame: Frame) => frame.variable(name));
    return { is: "attribute", attribute: { is: "path", base, qualifiers: [] } };
  }

  #select({ operand, field, testOnly, resolved }: Select): Planned {
    if (resolved !== undefined) return this.#identifier(resolved);
    const attribute = this.#asAttribute(operand);
    addQualifier(attribute, { key: () => field, isOptional: false, testOnly });
    return { is: testOnly ? "presence" : "attribute", attribute };
  }

  /** The path of an operand; what is none becomes the base of one, which charges for itself. */
  #asAttribute(expression: Expression): Attribute {
    const planned = this.#plan(expression);
    return planned.is === "attribute" ? planned.attribute : { is: "path", base: evaluated(planned), qualifiers: [] };
  }

  #call(call: Call): Planned {
    const [first, second] = call.args;
    switch (call.name) {
      case OPERATORS.and:
      case OPERATORS.or:
        return this.#logical(call, call.name === OPERATORS.or);
      case OPERATORS.conditional:
        return this.#conditional(call);
      case OPERATORS.equals:
      case OPERATORS.notEquals:
        return this.#equality(call, call.name === OPERATORS.equals);
      case OPERATORS.index:
      case OPERATORS.optionalIndex:
      case OPERATORS.optionalSelect:
        return this.#index(first as Expression, second as Expression, call.name !== OPERATORS.index);
      case "or":
      case "orValue":
        return this.#optionalOr(call);
      default:
        return this.#function(call);
    }
  }

  #function(call: Call): Planned {
    const definition = this.#environment.functions.get(call.name);
    if (definition === undefined) throw new PlanError(`no such overload: ${call.name}`);
    const { overloads = [] } = call;
    const args = (call.target === undefined ? call.args : [call.target, ...call.args]).map((argument) => this.#plan(argument));
    const [first, second] = args;
    if (overloads.length === 1 && overloads[0] === "in_list" && second?.is === "constant" && first !== undefined) {
      const membership = setMembership(first, second.value);
      if (membership !== undefined) return membership;
    }
    const implementation = second?.is === "constant" ? compileConstantPattern(call.name, second.value) : undefined;
    const evaluate = evaluateCall({
      id: this.#nodes++,
      definition,
      overloads,
      isMember: call.target !== undefined,
      args: args.map(evaluated),
      ...(implementation !== undefined && { implementation }),
    });
    if (!CONVERSIONS.has(call.name) || args.length !== 1 || first?.is !== "constant") return { is: "other", evaluate };
    return { is: "constant", value: constantOf(evaluate) };
  }

  #logical({ args }: Call, isOr: boolean): Planned {
    const [left, right] = args.map((argument) => this.evaluator(argument)) as [Evaluate, Evaluate];
    const evaluate: Evaluate = (frame) => {
      const first = left(frame);
      if (first === isOr) return isOr;
      const second = right(frame);
      if (second === isOr) return isOr;
      return notBoolean(first) ?? notBoolean(second) ?? !isOr;
    };
    return { is: "other", evaluate };
  }

  #conditional({ args }: Call): Planned {
    const [condition, whenTrue, whenFalse] = args as [Expression, Expression, Expression];
    const attribute: Attribute = {
      is: "choice",
      condition: this.evaluator(condition),
      whenTrue: this.#asAttribute(whenTrue),
      whenFalse: this.#asAttribute(whenFalse),
    };
    return { is: "attribute", attribute };
  }

  #equality({ name, args }: Call, isEquals: boolean): Planned {
    const [left, right] = args.map((argument) => this.evaluator(argument)) as [Evaluate, Evaluate];
    const cost = callCost(name, isEquals ? "equals" : "not_equals");
    const evaluate: Evaluate = (frame) => {
      const first = left(frame);
      const second = right(frame);
      const result = equality(first, second, isEquals);
      frame.charge(cost([first, second], result));
      return result;
    };
    return { is: "other", evaluate: recorded(this.#nodes++, evaluate) };
  }

  #index(operand: Expression, index: Expression, isOptional: boolean): Planned {
    const attribute = this.#asAttribute(operand);
    const planned = this.#plan(index);
    // An index that is a path is resolved as part of this one.
    const key = planned.is === "attribute" ? resolver(planned.attribute) : evaluated(planned);
    addQualifier(attribute, { key, isOptional, testOnly: false });
    return { is: "attribute", attribute };
  }

  /** The second operand is only evaluated if the first has no value. Free, as upstream. */
  #optionalOr({ name, target, args }: Call): Planned {
    const left = this.evaluator(target as Expression);
    const right = this.evaluator(args[0] as Expression);
    const unwraps = name === "orValue";
    const evaluate: Evaluate = (frame) => {
      const first = left(frame);
      if (!(first instanceof Optional)) return first;
      if (first.value === undefined) return right(frame);
      return unwraps ? first.value : first;
    };
    return { is: "other", evaluate };
  }

  #list({ elements, optionals }: ListLiteral): Planned {
    const planned = elements.map((element) => this.#plan(element));
    const evaluators = planned.map(evaluated);
    const build: Evaluate = (frame) => {
      const values: CelValue[] = [];
      for (const [index, evaluate] of evaluators.entries()) {
        const value = evaluate(frame);
        if (value instanceof CelError) return value;
        if (!optionals.has(index)) values.push(value);
        else if (!(value instanceof Optional)) {
          return new CelError(`cannot initialize optional list element from non-optional value ${describe(value)}`);
        } else if (value.value !== undefined) values.push(value.value);
      }
      return new ArrayList(values);
    };
    if (planned.every(({ is }) => is === "constant")) return { is: "constant", value: constantOf(build) };
    return { is: "other", evaluate: charging(build, LIST_CREATE) };
  }

  #map({ entries }: MapLiteral): Planned {
    const planned = entries.map(({ key, value, isOptional }) => ({ key: this.#plan(key), value: this.#plan(value), isOptional }));
    const evaluators = planned.map(({ key, value, isOptional }) => ({ key: evaluated(key), value: evaluated(value), isOptional }));
    const build: Evaluate = (frame) => {
      const built = new Map<CelValue, CelValue>();
      for (const entry of evaluators) {
        const key = entry.key(frame);
        if (key instanceof CelError) return key;
        const value = entry.value(frame);
        if (value instanceof CelError) return value;
        const problem = setEntry(built, key, value, entry.isOptional);
        if (problem !== undefined) return problem;
      }
      return EntryMap.of(built);
    };
    if (planned.every(({ key, value }) => key.is === "constant" && value.is === "constant")) {
      return { is: "constant", value: constantOf(build) };
    }
    return { is: "other", evaluate: charging(build, MAP_CREATE) };
  }

  #object({ typeName, fields }: ObjectLiteral): Planned {
    const evaluators = fields.map(({ name, value, isOptional }) => ({ name, value: this.evaluator(value), isOptional }));
    const isWellKnown = wellKnownMessage(typeName) !== undefined;
    const create = isWellKnown ? newWellKnownMessage : newObject;
    const build: Evaluate = (frame) => {
      const built = new Map<CelValue, CelValue>();
      for (const { name, value, isOptional } of evaluators) {
        const result = value(frame);
        if (result instanceof CelError) return result;
        const problem = setEntry(built, name, result, isOptional);
        if (problem !== undefined) return problem;
      }
      return create(typeName, built);
    };
    const charged = charging(build, STRUCT_CREATE);
    // Their content is converted, which may take long.
    return { is: "other", evaluate: isWellKnown ? recorded(this.#nodes++, charged) : charged };
  }

  #loop(loop: Comprehension): Planned {
    const range = this.evaluator(loop.range);
    const initial = this.evaluator(loop.initial);
    const outer = this.#locals;
    const accumulatorSlot = this.slots++;
    const variableSlot = this.slots++;
    const variable2Slot = loop.variable2 === undefined ? undefined : this.slots++;
    const isEmptyLiteral =
      (loop.initial.kind === "list" && loop.initial.elements.length === 0) ||
      (loop.initial.kind === "map" && loop.initial.entries.length === 0);
    const isBinding = loop.condition.kind === "literal" && loop.condition.value === false;
    const withAccumulator = new Map(outer).set(
      loop.accumulator,
      readAccumulator(accumulatorSlot, initial, { id: this.#nodes++, grows: isEmptyLiteral && !isBinding }),
    );
    const withVariables = new Map(withAccumulator).set(loop.variable, readSlot(variableSlot));
    if (loop.variable2 !== undefined && variable2Slot !== undefined) withVariables.set(loop.variable2, readSlot(variable2Slot));
    this.#locals = withVariables;
    const condition = this.evaluator(loop.condition);
    const step = this.evaluator(loop.step);
    this.#locals = withAccumulator;
    const result = this.evaluator(loop.result);
    this.#locals = outer;
    const id = this.#nodes++;
    return { is: "other", evaluate: evaluateLoop({ id, range, variableSlot, variable2Slot, accumulatorSlot, condition, step, result }) };
  }
}

function evaluated(planned: Planned): Evaluate {
  switch (planned.is) {
    case "constant": {
      const { value } = planned;
      return () => value;
    }
    case "attribute":
      return evaluateAttribute(planned.attribute);
    case "presence":
      return evaluateAttribute(planned.attribute, { testOnly: true });
    case "other":
      return planned.evaluate;
  }
}

function readSlot(slot: number): Evaluate {
  return (frame) => frame.slots[slot] ?? null;
}

function charging(build: Evaluate, cost: number): Evaluate {
  return (frame) => {
    const value = build(frame);
    frame.charge(cost);
    return value;
  };
}

function setEntry(built: Map<CelValue, CelValue>, key: CelValue, value: CelValue, isOptional: boolean): CelError | undefined {
  if (!isOptional) built.set(key, value);
  else if (!(value instanceof Optional)) {
    return new CelError(`cannot initialize optional entry '${describe(key)}' from non-optional value ${describe(value)}`);
  } else if (value.value === undefined) built.delete(key);
  else built.set(key, value.value);
  return undefined;
}

function notBoolean(value: CelResult): CelError | undefined {
  if (value instanceof CelError) return value;
  return typeof value === "boolean" ? undefined : NO_SUCH_OVERLOAD;
}

function equality(first: CelResult, second: CelResult, isEquals: boolean): CelResult {
  if (first instanceof CelError) return first;
  if (second instanceof CelError) return second;
  const same = equal(first, second);
  return isEquals ? same : same !== true;
}

/** `in` with a constant list of primitives is a look-up, and free as upstream. undefined: not such a list. */
function setMembership(value: Planned, list: CelValue): Planned | undefined {
  if (!(list instanceof ListValue)) return undefined;
  if (list.size === 0) return { is: "constant", value: false };
  const keys = new Set<string>();
  for (let index = 0; index < list.size; index++) {
    const element = list.at(index);
    const key = element instanceof CelError ? undefined : keyText(element);
    if (key === undefined) return undefined;
    keys.add(key);
  }
  const evaluate = evaluated(value);
  return {
    is: "other",
    evaluate: (frame) => {
      const result = evaluate(frame);
      if (result instanceof CelError) return result;
      const key = keyText(result);
      return key !== undefined && keys.has(key);
    },
  };
}

/** Compiles the pattern of matches(), find() and findAll() once. Throws PlanError if it is malformed. */
function compileConstantPattern(name: string, pattern: CelValue) {
  if (typeof pattern !== "string") return undefined;
  const compiled = compiledPattern(name, pattern);
  if (compiled instanceof CelError) throw new PlanError(compiled.message);
  return compiled;
}

function constantOf(evaluate: Evaluate): CelValue {
  const frame = new Frame({ bindings: {}, costLimit: Infinity, isInterrupted: undefined, slots: 0 });
  const value = evaluate(frame);
  if (value instanceof CelError) throw new PlanError(value.message);
  return value;
}
