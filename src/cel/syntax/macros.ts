/**
 * Macros: calls that the parser replaces by other expressions, mostly loops. The positions of what they expand to are those of the call.
 */
import { OPERATORS, type Expression } from "./ast.ts";
import { ACCUMULATOR, type Factory } from "./factory.ts";

export interface MacroCall {
  readonly position: number;
  readonly name: string;
  /** Absent: not called on a value. */
  readonly target: Expression | undefined;
  readonly args: readonly Expression[];
}

export interface MacroProblem {
  readonly problem: string;
  readonly position: number;
}

type Expansion = Expression | MacroProblem;
type Expand = (factory: Factory, call: MacroCall & { readonly target: Expression }) => Expansion;

/** Name and number of arguments; all but has() are called on a value. */
const MACROS: Readonly<Record<string, Expand>> = {
  "all/2": (factory, call) => quantified(factory, call, "all"),
  "all/3": (factory, call) => quantified(factory, call, "all"),
  "exists/2": (factory, call) => quantified(factory, call, "exists"),
  "exists/3": (factory, call) => quantified(factory, call, "exists"),
  "exists_one/2": (factory, call) => quantified(factory, call, "existsOne"),
  "exists_one/3": (factory, call) => quantified(factory, call, "existsOne"),
  "existsOne/3": (factory, call) => quantified(factory, call, "existsOne"),
  "map/2": mapped,
  "map/3": mapped,
  "filter/2": filtered,
  "transformList/3": (factory, call) => transformed(factory, call, "list"),
  "transformList/4": (factory, call) => transformed(factory, call, "list"),
  "transformMap/3": (factory, call) => transformed(factory, call, "map"),
  "transformMap/4": (factory, call) => transformed(factory, call, "map"),
  "transformMapEntry/3": (factory, call) => transformed(factory, call, "entry"),
  "transformMapEntry/4": (factory, call) => transformed(factory, call, "entry"),
  "optMap/2": (factory, call) => optionalMapped(factory, call, { isFlat: false }),
  "optFlatMap/2": (factory, call) => optionalMapped(factory, call, { isFlat: true }),
  "sortBy/2": sortedBy,
};

/** The accumulator that users could write in early versions of the language; still refused as a variable. */
const OLD_ACCUMULATOR = "__result__";
const UNUSED = "#unused";

/** undefined: not a macro. */
export function expandMacro(factory: Factory, call: MacroCall, { bindMacro }: { readonly bindMacro: boolean }): Expansion | undefined {
  const { name, target, args, position } = call;
  if (target === undefined) return name === "has" && args.length === 1 ? presence(factory, position, args) : undefined;
  if (bindMacro && name === "bind" && args.length === 3 && isNamespace(target)) return namedValue(factory, position, args);
  const key = `${name}/${args.length}`;
  return Object.hasOwn(MACROS, key) ? MACROS[key]?.(factory, { ...call, target }) : undefined;
}

function presence(factory: Factory, position: number, [argument]: readonly Expression[]): Expansion {
  if (argument?.kind !== "select") return { problem: "invalid argument to has() macro", position: argument?.position ?? position };
  return factory.select(position, argument.operand, argument.field, { testOnly: true });
}

interface Variables {
  readonly variable: string;
  readonly variable2: string | undefined;
}

const SIMPLE_NAME = "argument must be a simple name";
const NOT_AN_IDENTIFIER = "argument is not an identifier";

/** The names of the loop variables: the first one or two arguments. */
function variablesOf(names: readonly Expression[], problem: string): Variables | MacroProblem {
  const read: string[] = [];
  for (const name of names) {
    if (name.kind !== "identifier") return { problem, position: name.position };
    read.push(name.name);
  }
  const [variable = "", variable2] = read;
  if (variable === variable2) return { problem: `duplicate variable name: ${variable}`, position: names[1]?.position ?? 0 };
  const overwriting = names.find((name) => name.kind === "identifier" && (name.name === ACCUMULATOR || name.name === OLD_ACCUMULATOR));
  if (overwriting !== undefined) {
    return { problem: "iteration variable overwrites accumulator variable", position: overwriting.position };
  }
  return { variable, variable2 };
}

function quantified(factory: Factory, call: MacroCall & { readonly target: Expression }, kind: "all" | "exists" | "existsOne"): Expansion {
  const { position, target, args } = call;
  const variables = variablesOf(args.slice(0, -1), SIMPLE_NAME);
  if ("problem" in variables) return variables;
  const predicate = args.at(-1) as Expression;
  const accumulator = (): Expression => factory.accumulator(position);
  const invoke = (name: string, ...parameters: Expression[]): Expression => factory.call(position, name, parameters);
  const literal = (value: boolean | bigint): Expression => factory.literal(position, value);
  const loop = { ...variables, range: target, accumulator: ACCUMULATOR };
  switch (kind) {
    case "all":
      return factory.comprehension(position, {
        ...loop,
        initial: literal(true),
        condition: invoke(OPERATORS.notStrictlyFalse, accumulator()),
        step: invoke(OPERATORS.and, accumulator(), predicate),
        result: accumulator(),
      });
    case "exists":
      return factory.comprehension(position, {
        ...loop,
        initial: literal(false),
        condition: invoke(OPERATORS.notStrictlyFalse, invoke(OPERATORS.not, accumulator())),
        step: invoke(OPERATORS.or, accumulator(), predicate),
        result: accumulator(),
      });
    case "existsOne":
      return factory.comprehension(position, {
        ...loop,
        initial: literal(0n),
        condition: literal(true),
        step: invoke(OPERATORS.conditional, predicate, invoke(OPERATORS.add, accumulator(), literal(1n)), accumulator()),
        result: invoke(OPERATORS.equals, accumulator(), literal(1n)),
      });
  }
}

