/**
 * Paths to one field of the objects that a schema describes, in selectableFields and validation rules: ".spec.color",
 * ".metadata.labels['a.b']". Each segment must resolve to a field of the schema.
 */
import { child, element } from "../../../machinery/field-error.ts";
import { additionalPropertiesOf, hasProperties, type JsonSchema, propertyOf } from "./json-schema.ts";

export interface FoundField {
  /** In the format of error messages: without the first dot. */
  readonly path: string;
  /** The member of the whole object that it is in. */
  readonly root: string;
  /** Undefined: not described by the schema. */
  readonly schema: JsonSchema | undefined;
}

export interface PathRules {
  /** Default: true. */
  readonly allowsBrackets?: boolean;
  /** Whether a schema has properties; for callers that resolve many paths and cache it. */
  readonly isStruct?: (schema: JsonSchema) => boolean;
}

/** The message is upstream's. */
export class FieldPathError extends Error {
  override readonly name = "FieldPathError";
}

/** Throws FieldPathError. */
export function findField(text: string, schema: JsonSchema, rules: PathRules = {}): FoundField {
  const { allowsBrackets = true, isStruct = hasProperties } = rules;
  const tokens = tokensOf(text);
  let found: FoundField = { path: "", root: "", schema };
  for (let token = tokens.next().value; token !== undefined; token = tokens.next().value) {
    if (token === "[" && !allowsBrackets) throw new FieldPathError("array notation is not allowed");
    if (token !== "[" && token !== ".") throw new FieldPathError(`expected [ or . but got: ${token}`);
    const name = nextOf(tokens);
    found = stepInto(found, token === "[" ? unquote(name) : name, isStruct);
    if (token === "[") expectClosing(nextOf(tokens));
  }
  return found;
}

/** The delimiters, and the text between them. Text within single quotes has none. */
function* tokensOf(text: string): Generator<string, undefined> {
  for (let at = 0; at < text.length;) {
    const token = /^(?:'(?:[^'\\]|\\[^]|\\$)*'|'[^]*|[.[\]]|[^.[\]]+)/.exec(text.slice(at))?.[0] ?? "";
    at += token.length;
    yield token;
  }
  return undefined;
}

function nextOf(tokens: Iterator<string, undefined>): string {
  const token = tokens.next().value;
  if (token === undefined) throw new FieldPathError("unexpected end of JSON path");
  return token;
}

function expectClosing(token: string): void {
  if (token !== "]") throw new FieldPathError(`expected ] but got ${token}`);
}

function stepInto({ path, root, schema }: FoundField, name: string, isStruct: (schema: JsonSchema) => boolean): FoundField {
  const property = schema && propertyOf(schema, name);
  const rest = root === "" ? name : root;
  if (property !== undefined) return { path: child(path, name), root: rest, schema: property };
  const additional = schema && additionalPropertiesOf(schema);
  if (schema === undefined || additional === undefined || isStruct(schema)) throw new FieldPathError("does not refer to a valid field");
  return { path: element(path, name), root: rest, schema: additional.schema };
}

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ["a", "\u0007"],
  ["b", "\b"],
  ["f", "\f"],
  ["n", "\n"],
  ["r", "\r"],
  ["t", "\t"],
  ["v", "\v"],
  ["'", "'"],
  ["\\", "\\"],
]);

function unquote(token: string): string {
  if (token.length < 2 || !token.startsWith("'") || !token.endsWith("'")) {
    throw new FieldPathError(`expected single quoted string but got ${token}`);
  }
  return token.slice(1, -1).replaceAll(/\\(.)/gsu, (escape, letter: string) => {
    const character = ESCAPES.get(letter);
    if (character === undefined) throw new FieldPathError(`invalid string literal: invalid escape char ${escape}`);
    return character;
  });
}
