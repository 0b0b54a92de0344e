/** Optional values, and the insertion into maps that two-variable macros expand to. */
import { ArrayList, elementsOf, EntryMap, GrowingMap } from "../values/containers.ts";
import { describe } from "../values/describe.ts";
import {
  CelError,
  Duration,
  ListValue,
  MapValue,
  NONE,
  OpaqueValue,
  Optional,
  Timestamp,
  Uint,
  type CelResult,
  type CelValue,
} from "../values/value.ts";
import { BOOL, DYN, INT, listOf, mapOf, optionalOf, parameter, STRING } from "../types/type.ts";
import { member, overload, type Library, type LibraryFunction } from "./library.ts";

const K = parameter("K");
const V = parameter("V");
const OPTIONAL = optionalOf(V);
const LIST = listOf(V);
const MAP = mapOf(K, V);

/** Go's zero time: the beginning of the year 1. */
const ZERO_TIME_NS = -62_135_596_800_000_000_000n;

function isZero(value: CelValue): boolean {
  if (value === null || value === false || value === "" || value === 0n || value === 0) return true;
  if (value instanceof Uint) return value.value === 0n;
  if (value instanceof Uint8Array) return value.length === 0;
  if (value instanceof ListValue || value instanceof MapValue) return value.size === 0;
  if (value instanceof Duration) return value.nanoseconds === 0n;
  if (value instanceof Timestamp) return value.nanoseconds === ZERO_TIME_NS;
  if (value instanceof Optional) return value.value === undefined;
  return value instanceof OpaqueValue && value.sizeForCost === 0;
}

const NO_VALUE = new CelError("optional.none() dereference");

function unwrap(list: ListValue): CelResult {
  const elements = elementsOf(list);
  if (elements instanceof CelError) return elements;
  const wrong = elements.find((element) => !(element instanceof Optional));
  if (wrong !== undefined) return new CelError(`value ${describe(wrong)} is not optional`);
  return new ArrayList(elements.flatMap((element) => (element instanceof Optional && element.value !== undefined ? [element.value] : [])));
}

function elementAt(list: ListValue, index: number): CelResult {
  if (list.size === 0) return NONE;
  const element = list.at(index);
  return element instanceof CelError ? element : new Optional(element);
}

function insert(map: MapValue, key: CelValue, value: CelValue): CelResult {
  if (map instanceof GrowingMap) return map.insert(key, value);
  if (map.find(key) !== undefined) return new CelError(`insert failed: key ${describe(key)} already exists`);
  const entries = map.keys().map((known) => [known, map.find(known) as CelValue] as const);
  return EntryMap.of([...entries, [key, value]]);
}

function insertAll(map: MapValue, added: MapValue): CelResult {
  let result: CelResult = map;
  for (const key of added.keys()) {
    const value = added.find(key) ?? null;
    if (value instanceof CelError) return value;
    result = insert(result as MapValue, key, value);
    if (result instanceof CelError) return result;
  }
  return result;
}

const FUNCTIONS: readonly LibraryFunction[] = [
  { name: "optional.of", overloads: [overload("optional_of", [V], OPTIONAL, ([value]) => new Optional(value))] },
  {
    name: "optional.ofNonZeroValue",
    overloads: [overload("optional_ofNonZeroValue", [V], OPTIONAL, ([value = null]) => (isZero(value) ? NONE : new Optional(value)))],
  },
  { name: "optional.none", overloads: [overload("optional_none", [], OPTIONAL, () => NONE)] },
  { name: "value", overloads: [member("optional_value", [OPTIONAL], V, ([value]) => (value as Optional).value ?? NO_VALUE)] },
  { name: "hasValue", overloads: [member("optional_hasValue", [OPTIONAL], BOOL, ([value]) => (value as Optional).value !== undefined)] },
  { name: "or", overloads: [member("optional_or_optional", [OPTIONAL, OPTIONAL], OPTIONAL)] },
  { name: "orValue", overloads: [member("optional_orValue_value", [OPTIONAL, V], V)] },
  { name: "_?._", overloads: [overload("select_optional_field", [DYN, STRING], OPTIONAL)] },
  {
    name: "_[?_]",
    overloads: [
      overload("list_optindex_optional_int", [LIST, INT], OPTIONAL),
      overload("optional_list_optindex_optional_int", [optionalOf(LIST), INT], OPTIONAL),
      overload("map_optindex_optional_value", [MAP, K], OPTIONAL),
      overload("optional_map_optindex_optional_value", [optionalOf(MAP), K], OPTIONAL),
    ],
  },
  {
    name: "_[_]",
    overloads: [
      overload("optional_list_index_int", [optionalOf(LIST), INT], OPTIONAL),
      overload("optional_map_index_value", [optionalOf(MAP), K], OPTIONAL),
    ],
  },
  {
    name: "last",
    overloads: [member("list_last", [LIST], OPTIONAL, ([list]) => elementAt(list as ListValue, (list as ListValue).size - 1))],
  },
  { name: "first", overloads: [member("list_first", [LIST], OPTIONAL, ([list]) => elementAt(list as ListValue, 0))] },
  { name: "optional.unwrap", overloads: [overload("optional_unwrap", [listOf(OPTIONAL)], LIST, ([list]) => unwrap(list as ListValue))] },
  { name: "unwrapOpt", overloads: [member("optional_unwrapOpt", [listOf(OPTIONAL)], LIST, ([list]) => unwrap(list as ListValue))] },
  {
    name: "cel.@mapInsert",
    overloads: [
      overload("@mapInsert_map_key_value", [MAP, K, V], MAP, ([map, key = null, value = null]) => insert(map as MapValue, key, value)),
      overload("@mapInsert_map_map", [MAP, MAP], MAP, ([map, added]) => insertAll(map as MapValue, added as MapValue)),
    ],
  },
];

export const optionals: Library = { functions: FUNCTIONS };