function mapped(factory: Factory, { position, target, args }: MacroCall & { readonly target: Expression }): Expansion {
  const variables = variablesOf(args.slice(0, 1), NOT_AN_IDENTIFIER);
  if ("problem" in variables) return variables;
  const predicate = args.length === 3 ? args[1] : undefined;
  return collected(factory, { position, target, variables, predicate, element: args.at(-1) as Expression });
}

function filtered(factory: Factory, { position, target, args }: MacroCall & { readonly target: Expression }): Expansion {
  const variables = variablesOf(args.slice(0, 1), NOT_AN_IDENTIFIER);
  if ("problem" in variables) return variables;
  return collected(factory, { position, target, variables, predicate: args[1], element: args[0] as Expression });
}

interface Collected {
  readonly position: number;
  readonly target: Expression;
  readonly variables: Variables;
  readonly predicate: Expression | undefined;
  readonly element: Expression;
}

/** A list of an element per iteration, of those for which the predicate holds. */
function collected(factory: Factory, { position, target, variables, predicate, element }: Collected): Expression {
  const append = factory.call(position, OPERATORS.add, [factory.accumulator(position), factory.list(position, [element])]);
  return factory.comprehension(position, {
    ...variables,
    range: target,
    accumulator: ACCUMULATOR,
    initial: factory.list(position, []),
    condition: factory.literal(position, true),
    step: onlyIf(factory, position, predicate, append),
    result: factory.accumulator(position),
  });
}

function onlyIf(factory: Factory, position: number, predicate: Expression | undefined, step: Expression): Expression {
  if (predicate === undefined) return step;
  return factory.call(position, OPERATORS.conditional, [predicate, step, factory.accumulator(position)]);
}

function transformed(
  factory: Factory,
  { position, target, args }: MacroCall & { readonly target: Expression },
  kind: "list" | "map" | "entry",
): Expansion {
  const variables = variablesOf(args.slice(0, 2), SIMPLE_NAME);
  if ("problem" in variables) return variables;
  const predicate = args.length === 4 ? args[2] : undefined;
  const element = args.at(-1) as Expression;
  if (kind === "list") return collected(factory, { position, target, variables, predicate, element });
  const added = kind === "map" ? [factory.identifier(position, variables.variable), element] : [element];
  const insert = factory.call(position, "cel.@mapInsert", [factory.accumulator(position), ...added]);
  return factory.comprehension(position, {
    ...variables,
    range: target,
    accumulator: ACCUMULATOR,
    initial: factory.map(position, []),
    condition: factory.literal(position, true),
    step: onlyIf(factory, position, predicate, insert),
    result: factory.accumulator(position),
  });
}

/** A loop over nothing, whose accumulator is a local variable. */
function bound(factory: Factory, position: number, name: string, value: Expression, result: Expression): Expression {
  return factory.comprehension(position, {
    range: factory.list(position, []),
    variable: UNUSED,
    variable2: undefined,
    accumulator: name,
    initial: value,
    condition: factory.literal(position, false),
    step: factory.identifier(position, name),
    result,
  });
}

function isNamespace(target: Expression): boolean {
  return target.kind === "identifier" && target.name === "cel";
}

/** cel.bind(name, value, result) */
function namedValue(factory: Factory, position: number, args: readonly Expression[]): Expansion {
  const [variable, value, result] = args as [Expression, Expression, Expression];
  if (variable.kind !== "identifier") {
    return { problem: "cel.bind() variable names must be simple identifiers", position: variable.position };
  }
  return bound(factory, position, variable.name, value, result);
}

function optionalMapped(
  factory: Factory,
  { position, name, target, args }: MacroCall & { readonly target: Expression },
  { isFlat }: { readonly isFlat: boolean },
): Expansion {
  const [variable, mapping] = args as [Expression, Expression];
  if (variable.kind !== "identifier") {
    return { problem: `${name}() variable name must be a simple identifier`, position: variable.position };
  }
  const value = factory.call(position, "value", [], factory.copy(target));
  const result = bound(factory, position, variable.name, value, mapping);
  return factory.call(position, OPERATORS.conditional, [
    factory.call(position, "hasValue", [], target),
    isFlat ? result : factory.call(position, "optional.of", [result]),
    factory.call(position, "optional.none", []),
  ]);
}

const SORT_INPUT = "@__sortBy_input__";
const SORTABLE = new Set(["list", "select", "identifier", "comprehension", "call"]);

function sortedBy(factory: Factory, call: MacroCall & { readonly target: Expression }): Expansion {
  const { position, target } = call;
  if (!SORTABLE.has(target.kind)) {
    const problem = "sortBy can only be applied to a list, identifier, comprehension, call or select expression";
    return { problem, position: target.position };
  }
  const keys = mapped(factory, { ...call, target: factory.identifier(position, SORT_INPUT) });
  if ("problem" in keys) return keys;
  const sorted = factory.call(position, "@sortByAssociatedKeys", [keys], factory.identifier(position, SORT_INPUT));
  return bound(factory, position, SORT_INPUT, target, sorted);
}
