/** Estimates of calls of Kubernetes' libraries and of the extensions. Changing a figure changes which CRDs are accepted. */
import { UINT_MAX } from "../syntax/literals.ts";
import { LIST_CREATE, REGEX_FACTOR, STRING_FACTOR, STRUCT_CREATE } from "./figures.ts";
import type { CallNode, Estimated } from "./estimated.ts";
import { replaced } from "./replaced-size.ts";
import { AUTHORIZATION_CHECK } from "./runtime.ts";
import { add, exactly, multiply, scale, type Range } from "./size.ts";

export interface CallRequest {
  readonly name: string;
  readonly overload: string;
  readonly target: CallNode | undefined;
  readonly args: readonly CallNode[];
}

type SizeOf = (node: CallNode) => Range;
type Estimate = (request: CallRequest, sizeOf: SizeOf) => Estimated | undefined;

const ONE = exactly(1);
const UNIT: Estimate = () => ({ cost: ONE });

function perCharacter(size: Range, times = 1): Range {
  return scale(size, times * STRING_FACTOR);
}

/** The cost of traversing the first argument; `keepsSize`: the result is as long. */
function traversedArgument({ times = 1, keepsSize = false } = {}): Estimate {
  return ({ args: [first] }, sizeOf) => {
    if (first === undefined) return undefined;
    const size = sizeOf(first);
    return { cost: perCharacter(size, times), ...(keepsSize && { size }) };
  };
}

const traversedTarget: Estimate = ({ target }, sizeOf) => {
  if (target === undefined) return undefined;
  const size = sizeOf(target);
  return { cost: perCharacter(size), size };
};

const selector: Estimate = ({ args: [first] }, sizeOf) => {
  if (first === undefined) return undefined;
  const length = sizeOf(first);
  const requirements = scale(scale(length, 0.5), LIST_CREATE + STRUCT_CREATE);
  return { cost: add(add(exactly(LIST_CREATE), perCharacter(length)), requirements) };
};

/** The elements of a list as an operand. */
function elementsOf({ path, type }: CallNode): CallNode | undefined {
  const element = type?.parameters[0];
  return element === undefined ? undefined : { path: path.length === 0 ? [] : [...path, "@items"], type: element, size: undefined };
}

const visited: Estimate = ({ target }, sizeOf) => {
  if (target === undefined) return undefined;
  const element = elementsOf(target);
  if (element === undefined) return { cost: perCharacter(sizeOf(target)) };
  const isText = element.type?.kind === "string" || element.type?.kind === "bytes";
  const elementCost = isText ? add(ONE, perCharacter(sizeOf(element))) : ONE;
  return { cost: multiply(sizeOf(target), elementCost) };
};

const replace: Estimate = ({ target, args: [old, replacement] }, sizeOf) => {
  if (target === undefined || old === undefined || replacement === undefined) return undefined;
  const size = sizeOf(target);
  return { cost: perCharacter(size, 2), size: replaced(size, sizeOf(old), sizeOf(replacement)) };
};

const split: Estimate = ({ target, args: [, limit] }, sizeOf) => {
  if (target === undefined) return undefined;
  const size = sizeOf(target);
  const literal = limit?.expression?.kind === "literal" ? limit.expression.value : undefined;
  const max = typeof literal === "bigint" ? BigInt.asUintN(64, literal) : size.max;
  return { cost: perCharacter(size, 2), size: { min: 0n, max } };
};

const join: Estimate = ({ target, args: [separator] }, sizeOf) => {
  if (target === undefined) return undefined;
  const count = sizeOf(target);
  const element = elementsOf(target);
  let size = element === undefined ? exactly(0) : multiply(count, sizeOf(element));
  if (separator !== undefined) {
    const separators = { min: count.min > 0n ? count.min - 1n : 0n, max: count.max > 0n ? count.max - 1n : 0n };
    size = add(size, multiply(sizeOf(separator), separators));
  }
  return { cost: perCharacter(size), size };
};

const searched: Estimate = ({ target, args: [pattern] }, sizeOf) => {
  if (target === undefined || pattern === undefined) return undefined;
  const size = sizeOf(target);
  const cost = multiply(perCharacter(add(size, ONE)), scale(sizeOf(pattern), REGEX_FACTOR));
  return { cost, size: { min: 0n, max: size.max } };
};

/** Bytes of an address. */
const ADDRESS: Range = { min: 4n, max: 16n };

function containsAddress(textOverload: string, extra: Range): Estimate {
  return ({ overload, args: [other] }, sizeOf) => {
    if (other === undefined) return undefined;
    const cost = add(perCharacter(add(ADDRESS, ADDRESS)), extra);
    return { cost: overload === textOverload ? add(cost, perCharacter(sizeOf(other))) : cost };
  };
}

/** The longest pattern of a named format. */
const FORMAT_PATTERN_SIZE = 128;
const FORMAT_NAME_SIZE = 64n;

const validate: Estimate = ({ args: [text] }, sizeOf) =>
  text === undefined ? undefined : { cost: scale(perCharacter(sizeOf(text)), FORMAT_PATTERN_SIZE * REGEX_FACTOR) };

const UNIT_EQUALITY = new Set([
  "kubernetes.Quantity",
  "kubernetes.Semver",
  "net.IP",
  "net.CIDR",
  ...["Authorizer", "PathCheck", "GroupCheck", "ResourceCheck", "Decision"].map((name) => `kubernetes.authorization.${name}`),
]);

