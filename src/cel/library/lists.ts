/** Functions of lists: Kubernetes' own (sum, min, …), the extension of version 3 (sort, slice, …), and sets. */
import { calculate } from "../values/arithmetic.ts";
import { compare, ELEMENT_STEPS, equal, isComparable, listContains, NO_SUCH_OVERLOAD } from "../values/compare.ts";
import { ArrayList, elementsOf } from "../values/containers.ts";
import { typeNameOf } from "../values/describe.ts";
import { spend } from "../values/meter.ts";
import { CelError, Duration, ListValue, Uint, type CelResult, type CelValue } from "../values/value.ts";
import { BOOL, BYTES, DOUBLE, DURATION, DYN, INT, listOf, parameter, STRING, TIMESTAMP, UINT, type CelType } from "../types/type.ts";
import { member, overload, type Library, type LibraryFunction, type Overload } from "./library.ts";

const A = parameter("A");
const T = parameter("T");
const LIST_T = listOf(T);

/** Kubernetes' names of types in overloads. */
const SUMMABLE: readonly (readonly [string, CelType, CelValue])[] = [
  ["int", INT, 0n],
  ["uint", UINT, new Uint(0n)],
  ["double", DOUBLE, 0],
  ["duration", DURATION, new Duration(0n)],
];
const COMPARABLE: readonly (readonly [string, CelType])[] = [
  ["int", INT],
  ["uint", UINT],
  ["double", DOUBLE],
  ["bool", BOOL],
  ["duration", DURATION],
  ["timestamp", TIMESTAMP],
  ["string", STRING],
  ["bytes", BYTES],
];

/** Steps of copying an element and visiting it once, beside what comparisons take. */
const VISIT_STEPS = 30;

function elements(value: CelValue | undefined): CelValue[] | CelError {
  if (!(value instanceof ListValue)) return NO_SUCH_OVERLOAD;
  spend(value.size * VISIT_STEPS);
  return elementsOf(value);
}

function isSorted(value: CelValue | undefined): CelResult {
  const all = elements(value);
  if (all instanceof CelError) return all;
  for (const [index, element] of all.entries()) {
    if (!isComparable(element)) return NO_SUCH_OVERLOAD;
    const order = index === 0 ? 0 : compare(all[index - 1] as CelValue, element);
    if (typeof order === "number" && order > 0) return false;
  }
  return true;
}

function sum(value: CelValue | undefined, zero: CelValue): CelResult {
  const all = elements(value);
  if (all instanceof CelError) return all;
  let total: CelResult = zero;
  for (const element of all) {
    total = calculate("_+_", total, element);
    if (total instanceof CelError) return total;
  }
  return total;
}

function extreme(value: CelValue | undefined, name: "min" | "max"): CelResult {
  const all = elements(value);
  if (all instanceof CelError) return all;
  let best: CelValue | undefined;
  for (const element of all) {
    if (!isComparable(element)) return NO_SUCH_OVERLOAD;
    const order = best === undefined ? 0 : compare(best, element);
    const isBetter = typeof order === "number" && (name === "min" ? order > 0 : order < 0);
    if (best === undefined || isBetter) best = element;
  }
  return best ?? new CelError(`${name} called on empty list`);
}

function indexOf(list: CelValue | undefined, item: CelValue | undefined, fromEnd: boolean): CelResult {
  const all = elements(list);
  if (all instanceof CelError) return all;
  const isItem = (element: CelValue): boolean => equal(element, item ?? null) === true;
  return BigInt(fromEnd ? all.findLastIndex(isItem) : all.findIndex(isItem));
}

const KUBERNETES: readonly LibraryFunction[] = [
  {
    name: "isSorted",
    overloads: COMPARABLE.map(([name, type]) => member(`list_${name}_is_sorted_bool`, [listOf(type)], BOOL, ([list]) => isSorted(list))),
  },
  {
    name: "sum",
    overloads: SUMMABLE.map(([name, type, zero]) => member(`list_${name}_sum_${name}`, [listOf(type)], type, ([list]) => sum(list, zero))),
  },
  {
    name: "max",
    overloads: COMPARABLE.map(([name, type]) => member(`list_${name}_max_${name}`, [listOf(type)], type, ([list]) => extreme(list, "max"))),
  },
  {
    name: "min",
    overloads: COMPARABLE.map(([name, type]) => member(`list_${name}_min_${name}`, [listOf(type)], type, ([list]) => extreme(list, "min"))),
  },
  { name: "indexOf", overloads: [member("list_a_index_of_int", [listOf(A), A], INT, ([list, item]) => indexOf(list, item, false))] },
  {
    name: "lastIndexOf",
    overloads: [member("list_a_last_index_of_int", [listOf(A), A], INT, ([list, item]) => indexOf(list, item, true))],
  },
];

function slice(list: CelValue | undefined, from: bigint, to: bigint): CelResult {
  const all = elements(list);
  if (all instanceof CelError) return all;
  const range = `cannot slice(${from}, ${to})`;
  if (from < 0n || to < 0n) return new CelError(`${range}, negative indexes not supported`);
  if (from > to) return new CelError(`${range}, start index must be less than or equal to end index`);
  if (BigInt(all.length) < to) return new CelError(`${range}, list is length ${all.length}`);
  return new ArrayList(all.slice(Number(from), Number(to)));
}

/** Steps of adding an element to the flat list. */
const FLATTEN_STEPS = 60;

