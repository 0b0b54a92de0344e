/**
 * Parses a path: a resource (`/api/v1/namespaces/x/pods/y/status`), or a document of the server (`/version`). Pure text processing; whether
 * such a resource exists is checked elsewhere. Escapes are decoded before the path is split, as upstream does, so an encoded slash is a
 * slash and never part of a name.
 */
import { badRequest } from "../../../api/machinery/status-error.ts";
import type { Verb } from "../../../api/machinery/resource.ts";

export type RequestPath = ResourcePath | DocumentPath;

export interface ResourcePath {
  readonly is: "resource";
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly namespace: string;
  readonly name: string;
  readonly subresource: string;
  /** The path after a subresource that forwards (proxy). */
  readonly rest: readonly string[];
  /** The deprecated form of a watch: `/api/v1/watch/pods`. */
  readonly isWatchPath: boolean;
}

export interface DocumentPath {
  readonly is: "document";
  /** Without a trailing slash. */
  readonly path: string;
  /** As the client sent it: non-resource rules match this path. */
  readonly asked: string;
}

/** The path segment before the name of a namespace. Part of the grammar of paths: all other segments are names of resources. */
export const NAMESPACES = "namespaces";

/** Subresources of a namespace itself, which look like resources in it. */
const NAMESPACE_SUBRESOURCES = ["status", "finalize"];

export function parsePath(encoded: string): RequestPath {
  const path = decode(encoded);
  const segments = path.split("/");
  segments.shift();
  if (segments.at(-1) === "") segments.pop();
  const resource =
    segments[0] === "api"
      ? underVersion("", segments, 1)
      : segments[0] === "apis"
        ? underVersion(segments[1] ?? "", segments, 2)
        : undefined;
  return resource ?? { is: "document", path: path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path, asked: path };
}

function decode(encoded: string): string {
  if (!encoded.includes("%")) return encoded;
  try {
    return decodeURIComponent(encoded);
  } catch {
    throw badRequest(`invalid URL escape in path ${JSON.stringify(encoded)}`);
  }
}

/** `at`: index of the version among the segments. */
function underVersion(group: string, segments: readonly string[], at: number): ResourcePath | undefined {
  const version = segments[at];
  const isWatchPath = segments[at + 1] === "watch" && segments.length > at + 2;
  const start = at + (isWatchPath ? 2 : 1);
  if (version === undefined || segments.length <= start) return undefined;
  const isNamespaced = segments[start] === NAMESPACES && segments.length > start + 2 && !isNamespaceSubresource(group, segments, start);
  const place = isNamespaced ? start + 2 : start;
  return {
    is: "resource",
    group,
    version,
    isWatchPath,
    namespace: isNamespaced ? (segments[start + 1] as string) : "",
    plural: segments[place] ?? "",
    name: segments[place + 1] ?? "",
    subresource: segments[place + 2] ?? "",
    rest: segments.length > place + 3 ? segments.slice(place + 3) : NO_SEGMENTS,
  };
}

const NO_SEGMENTS: readonly string[] = [];

function isNamespaceSubresource(group: string, segments: readonly string[], start: number): boolean {
  return group === "" && segments.length === start + 3 && NAMESPACE_SUBRESOURCES.includes(segments[start + 2] as string);
}

/** The verb of a method on a path; undefined if it has none. */
export function verbOf(method: string, { name, isWatchPath }: ResourcePath, isWatch: boolean): Verb | undefined {
  // Paths below /watch/ support watch only.
  if (isWatchPath && method !== "GET") return undefined;
  switch (method) {
    case "GET":
      if (isWatchPath) return "watch";
      if (name !== "") return "get";
      return isWatch ? "watch" : "list";
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
