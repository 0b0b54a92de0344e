/** What a server answers with, as the transport hands it on: an object, a list, or a value that is not kept anywhere. */
import { isJsonSyntaxError, parseJson } from "../../api/machinery/codec/json.ts";
import type { Json, JsonObject, KubeObject, ListMeta } from "../../api/machinery/object.ts";
import { internalError } from "../../api/machinery/status-error.ts";
import type { TransportResponse } from "../../api/machinery/transport.ts";

export interface Answer {
  readonly code: number;
  readonly body: Uint8Array;
  /** The `Warning` header, several joined with commas. */
  readonly warning: string | undefined;
}

/** Throws InternalError if it is not what a server of this API answers with. */
export function responseOf({ code, body, warning }: Answer): TransportResponse {
  const value = readObject(body);
  const warnings = warning === undefined ? NO_WARNINGS : parseWarnings(warning);
  const { kind, apiVersion, items, metadata } = value as Wire;
  if (typeof kind === "string" && kind.endsWith("List") && (Array.isArray(items) || items === null || items === undefined)) {
    return { is: "list", items: withTypes(items ?? [], kind, apiVersion), metadata: metadata ?? {}, warnings };
  }
  if (isKept(value)) return { is: "object", object: value as unknown as KubeObject, created: code === 201, warnings };
  return { is: "value", value, warnings };
}

/** Throws InternalError if it is anything but an object. */
export function readObject(body: Uint8Array): JsonObject {
  let value: Json;
  try {
    value = parseJson(body, { duplicates: false }).value;
  } catch (error) {
    if (isJsonSyntaxError(error)) throw internalError(new Error(`Cannot read the answer: ${error.message}`, { cause: error }));
    throw error;
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as JsonObject;
  throw internalError(new Error("Cannot read the answer: it must be a JSON object, and is not"));
}

interface Wire {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata?: ListMeta & { readonly name?: string };
  readonly items?: readonly JsonObject[] | null;
}

const NO_WARNINGS: readonly string[] = [];

/** In typed lists the items do not say what they are: the list does. */
function withTypes(items: readonly JsonObject[], listKind: string, apiVersion = ""): readonly KubeObject[] {
  const kind = listKind.slice(0, -"List".length);
  return items.map((item) => (item["kind"] === undefined && kind !== "" ? { apiVersion, kind, ...item } : item) as unknown as KubeObject);
}

/** A Status, a Scale and what is made to be looked at once are not; whatever else has a name is. */
function isKept({ kind, apiVersion = "", metadata }: Wire): boolean {
  if (kind === "Status" || (kind === "Scale" && apiVersion.startsWith("autoscaling/"))) return false;
  if (kind === "TokenRequest" && apiVersion.startsWith("authentication.k8s.io/")) return false;
  return typeof metadata?.name === "string" && metadata.name !== "";
}

/** One warning: its code, who says it, and the text in quotes, perhaps with a date. */
const WARNING = /\d{3} \S+ "((?:[^"\\]|\\.)*)"(?: "[^"]*")?/g;

export function parseWarnings(header: string): readonly string[] {
  return [...header.matchAll(WARNING)].map(([, text = ""]) => text.replaceAll(/\\(.)/g, "$1"));
}
