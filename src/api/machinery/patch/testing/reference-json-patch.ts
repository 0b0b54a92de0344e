/**
 * Reference implementation of JSON patch, as plainly as RFC 6902 states it: every operation creates a new document, paths are lists of
 * segments, and nothing is shared, limited or rejected. The results of the real one (json-patch.ts) for random patches are compared with
 * it.
 *
 * Also random patches that apply to their document: each operation is chosen among the paths that exist at that point.
 */
import fc from "fast-check";
import { isObject, type Json, type JsonObject } from "../../object.ts";
import { anyJson } from "./any-json.ts";

/** Names of members, indexes of items; "-" is after the last item. */
export type Path = readonly (string | number)[];

export type Operation =
  | { readonly op: "add" | "replace" | "test"; readonly path: Path; readonly value: Json }
  | { readonly op: "remove"; readonly path: Path }
  | { readonly op: "move" | "copy"; readonly from: Path; readonly path: Path };

/** As a client would send it. */
export function patchOf(operations: readonly Operation[]): Json {
  return operations.map((operation): JsonObject => {
    const path = pointerOf(operation.path);
    return "from" in operation ? { ...operation, path, from: pointerOf(operation.from) } : { ...operation, path };
  });
}

function pointerOf(path: Path): string {
  return path.map((step) => `/${String(step).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

/** A `test` is assumed to succeed. */
export function applyPlainly(document: Json, operation: Operation): Json {
  switch (operation.op) {
    case "add":
      return added(document, operation.path, operation.value);
    case "replace":
      return replaced(document, operation.path, operation.value);
    case "remove":
      return removed(document, operation.path);
    case "copy":
      return added(document, operation.path, valueAt(document, operation.from));
    case "move":
      return added(removed(document, operation.from), operation.path, valueAt(document, operation.from));
    case "test":
      return document;
  }
}

export function valueAt(document: Json, path: Path): Json {
  return path.reduce<Json>((value, step) => (value as JsonObject)[step] as Json, document);
}

function added(document: Json, path: Path, value: Json): Json {
  return changed(document, path, {
    item: (list, index) => list.toSpliced(index, 0, value),
    member: (members, name) => [...members.filter(([other]) => other !== name), [name, value]],
  });
}

function replaced(document: Json, path: Path, value: Json): Json {
  return changed(document, path, {
    item: (list, index) => list.with(index, value),
    member: (members, name) => members.map(([other, old]) => [other, other === name ? value : old]),
  });
}

function removed(document: Json, path: Path): Json {
  return changed(document, path, {
    item: (list, index) => list.toSpliced(index, 1),
    member: (members, name) => members.filter(([other]) => other !== name),
  });
}

type Members = readonly (readonly [name: string, value: Json])[];

interface Change {
  item(list: readonly Json[], index: number): readonly Json[];
  member(members: Members, name: string): Members;
}

function changed(container: Json, [step, ...rest]: Path, change: Change): Json {
  if (step === undefined) throw new Error("The whole document has no container in which it could be changed");
  const inner: Change =
    rest.length === 0
      ? change
      : {
          item: (list, index) => list.with(index, changed(list[index] as Json, rest, change)),
          member: (members, name) => members.map(([other, old]) => [other, other === name ? changed(old, rest, change) : old]),
        };
  if (Array.isArray(container)) return inner.item(container as readonly Json[], step === "-" ? container.length : Number(step));
  return Object.fromEntries(inner.member(membersOf(container), String(step)));
}

function membersOf(container: Json): Members {
  return Object.entries(container as Readonly<Record<string, Json>>);
}

/** Existing paths below the root. */
export function placesIn(value: Json, path: Path = []): Path[] {
  return childrenOf(value).flatMap(([step, child]) => [[...path, step], ...placesIn(child, [...path, step])]);
}

/** Some of them occur in every document (any-json.ts), others in none. */
const NAMES: readonly string[] = ["a", "__proto__", "constructor", "new", "x/y~1"];

/** Paths where a value may be added: all items, all members and some new ones. */
function slotsIn(value: Json, path: Path = []): Path[] {
  if (typeof value !== "object" || value === null) return [];
  const children = childrenOf(value);
  const steps = [...children.map(([step]) => step), ...(Array.isArray(value) ? [value.length, "-"] : NAMES)];
  return [...steps.map((step) => [...path, step]), ...children.flatMap(([step, child]) => slotsIn(child, [...path, step]))];
}

function childrenOf(value: Json): (readonly [step: string | number, child: Json])[] {
  if (Array.isArray(value)) return (value as readonly Json[]).map((item, index) => [index, item]);
  return typeof value === "object" && value !== null ? [...membersOf(value)] : [];
}

/** Random choices, which become an operation once its document is known. */
interface Draw {
  readonly op: Operation["op"];
  /** Index among the existing paths, modulo their number. */
  readonly from: number;
  readonly to: number;
  readonly value: Json;
}

function drawsOf(...ops: Operation["op"][]): fc.Arbitrary<Draw[]> {
  const draw = fc.record({ op: fc.constantFrom(...ops), from: fc.nat(), to: fc.nat(), value: anyJson });
  return fc.array(draw, { minLength: 1, maxLength: 8 });
}

function operationOf({ op, from, to, value }: Draw, document: Json): Operation | undefined {
  const source = nth(placesIn(document), from);
  const target = nth(slotsIn(document), to);
  if (op === "add") return target && { op, path: target, value };
  if (source === undefined || target === undefined) return undefined;
  switch (op) {
    case "replace":
      return { op, path: source, value };
    case "test":
      return { op, path: source, value: valueAt(document, source) };
    case "remove":
      return { op, path: source };
    case "copy":
      return { op, from: source, path: target };
    case "move": {
      // The target is a path of the document without the source.
      const path = nth(slotsIn(removed(document, source)), to);
      return path && { op, from: source, path };
    }
  }
}

function nth(paths: readonly Path[], index: number): Path | undefined {
  return paths[index % paths.length];
}

/** Operations that apply to the document one after the other. */
export function operationsFor(document: Json): fc.Arbitrary<Operation[]> {
  return drawsOf("add", "replace", "remove", "move", "copy", "test").map((draws) => {
    const operations: Operation[] = [];
    let current = document;
    for (const draw of draws) {
      const operation = operationOf(draw, current);
      if (operation === undefined) continue;
      operations.push(operation);
      current = applyPlainly(current, operation);
    }
    return operations;
  });
}

/** Operations that set or test different paths, none of them a prefix of another: independent of order, and idempotent. */
export function settingsFor(document: Json): fc.Arbitrary<Operation[]> {
  return drawsOf("add", "replace", "test").map((draws) => {
    const operations: Operation[] = [];
    for (const draw of draws) {
      const operation = operationOf(draw, document);
      if (operation === undefined || isItemAdded(operation, document)) continue;
      if (operations.every(({ path }) => !isRelated(path, operation.path))) operations.push(operation);
    }
    return operations;
  });
}

function isItemAdded({ op, path }: Operation, document: Json): boolean {
  return op === "add" && Array.isArray(valueAt(document, path.slice(0, -1)));
}

/** True if one is a prefix of the other. */
export function isRelated(one: Path, other: Path): boolean {
  return one.slice(0, other.length).every((step, index) => step === other[index]);
}

/** A simple patch that turns `from` into `to`: lists are compared item by item, from the first. */
export function differenceOf(from: Json, to: Json, path: Path = []): Operation[] {
  if (Array.isArray(from) && Array.isArray(to)) return differenceOfLists(from as readonly Json[], to as readonly Json[], path);
  if (isObject(from) && isObject(to)) return differenceOfObjects(from, to, path);
  return [{ op: "replace", path, value: to }];
}

function differenceOfLists(from: readonly Json[], to: readonly Json[], path: Path): Operation[] {
  const common = to.slice(0, from.length).flatMap((item, index) => differenceOf(from[index] as Json, item, [...path, index]));
  const surplus = from.slice(to.length).map((): Operation => ({ op: "remove", path: [...path, to.length] }));
  const more = to.slice(from.length).map((value): Operation => ({ op: "add", path: [...path, "-"], value }));
  return [...common, ...surplus, ...more];
}

function differenceOfObjects(from: JsonObject, to: JsonObject, path: Path): Operation[] {
  const gone = Object.keys(from).filter((name) => !Object.hasOwn(to, name));
  const kept = membersOf(to).flatMap(([name, value]): Operation[] => {
    const place = [...path, name];
    return Object.hasOwn(from, name) ? differenceOf(from[name] as Json, value, place) : [{ op: "add", path: place, value }];
  });
  return [...gone.map((name): Operation => ({ op: "remove", path: [...path, name] })), ...kept];
}
