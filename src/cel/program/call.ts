/** Calls of library functions: which implementation, what it costs, and what errors in arguments do. */
import { callCost, UNIT_COST, type CallCost } from "../cost/runtime.ts";
import type { CallContext, Implementation, LibraryFunction, Overload } from "../library/library.ts";
import { isDyn, type CelType } from "../types/type.ts";
import { typeNameOf } from "../values/describe.ts";
import { spend } from "../values/meter.ts";
import { CelError, ListValue, MapValue, type CelResult, type CelValue } from "../values/value.ts";
import type { Evaluate, Frame } from "./frame.ts";

const CONTEXT: CallContext = { spend };

export interface CallPlan {
  /** Of the node, in journals. */
  readonly id: number;
  readonly definition: LibraryFunction;
  /** Those that the argument types allow. */
  readonly overloads: readonly string[];
  readonly isMember: boolean;
  readonly args: readonly Evaluate[];
  /** Replaces the implementation: a pattern that is compiled already. */
  readonly implementation?: Implementation;
}

export function evaluateCall(plan: CallPlan): Evaluate {
  return recorded(plan.id, callOf(plan));
}

/** In an evaluation in slices, the value is kept for the next slice. */
export function recorded(id: number, evaluate: Evaluate): Evaluate {
  return (frame) => (frame.journal === undefined ? evaluate(frame) : frame.journal.once(id, evaluate, frame));
}

function callOf(plan: CallPlan): Evaluate {
  const steps = CALL_STEPS.get(plan.definition.name);
  return steps === undefined ? callWithCost(plan) : withSteps(steps, callWithCost(plan));
}

/** Steps of functions that take long even for short texts; a step is a share of time (values/meter.ts). */
const CALL_STEPS: ReadonlyMap<string, number> = new Map([
  ...["quantity", "isQuantity"].map((name) => [name, 1_500] as const),
  ...["url", "isURL"].map((name) => [name, 2_000] as const),
  ...["ip", "isIP", "ip.isCanonical", "cidr", "isCIDR", "containsIP", "containsCIDR"].map((name) => [name, 800] as const),
  ...["semver", "isSemver", "timestamp", "duration", "validate", "format", "sort", "join"].map((name) => [name, 400] as const),
]);

function withSteps(steps: number, call: Evaluate): Evaluate {
  return (frame) => {
    spend(steps);
    return call(frame);
  };
}

function callWithCost(plan: CallPlan): Evaluate {
  const { definition, overloads, args } = plan;
  const cost = callCost(definition.name, overloads.length === 1 ? (overloads[0] ?? "") : "");
  if (definition.nonStrict !== undefined) return nonStrictCall(definition.nonStrict, args, cost);
  const call = plan.implementation ?? dispatch(plan);
  const [first, second] = args;
  // Upstream stops at the first error of three or more arguments, and of those with a compiled pattern; of two it evaluates both.
  const stopsEarly = args.length > 2 || plan.implementation !== undefined || definition.name === "format";
  if (stopsEarly || first === undefined) return manyArguments(call, args, cost);
  return second === undefined ? oneArgument(call, first, cost) : twoArguments(call, first, second, cost);
}

/** Most calls cost 1, whatever the arguments: the texts that they scan count as steps, or a loop over such calls could take minutes. */
function charge(frame: Frame, cost: CallCost, values: readonly CelResult[], result: CelResult): void {
  for (const value of values) if (typeof value === "string") spend(value.length);
  frame.charge(cost === UNIT_COST ? 1 : cost(values, result));
}

function nonStrictCall(call: (args: readonly CelResult[]) => CelResult, args: readonly Evaluate[], cost: CallCost): Evaluate {
  return (frame) => {
    const values = args.map((argument) => argument(frame));
    const result = call(values);
    charge(frame, cost, values, result);
    return result;
  };
}

function oneArgument(call: Implementation, argument: Evaluate, cost: CallCost): Evaluate {
  return (frame) => {
    const value = argument(frame);
    const values = [value];
    const result = value instanceof CelError ? value : call(values as CelValue[], CONTEXT);
    charge(frame, cost, values, result);
    return result;
  };
}

function twoArguments(call: Implementation, first: Evaluate, second: Evaluate, cost: CallCost): Evaluate {
  return (frame) => {
    const left = first(frame);
    const right = second(frame);
    const values = [left, right];
    const problem = left instanceof CelError ? left : right;
    const result = problem instanceof CelError ? problem : call(values as CelValue[], CONTEXT);
    charge(frame, cost, values, result);
    return result;
  };
}

function manyArguments(call: Implementation, args: readonly Evaluate[], cost: CallCost): Evaluate {
  return (frame) => {
    const values: CelResult[] = [];
    for (const argument of args) {
      const value = argument(frame);
      values.push(value);
      if (!(value instanceof CelError)) continue;
      if (values.length === args.length) charge(frame, cost, values, value);
      return value;
    }
    const result = call(values as CelValue[], CONTEXT);
    charge(frame, cost, values, result);
    return result;
  };
}

/** One implementation for all overloads, the only overload, or the first that fits the values. */
function dispatch({ definition, overloads, isMember, args }: CallPlan): Implementation {
  if (definition.call !== undefined) return definition.call;
  const candidates = definition.overloads.filter(
    (overload) => overload.isMember === isMember && overload.parameters.length === args.length && overload.call !== undefined,
  );
  const only = overloads.length === 1 ? candidates.find(({ id }) => id === overloads[0]) : undefined;
  const tried = only === undefined ? candidates : [only];
  const [first] = tried;
  if (only !== undefined && first?.call !== undefined && first.parameters.length === 0) return first.call;
  return (values, context) => {
    const found = tried.find((overload) => fits(overload, values));
    if (found?.call !== undefined) return found.call(values, context);
    return new CelError(`no such overload: ${definition.name}(${values.map(typeNameOf).join(", ")})`);
  };
}

function fits({ parameters }: Overload, values: readonly CelValue[]): boolean {
  return parameters.every((parameter, index) => isOfType(values[index] ?? null, parameter));
}

/** Whether a value can be passed for a type. Of lists and maps the first element counts, as upstream. */
export function isOfType(value: CelValue, type: CelType): boolean {
  if (isDyn(type) || type.kind === "parameter") return true;
  if (type.kind === "list") {
    if (!(value instanceof ListValue)) return false;
    return value.size === 0 || isResultOfType(value.at(0), type.parameters[0]);
  }
  if (type.kind === "map") {
    if (!(value instanceof MapValue)) return false;
    const key = value.anyKey();
    return key === undefined || (isResultOfType(key, type.parameters[0]) && isResultOfType(value.find(key), type.parameters[1]));
  }
  return (type.nullable === true && value === null) || typeNameOf(value) === type.name;
}

function isResultOfType(value: CelResult | undefined, type: CelType | undefined): boolean {
  return value !== undefined && type !== undefined && !(value instanceof CelError) && isOfType(value, type);
}
