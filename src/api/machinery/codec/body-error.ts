/**
 * Errors for bodies that cannot be decoded, with upstream's messages. The message depends on how far decoding came: whether the kind was
 * known before it failed.
 */
import { type GroupVersionKind, type Json, parseApiVersion } from "../object.ts";
import { badRequest, type StatusError } from "../status-error.ts";
import { DecodeError } from "./decode-error.ts";
import { decodeText } from "./json.ts";

/** apiVersion and kind of a body; empty if absent. */
export interface TypeMeta {
  readonly apiVersion: string;
  readonly kind: string;
}

/** The Go type that upstream decodes for this; part of its message. */
const TYPE_META = 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';

/** Throws a DecodeError: to be answered with `unrecognized`. */
export function readTypeMeta(value: Json): TypeMeta {
  if (value === null) return { apiVersion: "", kind: "" };
  if (typeof value !== "object" || Array.isArray(value)) {
    throw new DecodeError(noTypeMeta(`json: cannot unmarshal ${typeName(value)} into Go value of type ${TYPE_META}`));
  }
  const members = value as Readonly<Record<string, Json | undefined>>;
  return { apiVersion: textMember(members, "apiVersion"), kind: textMember(members, "kind") };
}

function textMember(members: Readonly<Record<string, Json | undefined>>, name: keyof TypeMeta): string {
  const value = members[name] ?? "";
  if (typeof value === "string") return value;
  throw new DecodeError(noTypeMeta(`json: cannot unmarshal ${typeName(value)} into Go struct field .${name} of type string`));
}

/** Also for text that is not JSON: upstream looks for the kind first, and fails there. */
export function noTypeMeta(message: string): string {
  return `couldn't get version/kind; json parse error: ${message}`;
}

function typeName(value: Json): string {
  if (Array.isArray(value)) return "array";
  return typeof value === "boolean" ? "bool" : typeof value === "bigint" ? "number" : typeof value;
}

/** The group and version in `apiVersion`; empty parts default to what the path expects. Throws a DecodeError. */
export function completeKind({ apiVersion, kind }: TypeMeta, expected: GroupVersionKind): GroupVersionKind {
  const named = kind === "" ? expected.kind : kind;
  if (apiVersion === "" || apiVersion === "/") return { ...expected, kind: named };
  const parsed = parseApiVersion(apiVersion);
  if (parsed === undefined) throw new DecodeError(`unexpected GroupVersion string: ${apiVersion}`);
  return { ...parsed, kind: named };
}

/** Error after the kind was known. `expectedKind` is the kind that the path serves. */
export function cannotBeHandled(found: GroupVersionKind, expectedKind: string, error: Error | string): StatusError {
  const why = typeof error === "string" ? error : error.message;
  const message = `${found.kind} in version "${found.version}" cannot be handled as a ${expectedKind}: ${why}`;
  return badRequest(message, typeof error === "string" ? undefined : error);
}

/** How much of an unrecognized body is quoted. */
const SUMMARY_BYTES_MAX = 30;

/** Error before the kind was known. */
export function unrecognized(expectedKind: string, error: Error | string, body: Uint8Array): StatusError {
  const why = typeof error === "string" ? error : error.message;
  const message = `the object provided is unrecognized (must be of type ${expectedKind}): ${why} (${summary(body)})`;
  return badRequest(message, typeof error === "string" ? undefined : error);
}

function summary(body: Uint8Array): string {
  if (body.length === 0) return "<empty>";
  const beginning = body.subarray(0, SUMMARY_BYTES_MAX);
  const isText = body[0] === 0x7b;
  const shown = isText ? decodeText(beginning) : [...beginning].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return body.length > SUMMARY_BYTES_MAX ? `${shown} ...` : shown;
}
