/**
 * Validation errors of single fields, with upstream's messages, since kubectl prints them and tools match them. Validation yields one per
 * mistake; status-error.ts joins them in one Status.
 */
import { quoteGo } from "./codec/go-text.ts";
import { writeJson } from "./codec/json.ts";

/** The `reason` of a cause in a Status. */
export type FieldErrorType =
  | "FieldValueNotFound"
  | "FieldValueRequired"
  | "FieldValueDuplicate"
  | "FieldValueInvalid"
  | "FieldValueNotSupported"
  | "FieldValueForbidden"
  | "FieldValueTooLong"
  | "FieldValueTooMany"
  | "FieldValueTypeInvalid"
  | "InternalError";

export interface FieldError {
  readonly type: FieldErrorType;
  /** "spec.containers[0].name", "metadata.labels[a.b/c]". */
  readonly field: string;
  /** The message without the field: `Invalid value: "x": must be …`. */
  readonly body: string;
}

/** "spec" + "replicas" → "spec.replicas"; an empty parent gives the child alone. */
export function child(at: string, ...names: readonly string[]): string {
  const path = names.join(".");
  return at === "" ? path : `${at}.${path}`;
}

/** "spec.ports" + 0 → "spec.ports[0]"; a key likewise. */
export function element(at: string, indexOrKey: number | string): string {
  return `${at}[${indexOrKey}]`;
}

export function required(field: string, detail = ""): FieldError {
  return { type: "FieldValueRequired", field, body: withDetail("Required value", detail) };
}

export function invalid(field: string, value: unknown, detail: string): FieldError {
  return { type: "FieldValueInvalid", field, body: withDetail(`Invalid value: ${quote(value)}`, detail) };
}

/** For values that are secret, or too long to be of use in a message. */
export function invalidUnquoted(field: string, detail: string): FieldError {
  return { type: "FieldValueInvalid", field, body: `Invalid value: ${detail}` };
}

export function immutable(field: string, value: unknown): FieldError {
  return invalid(field, value, "field is immutable");
}

export function duplicate(field: string, value: unknown): FieldError {
  return { type: "FieldValueDuplicate", field, body: `Duplicate value: ${quote(value)}` };
}

export function forbidden(field: string, detail: string): FieldError {
  return { type: "FieldValueForbidden", field, body: withDetail("Forbidden", detail) };
}

export function notFoundField(field: string, value: unknown): FieldError {
  return { type: "FieldValueNotFound", field, body: `Not found: ${quote(value)}` };
}

export function notSupported(field: string, value: unknown, supported: readonly string[]): FieldError {
  const words = supported.map((word) => JSON.stringify(word)).join(", ");
  return { type: "FieldValueNotSupported", field, body: withDetail(`Unsupported value: ${quote(value)}`, `supported values: ${words}`) };
}

/** The value is omitted: it is too long. */
export function tooLong(field: string, maxBytes: number): FieldError {
  return { type: "FieldValueTooLong", field, body: `Too long: may not be more than ${maxBytes} ${maxBytes === 1 ? "byte" : "bytes"}` };
}

export function tooMany(field: string, actual: number, max: number): FieldError {
  return { type: "FieldValueTooMany", field, body: `Too many: ${actual}: must have at most ${max} ${max === 1 ? "item" : "items"}` };
}

export function internalFieldError(field: string, message: string): FieldError {
  return { type: "InternalError", field, body: `Internal error: ${message}` };
}

export function describeFieldError({ field, body }: FieldError): string {
  return `${field}: ${body}`;
}

function withDetail(text: string, detail: string): string {
  return detail === "" ? text : `${text}: ${detail}`;
}

/** Formats a value as upstream does: text quoted as Go does, objects as JSON, `null` for absent values. */
function quote(value: unknown): string {
  if (typeof value === "string") return quoteGo(value);
  return writeJson(value ?? null).replaceAll(HTML, escape);
}

/** Inside objects Go escapes these. */
const HTML = /[<>&]/g;

function escape(character: string): string {
  return `\\u00${character.charCodeAt(0).toString(16)}`;
}
