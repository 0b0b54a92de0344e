/** Estimates of calls of the language itself: operators, conversions, and functions of strings. */
import type { Call, Expression } from "../syntax/ast.ts";
import type { CallNode, Estimated } from "./estimated.ts";
import { unionEntries, type EntrySizes } from "./entries.ts";
import { REGEX_FACTOR, STRING_FACTOR } from "./figures.ts";
import { add, exactly, multiply, scale, union, UNKNOWN, type Range } from "./size.ts";
import { UINT_MAX } from "../syntax/literals.ts";

interface LanguageCall {
  readonly call: Call;
  readonly overload: string;
  readonly target: CallNode | undefined;
  readonly args: readonly CallNode[];
  readonly argCosts: readonly Range[];
}

const ONE = exactly(1);
/** Go's uint64 wraps here. */
const wrapped = (value: bigint): bigint => BigInt.asUintN(64, value);

export function estimateLanguageCall(request: LanguageCall, estimator: EntrySizes): Estimated {
  const { overload, target, args, argCosts } = request;
  const [first, second] = args;
  switch (overload) {
    case "string_format":
      return { cost: traversed(target) };
    case "string_to_bytes": {
      const size = sizeOf(first);
      return { cost: scale(size, STRING_FACTOR), size: { min: size.min, max: wrapped(size.max * 4n) } };
    }
    case "bytes_to_string": {
      const size = sizeOf(first);
      return { cost: scale(size, STRING_FACTOR), size: { min: size.min / 4n, max: size.max } };
    }
    case "strings_quote": {
      const size = sizeOf(first);
      return { cost: scale(size, STRING_FACTOR), size: { min: wrapped(size.min + 2n), max: wrapped(size.max * 2n + 2n) } };
    }
    case "starts_with_string":
    case "ends_with_string":
      return { cost: traversed(first) };
    case "in_list":
      return { cost: scale(sizeOf(second), 1) };
    case "matches_string":
      return { cost: multiply(scale(add(sizeOf(target), ONE), STRING_FACTOR), scale(sizeOf(first), REGEX_FACTOR)) };
    case "contains_string":
      return { cost: multiply(traversed(target), traversed(first)) };
    case "logical_or":
    case "logical_and": {
      const [left = ONE, right = ONE] = argCosts;
      return { cost: { min: left.min, max: add(left, right).max }, includesArguments: true };
    }
    case "conditional":
      return conditional(request, estimator);
    case "add_string":
    case "add_bytes":
    case "add_list":
      return added(request, estimator);
    default:
      return isComparison(overload) ? { cost: compared(first, second) } : { cost: ONE };
  }
}

function sizeOf(node: CallNode | undefined): Range {
  return node?.size ?? UNKNOWN;
}

function traversed(node: CallNode | undefined): Range {
  return scale(sizeOf(node), STRING_FACTOR);
}

function conditional({ call, args, argCosts }: LanguageCall, estimator: EntrySizes): Estimated {
  const [, whenTrue, whenFalse] = args;
  const [, first, second] = call.args as readonly [Expression, Expression, Expression];
  estimator.setEntry(call, unionEntries(estimator.entryOf(first), estimator.entryOf(second)));
  const [condition = ONE, trueCost = ONE, falseCost = ONE] = argCosts;
  return { cost: add(condition, union(trueCost, falseCost)), size: union(sizeOf(whenTrue), sizeOf(whenFalse)), includesArguments: true };
}

function added({ call, overload, args }: LanguageCall, estimator: EntrySizes): Estimated {
  const [left, right] = call.args as readonly [Expression, Expression];
  const size = add(sizeOf(args[0]), sizeOf(args[1]));
  estimator.setEntry(call, unionEntries(estimator.entryOf(left), estimator.entryOf(right)));
  return { cost: overload === "add_list" ? ONE : scale(size, STRING_FACTOR), size };
}

function isComparison(overload: string): boolean {
  return overload === "equals" || overload === "not_equals" || /^(?:less|greater)(?:_equals)?_(?:string|bytes)$/.test(overload);
}

function compared(first: CallNode | undefined, second: CallNode | undefined): Range {
  const left = sizeOf(first).max;
  const right = sizeOf(second).max;
  const max = left < right ? left : right;
  return scale({ min: max > 0n ? 1n : 0n, max: max > UINT_MAX ? UINT_MAX : max }, STRING_FACTOR);
}
