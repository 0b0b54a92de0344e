/**
 * Validates a value against the OpenAPI v3 schema that the server publishes for its kind: unknown members, missing ones, wrong types, values
 * out of range. A client-side help with lines, before the server's own validation, which decides. Pure.
 */
import { isObject } from "../../../api/machinery/object.ts";

/** The part of a schema that is used here. */
export interface Schema {
  readonly $ref?: string;
  readonly allOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly type?: string;
  readonly format?: string;
  readonly nullable?: boolean;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly enum?: readonly unknown[];
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly "x-kubernetes-preserve-unknown-fields"?: boolean;
  readonly "x-kubernetes-int-or-string"?: boolean;
  readonly "x-kubernetes-embedded-resource"?: boolean;
  readonly "x-kubernetes-group-version-kind"?: readonly { readonly group: string; readonly version: string; readonly kind: string }[];
}

export interface Problem {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

export type Schemas = Readonly<Record<string, Schema>>;

/** A wrong indentation causes many: the first ones say enough. */
const PROBLEMS_MAX = 100;
/** Schemas may contain themselves; values of the API are not nested deeper. */
const DEPTH_MAX = 100;

/** The schema of a kind. Undefined: the server publishes none. */
export function schemaOfKind(
  schemas: Schemas,
  { group, version, kind }: { readonly group: string; readonly version: string; readonly kind: string },
): Schema | undefined {
  return Object.values(schemas).find((schema) =>
    schema["x-kubernetes-group-version-kind"]?.some((own) => own.kind === kind && own.version === version && own.group === group),
  );
}

export function schemaProblems(schemas: Schemas, schema: Schema, value: unknown): readonly Problem[] {
  const problems: Problem[] = [];
  new Validation(schemas, problems).check(schema, value, []);
  return problems.slice(0, PROBLEMS_MAX);
}

class Validation {
  readonly #schemas: Schemas;
  readonly #problems: Problem[];

  constructor(schemas: Schemas, problems: Problem[]) {
    this.#schemas = schemas;
    this.#problems = problems;
  }

  check(given: Schema, value: unknown, path: Problem["path"]): void {
    if (path.length > DEPTH_MAX || this.#problems.length >= PROBLEMS_MAX) return;
    const schema = this.#resolve(given);
    // The server removes members that are null.
    if (value === null) return;
    if (schema["x-kubernetes-int-or-string"] === true || schema.format === "int-or-string") {
      if (typeof value !== "string" && !Number.isInteger(value)) this.#add(path, `must be an integer or a string, is ${nameOf(value)}`);
      return;
    }
    const choices = schema.oneOf ?? schema.anyOf ?? [];
    if (choices.length > 0 && schema.type === undefined) {
      if (!choices.some((choice) => hasType(this.#resolve(choice).type, value)))
        this.#add(path, `must be ${choices.map(({ type }) => withArticle(type ?? "object")).join(" or ")}, is ${nameOf(value)}`);
      return;
    }
    if (!hasType(schema.type, value)) return this.#add(path, `must be ${withArticle(schema.type ?? "")}, is ${nameOf(value)}`);
    this.#checkValue(schema, value, path);
    if (Array.isArray(value)) this.#checkItems(schema, value, path);
    else if (isObject(value)) this.#checkMembers(schema, value, path);
  }

  #checkMembers(schema: Schema, value: Readonly<Record<string, unknown>>, path: Problem["path"]): void {
    const { properties = {}, additionalProperties, required = [] } = schema;
    for (const name of required) if (!Object.hasOwn(value, name)) this.#add(path, `has no member "${name}", which is required`);
    const isOpen =
      schema["x-kubernetes-preserve-unknown-fields"] === true ||
      additionalProperties === true ||
      (schema.properties === undefined && additionalProperties === undefined);
    for (const [name, member] of Object.entries(value)) {
      const known = Object.hasOwn(properties, name) ? properties[name] : undefined;
      if (known !== undefined) this.check(known, member, [...path, name]);
      else if (isObject(additionalProperties)) this.check(additionalProperties, member, [...path, name]);
      else if (!isOpen && !(schema["x-kubernetes-embedded-resource"] === true && EMBEDDED.includes(name)))
        this.#add([...path, name], `is not a known member${nearest(name, Object.keys(properties))}`);
    }
  }

  #checkItems({ items, minItems = 0, maxItems = Infinity }: Schema, value: readonly unknown[], path: Problem["path"]): void {
    if (value.length < minItems) this.#add(path, `must have at least ${minItems} items, has ${value.length}`);
    if (value.length > maxItems) this.#add(path, `must have at most ${maxItems} items, has ${value.length}`);
    if (items !== undefined) for (const [index, item] of value.entries()) this.check(items, item, [...path, index]);
  }

  #checkValue(schema: Schema, value: unknown, path: Problem["path"]): void {
    if (schema.enum !== undefined && !schema.enum.includes(value))
      this.#add(path, `must be one of ${schema.enum.map(String).join(", ")}, is ${JSON.stringify(value)}`);
    if (typeof value === "number") {
      if (schema.minimum !== undefined && value < schema.minimum) this.#add(path, `must be at least ${schema.minimum}, is ${value}`);
      if (schema.maximum !== undefined && value > schema.maximum) this.#add(path, `must be at most ${schema.maximum}, is ${value}`);
    }
    if (typeof value !== "string") return;
    const { minLength = 0, maxLength = Infinity, pattern } = schema;
    if (value.length < minLength || value.length > maxLength)
      this.#add(path, `must have between ${minLength} and ${maxLength} characters, has ${value.length}`);
    if (pattern !== undefined && !matches(pattern, value)) this.#add(path, `must match ${pattern}, is ${JSON.stringify(value)}`);
  }

  /** References, and `allOf` with one, as the server writes a reference with a description. */
  #resolve(schema: Schema): Schema {
    let found = schema;
    for (let steps = 0; steps < DEPTH_MAX; steps++) {
      const inner = found.allOf?.length === 1 ? found.allOf[0] : undefined;
      if (inner !== undefined) found = { ...inner, ...(found.nullable === undefined ? {} : { nullable: found.nullable }) };
      else if (found.$ref === undefined) return found;
      else found = this.#schemas[found.$ref.replace(/^#\/components\/schemas\//, "")] ?? {};
    }
    return {};
  }