const equality: Estimate = ({ args: [left, right] }) => {
  const name = left?.type?.name;
  if (name === undefined || right?.type?.name !== name) return undefined;
  if (UNIT_EQUALITY.has(name)) return { cost: ONE };
  if (name === "kubernetes.NamedFormat") return { cost: perCharacter({ min: 1n, max: FORMAT_NAME_SIZE }) };
  if (name === "kubernetes.URL") return { cost: perCharacter({ min: 1n, max: right.size?.max ?? 1n }) };
  return undefined;
};

const BY_FUNCTION: ReadonlyMap<string, Estimate> = new Map<string, Estimate>([
  ["check", () => ({ cost: exactly(AUTHORIZATION_CHECK) })],
  ...units("serviceAccount", "path", "group", "resource", "subresource", "namespace", "name", "allowed", "reason", "error", "errored"),
  ["fieldSelector", selector],
  ["labelSelector", selector],
  ...each(visited, "isSorted", "sum", "max", "min", "indexOf", "lastIndexOf"),
  ...each(traversedArgument({ keepsSize: true }), "url", "jsonpatch.escapeKey"),
  ...each(traversedTarget, "lowerAscii", "upperAscii", "substring", "trim"),
  ["replace", replace],
  ["split", split],
  ["join", join],
  ...each(searched, "find", "findAll"),
  ...each(traversedArgument(), "cidr", "isIP", "isCIDR", "quantity", "isQuantity", "semver", "isSemver"),
  ["ip", (request, sizeOf) => (request.overload === "cidr_ip" ? { cost: ONE } : traversedArgument()(request, sizeOf))],
  ["ip.isCanonical", traversedArgument({ times: 2 })],
  ...units(
    "masked",
    "prefixLength",
    "family",
    "isUnspecified",
    "isLoopback",
    "isLinkLocalMulticast",
    "isLinkLocalUnicast",
    "isGlobalUnicast",
  ),
  ["containsIP", containsAddress("cidr_contains_ip_string", exactly(0))],
  ["containsCIDR", containsAddress("cidr_contains_cidr_string", add(perCharacter(ADDRESS), ONE))],
  ["validate", validate],
  ...units(
    "format.named",
    "sign",
    "asInteger",
    "isInteger",
    "asApproximateFloat",
    "isGreaterThan",
    "isLessThan",
    "compareTo",
    "add",
    "sub",
  ),
  ...units("major", "minor", "patch", "getScheme", "getHostname", "getHost", "getPort", "getEscapedPath", "getQuery"),
  ["_==_", equality],
]);

function each(estimate: Estimate, ...names: readonly string[]): (readonly [string, Estimate])[] {
  return names.map((name) => [name, estimate] as const);
}

function units(...names: readonly string[]): (readonly [string, Estimate])[] {
  return each(UNIT, ...names);
}

/** A call that creates a list. */
function listCall(factor: number, size: Range): Estimated {
  return { cost: add(add(scale(size, factor), ONE), exactly(LIST_CREATE)), size };
}

/** The value of an int literal, as an unsigned one. */
function literalOf(node: CallNode | undefined, otherwise: bigint): bigint {
  const value = node?.expression?.kind === "literal" ? node.expression.value : undefined;
  if (typeof value !== "bigint") return otherwise;
  return value < 0n ? 0n : value;
}

function sets(factor: number): Estimate {
  return ({ args: [a, b] }, sizeOf) =>
    a === undefined || b === undefined ? undefined : { cost: add(scale(multiply(sizeOf(a), sizeOf(b)), factor), ONE) };
}

const slice: Estimate = ({ target, args: [from, to] }, sizeOf) =>
  target === undefined ? undefined : listCall(1, exactly(BigInt.asUintN(64, literalOf(to, sizeOf(target).max) - literalOf(from, 0n))));

const flatten: Estimate = ({ target, args: [depth] }, sizeOf) =>
  target === undefined ? undefined : listCall(depth === undefined ? 1 : Number(literalOf(depth, UINT_MAX)), sizeOf(target));

function sorted(node: CallNode | undefined, overload: string, sizeOf: SizeOf): Estimated | undefined {
  if (node === undefined) return undefined;
  const size = sizeOf(node);
  const isText = overload.startsWith("list_string") || overload.startsWith("list_bytes");
  return listCall(isText ? 2 + STRING_FACTOR : 2, multiply(size, size));
}

const BY_OVERLOAD: ReadonlyMap<string, Estimate> = new Map<string, Estimate>([
  ["list_slice", slice],
  ["list_flatten", flatten],
  ["list_flatten_int", flatten],
  ["lists_range", ({ args: [size] }) => listCall(1, exactly(literalOf(size, UINT_MAX)))],
  ["list_reverse", ({ target }, sizeOf) => (target === undefined ? undefined : listCall(1, sizeOf(target)))],
  ["list_distinct", ({ target }, sizeOf) => sorted(target, "", sizeOf)],
  ["list_sets_contains_list", sets(1)],
  ["list_sets_intersects_list", sets(1)],
  ["list_sets_equivalent_list", sets(2)],
]);

/** undefined: a call of the language itself. The costs of the arguments are not included. */
export function estimateCall(request: CallRequest, sizeOf: SizeOf): Estimated | undefined {
  const { name, overload, target, args } = request;
  if (overload.endsWith("_sortByAssociatedKeys")) return sorted(args[0], overload, sizeOf);
  if (overload.endsWith("_sort")) return sorted(target, overload, sizeOf);
  return BY_OVERLOAD.get(overload)?.(request, sizeOf) ?? BY_FUNCTION.get(name)?.(request, sizeOf);
}
