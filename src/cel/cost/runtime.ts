/** Costs of calls at run time: upstream's figures, of the language and of Kubernetes' libraries. */
import { describeFormat } from "../library/format-value.ts";
import { utf8Length } from "../../base/utf8.ts";
import { spend } from "../values/meter.ts";
import { characterCount, smallerCharacterCount } from "../values/text.ts";
import { ListValue, MapValue, OpaqueValue, Optional, type CelResult } from "../values/value.ts";
import { LIST_CREATE, REGEX_FACTOR, STRING_FACTOR, STRUCT_CREATE } from "./figures.ts";

/** What size() counts; 1 for values without. */
export function sizeForCost(value: CelResult | undefined): number {
  if (typeof value === "string") return characterCount(value);
  if (value instanceof ListValue || value instanceof MapValue) return value.size;
  if (value instanceof Uint8Array) return value.length;
  if (value instanceof OpaqueValue) return value.sizeForCost ?? 1;
  return 1;
}

function scaled(size: number, factor = STRING_FACTOR): number {
  return Math.ceil(size * factor);
}

type Figure = (args: readonly CelResult[], result: CelResult, overload: string) => number | undefined;

const ONE: Figure = () => 1;
const traversed: Figure = ([text]) => scaled(sizeForCost(text));
const rebuilt: Figure = ([text]) => scaled(sizeForCost(text), 2 * STRING_FACTOR);
const visited: Figure = ([value]) => traversalCost(value);
const searched: Figure = ([text, pattern]) => regexCost(sizeForCost(text), sizeForCost(pattern));

function regexCost(textSize: number, patternSize: number): number {
  return Math.ceil((1 + textSize) * STRING_FACTOR) * Math.ceil(patternSize * REGEX_FACTOR);
}

/** A check may cost this much, so that an expression can make two. */
export const AUTHORIZATION_CHECK = 350_000;

function selectorCost(length: number): number {
  const requirements = scaled(length, 0.5);
  return LIST_CREATE + scaled(length) + scaled(requirements, LIST_CREATE + STRUCT_CREATE);
}

function containsAddress([cidr, other]: readonly CelResult[], isText: boolean, extra: (size: number) => number): number {
  const size = sizeForCost(cidr);
  return scaled(size + size) + extra(size) + (isText ? scaled(sizeForCost(other)) : 0);
}

const BY_FUNCTION: ReadonlyMap<string, Figure> = new Map<string, Figure>([
  ["check", () => AUTHORIZATION_CHECK],
  ...["serviceAccount", "path", "group", "resource", "subresource", "namespace", "name", "allowed", "reason", "error", "errored"].map(one),
  ["fieldSelector", ([, selector]) => selectorCost(sizeForCost(selector))],
  ["labelSelector", ([, selector]) => selectorCost(sizeForCost(selector))],
  ...["isSorted", "sum", "max", "min", "indexOf", "lastIndexOf"].map((name) => [name, visited] as const),
  ...["url", "lowerAscii", "upperAscii", "substring", "trim", "jsonpatch.escapeKey"].map((name) => [name, traversed] as const),
  ...["cidr", "isIP", "isCIDR", "quantity", "isQuantity", "semver", "isSemver"].map((name) => [name, traversed] as const),
  ["replace", rebuilt],
  ["split", rebuilt],
  ["ip.isCanonical", rebuilt],
  ["join", (_, result) => scaled(sizeForCost(result), 2 * STRING_FACTOR)],
  ["find", searched],
  ["findAll", searched],
  ["ip", ([text], _, overload) => (overload === "cidr_ip" ? 1 : scaled(sizeForCost(text)))],
  ...["masked", "prefixLength", "family", "isUnspecified", "isLoopback", "isLinkLocalMulticast", "isLinkLocalUnicast"].map(one),
  ...["isGlobalUnicast", "format.named", "sign", "asInteger", "isInteger", "asApproximateFloat", "isGreaterThan", "isLessThan"].map(one),
  ...["compareTo", "add", "sub", "major", "minor", "patch"].map(one),
  ...["getScheme", "getHostname", "getHost", "getPort", "getEscapedPath", "getQuery"].map(one),
  ["containsIP", (args, _, overload) => containsAddress(args, overload === "cidr_contains_ip_string", () => 0)],
  ["containsCIDR", (args, _, overload) => containsAddress(args, overload === "cidr_contains_cidr_string", (size) => scaled(size) + 1)],
  ["validate", ([format, text]) => validateCost(format, text)],
  ["_==_", ([value]) => (value instanceof OpaqueValue && value.hasUnitEquality ? 1 : undefined)],
]);

function one(name: string): readonly [string, Figure] {
  return [name, ONE];
}

