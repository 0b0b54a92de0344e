/**
 * Validates an applied object with the messages of upstream's typed values: unknown fields, values of another kind, list items without a
 * key or with a duplicate one. Values inside of atomic ones are validated too.
 */
import { goTypeOf } from "../go-type.ts";
import { isObject, type Json, type JsonObject } from "../object.ts";
import type { ListSchema, ObjectSchema, ScalarSchema, Schema } from "../schema.ts";
import { describeElement, type PathElement } from "./field-path.ts";
import { DEDUCED, elementOf, isList, slotsOf, UnnamedItem } from "./shape.ts";

/** All errors as one text; undefined if none exist. */
export function describeMistakes(schema: ObjectSchema, object: JsonObject): string | undefined {
  const mistakes: string[] = [];
  look(schema, object, "", mistakes);
  const [only] = mistakes;
  return mistakes.length > 1 ? ["errors:", ...mistakes.map((mistake) => `  ${mistake}`)].join("\n") : only;
}

function look(schema: Schema, value: Json, at: string, mistakes: string[]): void {
  switch (schema.type) {
    case "object":
    case "map":
      if (isObject(value)) lookAtMembers(schema, value, at, mistakes);
      else if (value !== null) mistakes.push(mistake(at, `expected map, got ${shown(value)}`));
      return;
    case "list":
      if (isList(value)) lookAtItems(schema, value, at, mistakes);
      else if (value !== null) mistakes.push(mistake(at, `expected list, got ${shown(value)}`));
      return;
    case "any":
      return;
    default:
      lookAtScalar(schema, value, at, mistakes);
  }
}

function mistake(at: string, what: string): string {
  return at === "" ? what : `${at}: ${what}`;
}

function lookAtMembers(schema: Schema, object: JsonObject, at: string, mistakes: string[]): void {
  for (const [name, value] of Object.entries(object)) {
    if (value === undefined) continue;
    const below = memberSchema(schema, name);
    const path = `${at}.${name}`;
    if (below !== undefined) look(below, value, path, mistakes);
    else {
      // As upstream, which stops validating an object at its first unknown field.
      mistakes.push(mistake(path, "field not declared in schema"));
      return;
    }
  }
}

function memberSchema(schema: Schema, name: string): Schema | undefined {
  if (schema.type === "map") return schema.values;
  if (schema.type !== "object") return DEDUCED;
  return slotsOf(schema).get(name)?.schema ?? (schema.preserveUnknownFields === true ? DEDUCED : undefined);
}

function lookAtItems(schema: ListSchema, list: readonly Json[], at: string, mistakes: string[]): void {
  const seen = new Set<PathElement>();
  for (const [index, item] of list.entries()) {
    const element = schema.listType === "atomic" ? `i:${index}` : elementOrMistake(schema, item);
    if (element instanceof UnnamedItem) return void mistakes.push(mistake(at, `element ${index}: ${element.message}`));
    const shownElement = describeElement(element);
    if (seen.has(element)) mistakes.push(mistake(at, `duplicate entries for key ${shownElement}`));
    seen.add(element);
    look(schema.items, item, at + shownElement, mistakes);
  }
}

function elementOrMistake(schema: ListSchema, item: Json): PathElement | UnnamedItem {
  try {
    return elementOf(schema, item);
  } catch (error) {
    if (error instanceof UnnamedItem) return error;
    throw error;
  }
}

function lookAtScalar({ type, format }: ScalarSchema, value: Json, at: string, mistakes: string[]): void {
  if (value === null) return;
  const isNumber = typeof value === "number" || typeof value === "bigint";
  if (type === "integer" || type === "number") {
    if (!isNumber) mistakes.push(mistake(at, `expected numeric (int or float), got ${goTypeOf(value)}`));
  } else if (type === "boolean") {
    if (typeof value !== "boolean") mistakes.push(mistake(at, `expected boolean, got ${shown(value)}`));
  } else if (format === undefined || format === "byte" || format === "duration") {
    if (typeof value !== "string") mistakes.push(mistake(at, `expected string, got &value.valueUnstructured{Value:${literal(value)}}`));
  } else if (typeof value === "object") {
    mistakes.push(mistake(at, `expected any scalar, got ${shown(value)}`));
  }
}

/** Upstream's messages show a value of the wrong kind as Go prints a pointer to the struct that holds it. */
function shown(value: Json): string {
  return `&{${plain(value)}}`;
}

function plain(value: Json): string {
  if (isList(value)) return `[${value.map(plain).join(" ")}]`;
  if (isObject(value)) return `map[${membersOf(value, ([name, member]) => `${name}:${plain(member)}`).join(" ")}]`;
  return value === null ? "<nil>" : String(value);
}

function membersOf(object: JsonObject, show: (entry: [string, Json]) => string): string[] {
  const members = Object.entries(object).filter((entry): entry is [string, Json] => entry[1] !== undefined);
  return members.sort(([a], [b]) => (a < b ? -1 : 1)).map(show);
}

/** As a Go literal. */
function literal(value: Json): string {
  if (typeof value === "string") return JSON.stringify(value);
  if (isList(value)) return `[]interface {}{${value.map(literal).join(", ")}}`;
  if (isObject(value)) {
    return `map[string]interface {}{${membersOf(value, ([name, member]) => `${JSON.stringify(name)}:${literal(member)}`).join(", ")}}`;
  }
  return value === null ? "interface {}(nil)" : String(value);
}