function flatten(list: ListValue, depth: number, flat: CelValue[]): CelError | undefined {
  spend(list.size * FLATTEN_STEPS);
  for (let index = 0; index < list.size; index++) {
    const element = list.at(index);
    if (element instanceof CelError) return element;
    if (!(element instanceof ListValue) || depth === 0) flat.push(element);
    else {
      const problem = flatten(element, depth - 1, flat);
      if (problem !== undefined) return problem;
    }
  }
  return undefined;
}

function flattened(list: CelValue | undefined, depth: number): CelResult {
  if (!(list instanceof ListValue)) return new CelError(`no such overload: ${typeNameOf(list ?? null)}.flatten()`);
  if (depth < 0) return new CelError("level must be non-negative");
  const flat: CelValue[] = [];
  return flatten(list, depth, flat) ?? new ArrayList(flat);
}

function sortBy(list: CelValue | undefined, keyList: CelValue | undefined): CelResult {
  const all = elements(list);
  const keys = elements(keyList);
  if (all instanceof CelError) return all;
  if (keys instanceof CelError) return keys;
  const [first] = keys;
  if (first === undefined) return list ?? null;
  if (!isComparable(first)) return new CelError("list elements must be comparable");
  if (keys.some((key) => typeNameOf(key) !== typeNameOf(first))) return new CelError("list elements must have the same type");
  const order = keys.map((_, index) => index).sort((a, b) => Number(compare(keys[a] as CelValue, keys[b] as CelValue)));
  return new ArrayList(order.map((index) => all[index] as CelValue));
}

/** Longest list that lists.range() creates: its cost is only known afterwards. Upstream allocates first. */
const RANGE_MAX = 1_000_000;

function range(size: bigint): CelResult {
  spend(Number(size) * ELEMENT_STEPS);
  if (size > RANGE_MAX) spend(Infinity);
  return new ArrayList(Array.from({ length: Math.max(0, Number(size)) }, (_, index) => BigInt(index)));
}

function distinct(list: CelValue | undefined): CelResult {
  const all = elements(list);
  if (all instanceof CelError) return all;
  const unique: CelValue[] = [];
  for (const element of all) {
    spend(unique.length * ELEMENT_STEPS);
    if (!unique.some((other) => equal(element, other) === true)) unique.push(element);
  }
  return new ArrayList(unique);
}

function reversed(list: CelValue | undefined): CelResult {
  const all = elements(list);
  return all instanceof CelError ? all : new ArrayList(all.toReversed());
}

function sortOverloads(suffix: string, parameters: (type: CelType) => readonly CelType[], result: (type: CelType) => CelType): Overload[] {
  return COMPARABLE.map(([, type]) => member(`list_${type.name}_${suffix}`, parameters(type), result(type)));
}

const EXTENSION: readonly LibraryFunction[] = [
  {
    name: "slice",
    overloads: [member("list_slice", [LIST_T, INT, INT], LIST_T, ([list, from, to]) => slice(list, from as bigint, to as bigint))],
  },
  {
    name: "flatten",
    overloads: [member("list_flatten", [listOf(LIST_T)], LIST_T), member("list_flatten_int", [listOf(DYN), INT], listOf(DYN))],
    // Upstream takes a list whose type is not known, also if it contains no lists.
    call: ([list, depth = 1n]) => (typeof depth === "bigint" ? flattened(list, Number(depth)) : NO_SUCH_OVERLOAD),
  },
  { name: "sort", overloads: sortOverloads("sort", (type) => [listOf(type)], listOf), call: ([list]) => sortBy(list, list) },
  {
    name: "@sortByAssociatedKeys",
    overloads: sortOverloads(
      "sortByAssociatedKeys",
      (type) => [LIST_T, listOf(type)],
      () => LIST_T,
    ),
    call: ([list, keys]) => sortBy(list, keys),
  },
  { name: "lists.range", overloads: [overload("lists_range", [INT], listOf(INT), ([size]) => range(size as bigint))] },
  { name: "reverse", overloads: [member("list_reverse", [LIST_T], LIST_T, ([list]) => reversed(list))] },
  { name: "distinct", overloads: [member("list_distinct", [LIST_T], LIST_T, ([list]) => distinct(list))] },
];

/** Whether the first list has all elements of the second. */
function containsAll(list: CelValue | undefined, part: CelValue | undefined): CelResult {
  const parts = elements(part);
  if (parts instanceof CelError || !(list instanceof ListValue)) return NO_SUCH_OVERLOAD;
  for (const element of parts) {
    const found = listContains(list, element);
    if (found !== true) return found;
  }
  return true;
}

function intersects(list: CelValue | undefined, other: CelValue | undefined): CelResult {
  const all = elements(list);
  if (all instanceof CelError || !(other instanceof ListValue)) return NO_SUCH_OVERLOAD;
  return all.some((element) => listContains(other, element) === true);
}

function equivalent(a: CelValue | undefined, b: CelValue | undefined): CelResult {
  const contained = containsAll(a, b);
  return contained === true ? containsAll(b, a) : contained;
}

const SETS: readonly LibraryFunction[] = [
  { name: "sets.contains", overloads: [overload("list_sets_contains_list", [LIST_T, LIST_T], BOOL, ([a, b]) => containsAll(a, b))] },
  { name: "sets.equivalent", overloads: [overload("list_sets_equivalent_list", [LIST_T, LIST_T], BOOL, ([a, b]) => equivalent(a, b))] },
  { name: "sets.intersects", overloads: [overload("list_sets_intersects_list", [LIST_T, LIST_T], BOOL, ([a, b]) => intersects(a, b))] },
];

export const lists: Library = { functions: KUBERNETES };
export const listExtensions: Library = { functions: [...SETS, ...EXTENSION] };
