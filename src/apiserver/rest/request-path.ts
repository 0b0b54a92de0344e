/**
 * What a path means: a resource (`/api/v1/namespaces/x/pods/y/status`), or a document of the server (`/version`). Pure text work; whether
 * there is such a resource is for others to say. Escapes are decoded before the path is divided, as upstream does, so an encoded slash
 * is a slash and never part of a name.
 */
import { badRequest } from "../../api/machinery/status-error.ts";
import type { Verb } from "../../api/machinery/resource.ts";

export type RequestPath = ResourcePath | DocumentPath;

export interface ResourcePath {
  readonly is: "resource";
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly namespace: string;
  readonly name: string;
  readonly subresource: string;
  /** Of a subresource that forwards (proxy): the path behind it. */
  readonly rest: readonly string[];
  /** An old form of watching: `/api/v1/watch/pods`. */
  readonly isWatchPath: boolean;
}

export interface DocumentPath {
  readonly is: "document";
  readonly path: string;
}

/** Subresources of a namespace itself, which look like resources in it. */
const NAMESPACE_SUBRESOURCES = ["status", "finalize"];

export function parsePath(encoded: string): RequestPath {
  const path = decode(encoded);
  const segments = path.split("/").slice(1);
  if (segments.at(-1) === "") segments.pop();
  const resource =
    segments[0] === "api"
      ? underVersion("", segments.slice(1))
      : segments[0] === "apis"
        ? underVersion(segments[1] ?? "", segments.slice(2))
        : undefined;
  return resource ?? { is: "document", path: path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path };
}

function decode(encoded: string): string {
  if (!encoded.includes("%")) return encoded;
  try {
    return decodeURIComponent(encoded);
  } catch {
    throw badRequest(`invalid URL escape in path ${JSON.stringify(encoded)}`);
  }
}

function underVersion(group: string, segments: readonly string[]): ResourcePath | undefined {
  const [version, ...after] = segments;
  const isWatchPath = after[0] === "watch" && after.length > 1;
  const parts = isWatchPath ? after.slice(1) : after;
  if (version === undefined || parts.length === 0) return undefined;
  const place = { is: "resource", group, version, isWatchPath } as const;
  const [first = "", second = "", third, ...others] = parts;
  if (first !== "namespaces" || third === undefined || (group === "" && NAMESPACE_SUBRESOURCES.includes(third) && others.length === 0)) {
    return { ...place, plural: first, namespace: "", name: second, subresource: third ?? "", rest: others };
  }
  const [name = "", subresource = "", ...rest] = others;
  return { ...place, plural: third, namespace: second, name, subresource, rest };
}

/** The verb of a method on a path; undefined if there is none. */
export function verbOf(method: string, { name, isWatchPath }: ResourcePath, isWatch: boolean): Verb | undefined {
  switch (method) {
    case "GET":
    case "HEAD":
      if (isWatchPath || isWatch) return "watch";
      return name === "" ? "list" : "get";
    case "POST":
      return "create";
    case "PUT":
      return "update";
    case "PATCH":
      return "patch";
    case "DELETE":
      return name === "" ? "deletecollection" : "delete";
    default:
      return undefined;
  }
}
