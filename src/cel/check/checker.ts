/**
 * Assigns a type to every node and resolves names to variables, types and overloads. Reports all problems, with upstream's messages. Not
 * here: checks of literals (validators.ts).
 */
import type { Environment } from "../environment.ts";
import type { LibraryFunction } from "../library/library.ts";
import {
  OPERATORS,
  qualifiedName,
  type Call,
  type Comprehension,
  type Expression,
  type ListLiteral,
  type Literal,
  type MapLiteral,
  type ObjectLiteral,
  type Select,
} from "../syntax/ast.ts";
import {
  BOOL,
  BYTES,
  DOUBLE,
  DYN,
  ERROR,
  formatArguments,
  formatType,
  INT,
  isDyn,
  isOptional,
  isSameType,
  listOf,
  mapOf,
  NULL,
  optionalOf,
  parameter,
  STRING,
  typeOf,
  UINT,
  type CelType,
} from "../types/type.ts";
import { textOf } from "../values/text.ts";
import { TypeValue, Uint } from "../values/value.ts";
import { Scope } from "./scope.ts";
import { mostGeneral, Substitutions } from "./substitutions.ts";

export type Report = (position: number, message: string) => void;

/** Throws TypeTooLarge. */
export class Checker {
  readonly #environment: Environment;
  readonly #report: Report;
  readonly #substitutions = new Substitutions();
  readonly #references = new Set<string>();
  readonly #typed: Expression[] = [];
  #scope: Scope;
  #variables = 0;

  constructor(environment: Environment, report: Report) {
    this.#environment = environment;
    this.#report = report;
    this.#scope = new Scope(environment.variables);
  }

  /** Names of variables and functions. */
  get references(): ReadonlySet<string> {
    return this.#references;
  }

  /** Writes types into the tree; returns that of the whole. */
  check(expression: Expression): CelType {
    this.#check(expression);
    for (const node of this.#typed) node.type = this.#substitutions.substitute(node.type ?? ERROR, { toDyn: true });
    return expression.type ?? ERROR;
  }

  #check(expression: Expression): CelType {
    const type = this.#typeOf(expression);
    expression.type = type;
    this.#typed.push(expression);
    return type;
  }

