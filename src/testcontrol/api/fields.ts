/**
 * Declares the JSON objects of the test control API once: requests are checked by the declarations, and the OpenAPI document is generated
 * from them (openapi.ts). An unknown or misspelt field is an error, because a fault that is ignored would make a test pass for no reason.
 */
import { isObject } from "../../api/machinery/object.ts";
import { nearest } from "../../cli/framework/suggestion.ts";
import { durationInputMs } from "../../embedded/duration-input.ts";
import { badRequest } from "../problem.ts";

interface Declared {
  readonly doc: string;
  /** Of a request: it must be there. Of an answer: it always is. */
  readonly required?: true;
}

export interface TextField extends Declared {
  readonly type: "string";
  readonly pattern?: RegExp;
  /** What the pattern accepts, for messages. */
  readonly expected?: string;
  readonly values?: readonly string[];
  readonly lengthMax?: number;
}

/** Milliseconds, or Go's format. The value is in milliseconds. */
export interface DurationField extends Declared {
  readonly type: "duration";
  readonly maxMs: number;
  /** The maximum for messages: "1h". */
  readonly max: string;
}

export interface NumberField extends Declared {
  readonly type: "integer" | "number";
  readonly min: number;
  readonly max: number;
}

export interface BooleanField extends Declared {
  readonly type: "boolean";
}

export interface ObjectField extends Declared {
  readonly type: "object";
  readonly fields: Fields;
}

/** Only in answers. */
export interface ListField extends Declared {
  readonly type: "list";
  readonly fields: Fields;
}

export type Field = TextField | DurationField | NumberField | BooleanField | ObjectField | ListField;
export type Fields = Readonly<Record<string, Field>>;

type ValueOf<F extends Field> = F extends TextField
  ? string
  : F extends DurationField | NumberField
    ? number
    : F extends BooleanField
      ? boolean
      : F extends ObjectField
        ? Values<F["fields"]>
        : never;

type RequiredNames<D extends Fields> = { [Name in keyof D]: D[Name] extends { readonly required: true } ? Name : never }[keyof D];

/** The values of an object that was checked. */
export type Values<D extends Fields> = { readonly [Name in RequiredNames<D>]: ValueOf<D[Name]> } & {
  readonly [Name in Exclude<keyof D, RequiredNames<D>>]?: ValueOf<D[Name]>;
};

/** Throws a BadRequest problem that names the field. `of` is the path of the object in messages, "" for the body. */
export function readFields<D extends Fields>(value: unknown, fields: D, of = ""): Values<D> {
  if (!isObject(value)) throw badRequest(`${of === "" ? "The body" : of} must be a JSON object`, "Send an object such as {}");
  for (const name of Object.keys(value)) if (!Object.hasOwn(fields, name)) throw unknownField(name, fields, of);
  const read: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(fields)) {
    const path = of === "" ? name : `${of}.${name}`;
    const given = value[name];
    if (given !== undefined && given !== null) read[name] = readValue(given, field, path);
    else if (field.required === true) throw badRequest(`${path} is required`, `Set it: ${field.doc}`);
  }
  return read as Values<D>;
}

function unknownField(name: string, fields: Fields, of: string) {
  const names = Object.keys(fields);
  const near = nearest(name, names);
  const remedy = near === undefined ? `The fields are ${names.join(", ") || "none"}` : `Did you mean "${near}"?`;
  return badRequest(`Unknown field "${of === "" ? name : `${of}.${name}`}"`, remedy);
}

function readValue(given: unknown, field: Field, path: string): unknown {
  switch (field.type) {
    case "string":
      return readText(given, field, path);
    case "duration":
      return readDuration(given, field, path);
    case "integer":
    case "number":
      return readNumber(given, field, path);
    case "boolean":
      if (typeof given !== "boolean") throw wrong(path, given, "true or false");
      return given;
    case "object":
      return readFields(given, field.fields, path);
    case "list":
      throw wrong(path, given, "left out");
  }
}

function readText(given: unknown, { pattern, expected, values, lengthMax = TEXT_LENGTH_MAX }: TextField, path: string): string {
  if (typeof given !== "string") throw wrong(path, given, "a string");
  if (values !== undefined && !values.includes(given)) throw wrong(path, given, `one of ${values.join(", ")}`);
  if (given.length > lengthMax) throw wrong(path, `${given.slice(0, 20)}…`, `at most ${lengthMax} characters long`);
  if (pattern !== undefined && !pattern.test(given)) throw wrong(path, given, expected ?? String(pattern));
  return given;
}

/** Longer than any name in the Kubernetes API, and than usual user agents. */
const TEXT_LENGTH_MAX = 512;

function readDuration(given: unknown, { maxMs, max }: DurationField, path: string): number {
  const expected = `a duration of at most ${max}: milliseconds, or a string such as "90s", "1h30m" or "2d"`;
  if (typeof given !== "string" && typeof given !== "number") throw wrong(path, given, expected);
  try {
    const ms = durationInputMs(given);
    if (ms <= maxMs) return ms;
  } catch {
    // Reported below.
  }
  throw wrong(path, given, expected);
}

function readNumber(given: unknown, { type, min, max }: NumberField, path: string): number {
  const isRight = typeof given === "number" && given >= min && given <= max && (type === "number" || Number.isSafeInteger(given));
  if (!isRight) throw wrong(path, given, `${type === "integer" ? "an integer" : "a number"} from ${min} to ${max}`);
  return given;
}

function wrong(path: string, given: unknown, expected: string) {
  return badRequest(`${path} must be ${expected}, is ${JSON.stringify(given)}`, `Correct ${path}; GET /openapi.json describes all fields`);
}
