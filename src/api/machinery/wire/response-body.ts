/** Interprets a server's response body: an object, a list, or a value that is not stored. */
import { isJsonSyntaxError, parseJson } from "../codec/json.ts";
import { isObject, type Json, type JsonObject, type KubeObject, type ListMeta } from "../object.ts";
import type { Verb } from "../resource.ts";
import { internalError, type StatusError } from "../status-error.ts";
import type { TransportResponse } from "../transport.ts";

export interface Answer {
  /** Known from the request: the kind's name does not show whether it is a list, since kinds may be called AllowList. */
  readonly verb: Verb;
  readonly code: number;
  readonly body: Uint8Array;
  /** The `Warning` header, several joined by commas. */
  readonly warning: string | undefined;
}

/** Throws InternalError if it is not a response of this API. */
export function responseOf({ verb, code, body, warning }: Answer): TransportResponse {
  const value = readObject(body);
  const warnings = warning === undefined ? NO_WARNINGS : parseWarnings(warning);
  if ((verb === "list" || verb === "deletecollection") && isList(value))
    return { is: "list", items: itemsOf(value), metadata: (value as Wire).metadata ?? {}, warnings };
  if (isKept(value)) return { is: "object", object: value as KubeObject, created: code === 201, warnings };
  return { is: "value", value, warnings };
}

/** What is known of a document besides its bytes, for the error message. */
export interface DocumentSource {
  readonly path: string;
  readonly mediaType: string | undefined;
}

/** Throws InternalError unless it is an object. */
export function readObject(body: Uint8Array, source?: DocumentSource): JsonObject {
  let value: Json;
  try {
    value = parseJson(body, { duplicates: false }).value;
  } catch (error) {
    if (isJsonSyntaxError(error)) throw unreadable(notJson(source) ?? error.message, source, error);
    throw error;
  }
  if (isObject(value)) return value;
  throw unreadable("it must be a JSON object, and is not", source);
}

/** The content type that the server declares, if it is another. */
function notJson(source: DocumentSource | undefined): string | undefined {
  const { mediaType = "" } = source ?? {};
  return mediaType === "" || /\bjson\b/i.test(mediaType) ? undefined : `it is not JSON but ${mediaType}`;
}

function unreadable(why: string, source?: DocumentSource, cause?: unknown): StatusError {
  const what = source === undefined ? "the answer" : `the response of ${source.path}`;
  return internalError(new Error(`Cannot read ${what}: ${why}`, { cause }));
}

interface Wire {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata?: ListMeta & { readonly name?: string };
}

const NO_WARNINGS: readonly string[] = [];
const LIST = "List";

/** The list's kind is up to its definition; only for an empty list does its name have to do. */
function isList({ kind, items }: JsonObject): boolean {
  return Array.isArray(items) || ((items === null || items === undefined) && typeof kind === "string" && kind.endsWith(LIST));
}

/** Items of typed lists do not carry their kind: the list does. */
function itemsOf({ kind: listKind, apiVersion = "", items }: JsonObject): readonly KubeObject[] {
  const kind = typeof listKind === "string" && listKind.endsWith(LIST) ? listKind.slice(0, -LIST.length) : "";
  return ((items ?? []) as readonly Json[]).map((item) => {
    if (!isObject(item)) throw unreadable("its items must be objects, and one is not");
    return (item["kind"] === undefined && kind !== "" ? { apiVersion, kind, ...item } : item) as KubeObject;
  });
}

/** A Status, a Scale and reviews are not stored; anything else with a name is. */
function isKept({ kind, apiVersion = "", metadata }: Wire): boolean {
  if (kind === "Status" || (kind === "Scale" && apiVersion.startsWith("autoscaling/"))) return false;
  if (kind === "TokenRequest" && apiVersion.startsWith("authentication.k8s.io/")) return false;
  return typeof metadata?.name === "string" && metadata.name !== "";
}

/** One warning: code, agent, and the quoted text, optionally with a date. */
const WARNING = /\d{3} \S+ "((?:[^"\\]|\\.)*)"(?: "[^"]*")?/g;

function parseWarnings(header: string): readonly string[] {
  return [...header.matchAll(WARNING)].map(([, text = ""]) => text.replaceAll(/\\(.)/g, "$1"));
}