  #add(path: Problem["path"], message: string): void {
    this.#problems.push({ path, message });
  }
}

const EMBEDDED: readonly string[] = ["apiVersion", "kind", "metadata"];

function hasType(type: string | undefined, value: unknown): boolean {
  switch (type) {
    case "object":
      return isObject(value);
    case "array":
      return Array.isArray(value);
    case "string":
    case "boolean":
      return typeof value === type;
    case "integer":
      return Number.isInteger(value) || typeof value === "bigint";
    case "number":
      return typeof value === "number";
    default:
      return true;
  }
}

function nameOf(value: unknown): string {
  if (Array.isArray(value)) return "a list";
  if (isObject(value)) return "a map";
  return `${withArticle(typeof value)}: ${JSON.stringify(value)}`;
}

function withArticle(type: string): string {
  const name = type === "object" ? "map" : type === "array" ? "list" : type;
  return `${/^[aeiou]/.test(name) ? "an" : "a"} ${name}`;
}

/** Patterns are of another regular expression dialect: one that this one cannot read is left to the server. */
function matches(pattern: string, value: string): boolean {
  try {
    return new RegExp(pattern, "u").test(value);
  } catch {
    return true;
  }
}

/** " (did you mean …?)" for a typo of one or two letters. */
function nearest(name: string, known: readonly string[]): string {
  const found = known
    .map((candidate) => ({ candidate, distance: distance(name.toLowerCase(), candidate.toLowerCase()) }))
    .filter((candidate) => candidate.distance <= 2)
    .sort((a, b) => a.distance - b.distance)[0];
  return found === undefined ? "" : ` (did you mean "${found.candidate}"?)`;
}

/** Levenshtein's. */
function distance(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > 2) return Infinity;
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (const [index, letter] of a.split("").entries()) {
    const next = [index + 1];
    for (let column = 1; column <= b.length; column++)
      next.push(Math.min((next[column - 1] ?? 0) + 1, (row[column] ?? 0) + 1, (row[column - 1] ?? 0) + (letter === b[column - 1] ? 0 : 1)));
    row = next;
  }
  return row[b.length] ?? Infinity;
}