function validateCost(format: CelResult | undefined, text: CelResult | undefined): number | undefined {
  const size = describeFormat(format);
  return size === undefined ? undefined : regexCost(sizeForCost(text), size);
}

const list = (size: number, factor: number): number => Math.floor(size * factor) + 1 + LIST_CREATE;
const produced: Figure = (_, result) => list(sizeForCost(result), 1);
const flattened: Figure = ([value, depth]) => list(sizeForCost(value), typeof depth === "bigint" ? Number(depth) : 1);
const sets =
  (factor: number): Figure =>
  ([a, b]) =>
    1 + Math.floor(sizeForCost(a) * sizeForCost(b) * factor);

function selfCompared(value: CelResult | undefined): number {
  const size = sizeForCost(value);
  const first = value instanceof ListValue && size > 0 ? value.at(0) : undefined;
  const isText = typeof first === "string" || first instanceof Uint8Array;
  return list(size * size, isText ? 2 + STRING_FACTOR : 2);
}

const compared: Figure = ([a, b]) => scaled(smallerSize(a, b));
const added: Figure = ([a, b]) => scaled(sizeForCost(a) + sizeForCost(b));

const BY_OVERLOAD: ReadonlyMap<string, Figure> = new Map<string, Figure>([
  ...["starts_with_string", "ends_with_string", "string_to_bytes", "bytes_to_string", "strings_quote", "string_format"].map(
    (id) => [id, traversed] as const,
  ),
  ["in_list", ([, value]) => sizeForCost(value)],
  ...["less", "greater", "less_equals", "greater_equals"].flatMap((prefix) => [
    [`${prefix}_string`, compared] as const,
    [`${prefix}_bytes`, compared] as const,
  ]),
  ["equals", compared],
  ["not_equals", compared],
  ["add_string", added],
  ["add_bytes", added],
  ["matches_string", searched],
  ["contains_string", ([text, part]) => scaled(sizeForCost(text)) * scaled(sizeForCost(part))],
]);

const TRACKED: ReadonlyMap<string, Figure> = new Map<string, Figure>([
  ["list_slice", produced],
  ["lists_range", produced],
  ["list_reverse", produced],
  ["list_flatten", flattened],
  ["list_flatten_int", flattened],
  ["list_distinct", ([value]) => selfCompared(value)],
  ["list_sets_contains_list", sets(1)],
  ["list_sets_intersects_list", sets(1)],
  ["list_sets_equivalent_list", sets(2)],
]);

function tracked(overload: string): Figure | undefined {
  if (overload.endsWith("_sortByAssociatedKeys")) return ([, keys]) => selfCompared(keys);
  if (overload.endsWith("_sort")) return ([value]) => selfCompared(value);
  return TRACKED.get(overload);
}

function smallerSize(a: CelResult | undefined, b: CelResult | undefined): number {
  if (typeof a === "string" && typeof b === "string") return smallerCharacterCount(a, b);
  return Math.min(comparedSize(a), comparedSize(b));
}

function comparedSize(value: CelResult | undefined): number {
  return value instanceof Optional && value.value !== undefined ? comparedSize(value.value) : sizeForCost(value);
}

/** What a call costs, by its arguments and result. */
export type CallCost = (args: readonly CelResult[], result: CelResult) => number;

export const UNIT_COST: CallCost = () => 1;

/** What a call costs. `overload` is "" if several are possible. Chosen when the program is planned. */
export function callCost(name: string, overload: string): CallCost {
  const candidates = [tracked(overload), BY_FUNCTION.get(name), BY_OVERLOAD.get(overload)].filter((cost) => cost !== undefined);
  if (candidates.length === 0) return UNIT_COST;
  return (args, result) => {
    for (const candidate of candidates) {
      const cost = candidate(args, result, overload);
      if (cost !== undefined) return cost;
    }
    return 1;
  };
}

/** Steps of visiting a part of a value. */
const TRAVERSAL_STEPS = 25;

/** The cost of visiting every part of a value once. */
function traversalCost(value: CelResult | undefined): number {
  spend(TRAVERSAL_STEPS);
  if (typeof value === "string") return Math.floor(utf8Length(value) * STRING_FACTOR);
  if (value instanceof Uint8Array) return Math.floor(value.length * STRING_FACTOR);
  if (value instanceof ListValue) {
    let cost = 0;
    for (let index = 0; index < value.size; index++) cost += traversalCost(value.at(index));
    return cost;
  }
  if (value instanceof MapValue)
    return value.keys().reduce<number>((cost, key) => cost + traversalCost(key) + traversalCost(value.find(key)), 0);
  return 1;
}