  #typeOf(expression: Expression): CelType {
    switch (expression.kind) {
      case "literal":
        return literalType(expression);
      case "identifier": {
        const name = expression.name.startsWith(".") ? expression.name.slice(1) : expression.name;
        const found = this.#lookup(name);
        if (found === undefined) return this.#undeclared(expression.position, expression.name);
        expression.name = name;
        if (found.constant !== undefined) expression.constant = new TypeValue(found.constant);
        return found.type;
      }
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
        return this.#comprehension(expression);
      case "malformed":
        return ERROR;
    }
  }

  #undeclared(position: number, name: string): CelType {
    this.#report(position, `undeclared reference to '${name}' (in container '')`);
    return ERROR;
  }

  /** A variable, or a type, whose value is constant. */
  #lookup(name: string): { readonly type: CelType; readonly constant?: CelType } | undefined {
    const variable = this.#scope.find(name);
    if (variable !== undefined) {
      this.#references.add(name);
      return { type: variable };
    }
    const named = this.#environment.types.get(name) ?? this.#environment.findObject(name)?.type;
    return named === undefined ? undefined : { type: typeOf(named), constant: named };
  }

  #select(select: Select): CelType {
    const name = qualifiedName(select);
    const found = name === undefined ? undefined : this.#lookup(name.startsWith(".") ? name.slice(1) : name);
    if (found !== undefined && name !== undefined) {
      const constant = found.constant === undefined ? {} : { constant: new TypeValue(found.constant) };
      select.resolved = { kind: "identifier", position: select.position, depth: 0, name, type: found.type, ...constant };
      return found.type;
    }
    const type = this.#field(select.position, select.operand, select.field, { isOptional: false });
    return select.testOnly ? BOOL : this.#substitutions.substitute(type);
  }

  #field(position: number, operand: Expression, field: string, options: { readonly isOptional: boolean }): CelType {
    const operandType = this.#substitutions.substitute(this.#check(operand));
    const wasOptional = isOptional(operandType);
    const target = wasOptional ? (operandType.parameters[0] ?? ERROR) : operandType;
    const type = this.#fieldType(position, target, field);
    return wasOptional || options.isOptional ? optionalOf(type) : type;
  }

  #fieldType(position: number, target: CelType, field: string): CelType {
    switch (target.kind) {
      case "map":
        return target.parameters[1] ?? ERROR;
      case "object":
        return this.#objectField(position, target.name, field);
      case "parameter":
        this.#substitutions.isAssignable(DYN, target);
        return DYN;
      default:
        if (!isDyn(target) && target.kind !== "error") {
          this.#report(position, `type '${formatType(target)}' does not support field selection`);
        }
        return DYN;
    }
  }

  #objectField(position: number, typeName: string, field: string): CelType {
    const object = this.#environment.findObject(typeName);
    const type = object?.field(field);
    if (object === undefined) this.#report(position, `unexpected failed resolution of '${typeName}'`);
    else if (type === undefined) this.#report(position, `undefined field '${field}'`);
    return type ?? ERROR;
  }

  #call(call: Call): CelType {
    if (call.name === OPERATORS.optionalSelect) {
      const [operand, field] = call.args as [Expression, Literal];
      call.overloads = ["select_optional_field"];
      return this.#substitutions.substitute(this.#field(call.position, operand, textOf(field.value), { isOptional: true }));
    }
    for (const argument of call.args) this.#check(argument);
    const { target } = call;
    if (target === undefined) {
      const name = call.name.startsWith(".") ? call.name.slice(1) : call.name;
      const found = this.#environment.functions.get(name);
      if (found === undefined) return this.#undeclared(call.position, call.name);
      call.name = name;
      return this.#resolve(call, found);
    }
    const prefix = qualifiedName(target);
    const qualified = prefix === undefined ? undefined : `${prefix.startsWith(".") ? prefix.slice(1) : prefix}.${call.name}`;
    const namespaced = qualified === undefined ? undefined : this.#environment.functions.get(qualified);
    if (namespaced !== undefined) {
      call.name = namespaced.name;
      call.target = undefined;
      return this.#resolve(call, namespaced);
    }
    this.#check(target);
    const found = this.#environment.functions.get(call.name);
    return found === undefined ? this.#undeclared(call.position, call.name) : this.#resolve(call, found);
  }

  #resolve(call: Call, { name, overloads }: LibraryFunction): CelType {
    this.#references.add(name);
    const args = call.target === undefined ? call.args : [call.target, ...call.args];
    const types = args.map((argument) => argument.type ?? ERROR);
    if (name === OPERATORS.and || name === OPERATORS.or) return this.#logical(call, types);
    let result: CelType | undefined;
    const matching: string[] = [];
    for (const overload of overloads) {
      if (overload.isMember !== (call.target !== undefined) || overload.parameters.length !== types.length) continue;
      const fresh = this.#instantiate([overload.result, ...overload.parameters]);
      if (!this.#substitutions.areAssignable(types, fresh.slice(1))) continue;
      matching.push(overload.id);
      const type = this.#substitutions.substitute(fresh[0] ?? ERROR);
      if (result === undefined) result = type;
      else if (!isDyn(result) && !isSameType(type, result)) result = DYN;
    }
    call.overloads = matching;
    if (result !== undefined) return result;
    const shown = types.map((type) => this.#substitutions.substitute(type, { toDyn: true }));
    const signature = formatArguments(shown, { isMember: call.target !== undefined });
    this.#report(call.position, `found no matching overload for '${name}' applied to '${signature}'`);
    return ERROR;
  }

  #logical(call: Call, types: readonly CelType[]): CelType {
    call.overloads = [call.name === OPERATORS.and ? "logical_and" : "logical_or"];
    let isValid = true;
    types.forEach((type, index) => {
      if (this.#substitutions.isAssignable(type, BOOL)) return;
      this.#mismatch(call.args[index]?.position ?? call.position, BOOL, type);
      isValid = false;
    });
    return isValid ? BOOL : ERROR;
  }

  /** The types with fresh type parameters. */
  #instantiate(types: readonly CelType[]): CelType[] {
    const fresh = new Map<string, CelType>();
    const instantiate = (type: CelType): CelType => {
      if (type.kind === "parameter") {
        const known = fresh.get(type.name) ?? this.#newParameter();
        fresh.set(type.name, known);
        return known;
      }
      return type.parameters.length === 0 ? type : { ...type, parameters: type.parameters.map(instantiate) };
    };
    return types.map(instantiate);
  }

  #newParameter(): CelType {
    return parameter(`_var${this.#variables++}`);
  }

  #list({ elements, optionals }: ListLiteral): CelType {
    let type: CelType | undefined;
    elements.forEach((element, index) => {
      let elementType = this.#check(element);
      if (optionals.has(index)) elementType = this.#unwrapped(element.position, elementType);
      type = this.#join(type, elementType);
    });
    return this.#substitutions.sized(listOf(type ?? this.#newParameter()));
  }

  #map({ entries }: MapLiteral): CelType {
    let keyType: CelType | undefined;
    let valueType: CelType | undefined;
    for (const { key, value, isOptional: isOptionalEntry } of entries) {
      keyType = this.#join(keyType, this.#check(key));
      let type = this.#check(value);
      if (isOptionalEntry) type = this.#unwrapped(value.position, type);
      valueType = this.#join(valueType, type);
    }
    return this.#substitutions.sized(mapOf(keyType ?? this.#newParameter(), valueType ?? this.#newParameter()));
  }

  /** The value type of an optional element. */
  #unwrapped(position: number, type: CelType): CelType {
    if (isOptional(type)) return type.parameters[0] ?? ERROR;
    if (!isDyn(type)) this.#mismatch(position, optionalOf(type), type);
    return type;
  }

  /** The type of both. Elements of different types are reported by the validators, which know the exceptions. */
  #join(before: CelType | undefined, type: CelType): CelType {
    if (before === undefined) return type;
    return this.#substitutions.isAssignable(before, type) ? mostGeneral(before, type) : DYN;
  }

  #object(object: ObjectLiteral): CelType {
    const name = object.typeName.startsWith(".") ? object.typeName.slice(1) : object.typeName;
    const found = this.#lookup(name);
    if (found === undefined) return this.#undeclared(object.position, object.typeName);
    object.typeName = name;
    let type = ERROR;
    if (found.constant === undefined) this.#report(object.position, `'${formatType(found.type)}' is not a type`);
    else if (this.#environment.findObject(name) !== undefined) type = found.constant;
    else this.#report(object.position, `'${formatType(found.constant)}' is not a message type`);
    for (const { position, name: field, value, isOptional: isOptionalField } of object.fields) {
      let valueType = this.#check(value);
      const fieldType = type.kind === "error" ? ERROR : this.#objectField(position, name, field);
      if (isOptionalField) valueType = this.#unwrapped(value.position, valueType);
      if (this.#substitutions.isAssignable(fieldType, valueType)) continue;
      const types = `'${formatType(fieldType)}' but provided type is '${formatType(valueType)}'`;
      this.#report(position, `expected type of field '${field}' is ${types}`);
    }
    return type;
  }

  #comprehension(loop: Comprehension): CelType {
    this.#check(loop.range);
    const accumulatorType = this.#check(loop.initial);
    const rangeType = this.#substitutions.substitute(loop.range.type ?? ERROR);
    const outer = this.#scope;
    const withAccumulator = new Scope(new Map([[loop.accumulator, accumulatorType]]), outer);
    this.#scope = new Scope(this.#loopVariables(loop, rangeType), withAccumulator);
    this.#check(loop.condition);
    this.#assert(loop.condition, BOOL);
    this.#check(loop.step);
    this.#assert(loop.step, accumulatorType);
    this.#scope = withAccumulator;
    const type = this.#check(loop.result);
    this.#scope = outer;
    return this.#substitutions.substitute(type);
  }

  #loopVariables({ range, variable, variable2 }: Comprehension, type: CelType): ReadonlyMap<string, CelType> {
    const [first, second] = this.#iterated(range, type);
    if (variable2 === undefined) return new Map([[variable, type.kind === "list" ? second : first]]);
    return new Map([
      [variable, first],
      [variable2, second],
    ]);
  }

  /** The types of keys (or indices) and values. */
  #iterated(range: Expression, type: CelType): readonly [CelType, CelType] {
    switch (type.kind) {
      case "list":
        return [INT, type.parameters[0] ?? ERROR];
      case "map":
        return [type.parameters[0] ?? ERROR, type.parameters[1] ?? ERROR];
      case "dyn":
      case "error":
      case "parameter":
        this.#substitutions.isAssignable(DYN, type);
        return [DYN, DYN];
      default: {
        const problem = `expression of type '${formatType(type)}' cannot be range of a comprehension (must be list, map, or dynamic)`;
        this.#report(range.position, problem);
        return [ERROR, ERROR];
      }
    }
  }

  #assert(expression: Expression, type: CelType): void {
    const actual = expression.type ?? ERROR;
    if (!this.#substitutions.isAssignable(type, actual)) this.#mismatch(expression.position, type, actual);
  }

  #mismatch(position: number, expected: CelType, actual: CelType): void {
    this.#report(position, `expected type '${formatType(expected)}' but found '${formatType(actual)}'`);
  }
}

function literalType({ value }: Literal): CelType {
  if (value === null) return NULL;
  switch (typeof value) {
    case "boolean":
      return BOOL;
    case "string":
      return STRING;
    case "bigint":
      return INT;
    case "number":
      return DOUBLE;
    default:
      return value instanceof Uint ? UINT : BYTES;
  }
}
