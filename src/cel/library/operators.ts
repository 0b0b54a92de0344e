/** Operators as functions. Logical operators, ternaries, equality and index access are implemented by the program. */
import { calculate, negate, type Operator } from "../values/arithmetic.ts";
import { compare, isComparable, listContains, NO_SUCH_OVERLOAD } from "../values/compare.ts";
import { characterCount } from "../values/text.ts";
import { CelError, ListValue, MapValue, type CelResult, type CelValue } from "../values/value.ts";
import { BOOL, BYTES, DOUBLE, DURATION, INT, listOf, mapOf, parameter, STRING, TIMESTAMP, UINT, type CelType } from "../types/type.ts";
import { member, overload, type Library, type LibraryFunction, type Overload } from "./library.ts";

const A = parameter("A");
const B = parameter("B");
const LIST_A = listOf(A);
const MAP_AB = mapOf(A, B);

function arithmetic(name: Operator, ...overloads: Overload[]): LibraryFunction {
  return { name, overloads, call: ([a = null, b = null]) => calculate(name, a, b) };
}

function both(id: string, type: CelType): Overload {
  return overload(id, [type, type], type);
}

const ARITHMETIC: readonly LibraryFunction[] = [
  arithmetic(
    "_+_",
    both("add_bytes", BYTES),
    both("add_double", DOUBLE),
    both("add_duration_duration", DURATION),
    overload("add_duration_timestamp", [DURATION, TIMESTAMP], TIMESTAMP),
    overload("add_timestamp_duration", [TIMESTAMP, DURATION], TIMESTAMP),
    both("add_int64", INT),
    both("add_list", LIST_A),
    both("add_string", STRING),
    both("add_uint64", UINT),
  ),
  arithmetic("_/_", both("divide_double", DOUBLE), both("divide_int64", INT), both("divide_uint64", UINT)),
  arithmetic("_%_", both("modulo_int64", INT), both("modulo_uint64", UINT)),
  arithmetic("_*_", both("multiply_double", DOUBLE), both("multiply_int64", INT), both("multiply_uint64", UINT)),
  arithmetic(
    "_-_",
    both("subtract_double", DOUBLE),
    both("subtract_duration_duration", DURATION),
    both("subtract_int64", INT),
    overload("subtract_timestamp_duration", [TIMESTAMP, DURATION], TIMESTAMP),
    overload("subtract_timestamp_timestamp", [TIMESTAMP, TIMESTAMP], DURATION),
    both("subtract_uint64", UINT),
  ),
  {
    name: "-_",
    overloads: [overload("negate_double", [DOUBLE], DOUBLE), overload("negate_int64", [INT], INT)],
    call: ([value = null]) => negate(value),
  },
];

/** Overloads of a comparison, in upstream's order; numbers compare across types. */
function comparisons(prefix: string): Overload[] {
  const pairs: readonly (readonly [string, CelType, CelType])[] = [
    ["bool", BOOL, BOOL],
    ["int64", INT, INT],
    ["int64_double", INT, DOUBLE],
    ["int64_uint64", INT, UINT],
    ["uint64", UINT, UINT],
    ["uint64_double", UINT, DOUBLE],
    ["uint64_int64", UINT, INT],
    ["double", DOUBLE, DOUBLE],
    ["double_int64", DOUBLE, INT],
    ["double_uint64", DOUBLE, UINT],
    ["string", STRING, STRING],
    ["bytes", BYTES, BYTES],
    ["timestamp", TIMESTAMP, TIMESTAMP],
    ["duration", DURATION, DURATION],
  ];
  return pairs.map(([suffix, left, right]) => overload(`${prefix}_${suffix}`, [left, right], BOOL));
}

function comparison(name: string, prefix: string, holds: (order: number) => boolean): LibraryFunction {
  return {
    name,
    overloads: comparisons(prefix),
    call: ([a = null, b = null]) => {
      if (!isComparable(a)) return new CelError(`no such overload: ${name}`);
      const order = compare(a, b);
      return order instanceof CelError ? order : holds(order);
    },
  };
}

const COMPARISONS: readonly LibraryFunction[] = [
  comparison("_<_", "less", (order) => order < 0),
  comparison("_<=_", "less_equals", (order) => order <= 0),
  comparison("_>_", "greater", (order) => order > 0),
  comparison("_>=_", "greater_equals", (order) => order >= 0),
];

const LOGIC: readonly LibraryFunction[] = [
  { name: "_?_:_", overloads: [overload("conditional", [BOOL, A, A], A)] },
  { name: "_&&_", overloads: [overload("logical_and", [BOOL, BOOL], BOOL)] },
  { name: "_||_", overloads: [overload("logical_or", [BOOL, BOOL], BOOL)] },
  {
    name: "!_",
    overloads: [overload("logical_not", [BOOL], BOOL)],
    call: ([value]) => (typeof value === "boolean" ? !value : NO_SUCH_OVERLOAD),
  },
  {
    name: "@not_strictly_false",
    overloads: [overload("not_strictly_false", [BOOL], BOOL)],
    nonStrict: ([value]) => (typeof value === "boolean" ? value : true),
  },
  { name: "_==_", overloads: [overload("equals", [A, A], BOOL)] },
  { name: "_!=_", overloads: [overload("not_equals", [A, A], BOOL)] },
];

/** Value of `in`. */
function contains(value: CelValue, container: CelValue): CelResult {
  if (container instanceof ListValue) return listContains(container, value);
  if (!(container instanceof MapValue)) return NO_SUCH_OVERLOAD;
  return container.contains(value);
}

/** Value of size(); undefined: the value has none. */
export function sizeOf(value: CelValue): number | undefined {
  if (typeof value === "string") return characterCount(value);
  if (value instanceof ListValue || value instanceof MapValue) return value.size;
  return value instanceof Uint8Array ? value.length : undefined;
}

const CONTAINERS: readonly LibraryFunction[] = [
  { name: "_[_]", overloads: [overload("index_list", [LIST_A, INT], A), overload("index_map", [MAP_AB, A], B)] },
  {
    name: "@in",
    overloads: [overload("in_list", [A, LIST_A], BOOL), overload("in_map", [A, MAP_AB], BOOL)],
    call: ([value = null, container = null]) => contains(value, container),
  },
  {
    name: "size",
    overloads: [
      overload("size_bytes", [BYTES], INT),
      member("bytes_size", [BYTES], INT),
      overload("size_list", [LIST_A], INT),
      member("list_size", [LIST_A], INT),
      overload("size_map", [MAP_AB], INT),
      member("map_size", [MAP_AB], INT),
      overload("size_string", [STRING], INT),
      member("string_size", [STRING], INT),
    ],
    call: ([value = null]) => {
      const size = sizeOf(value);
      return size === undefined ? new CelError("no such overload: size") : BigInt(size);
    },
  },
];

export const operators: Library = { functions: [...LOGIC, ...ARITHMETIC, ...COMPARISONS, ...CONTAINERS] };
