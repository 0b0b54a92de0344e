/**
 * The authorization attributes of a request, from its path and query alone, before the resource is looked up: as upstream computes them.
 * Invalid requests are not detected here; the handler rejects them.
 */
import type { AccessAttributes, AccessedResource } from "../authorization.ts";
import { chosenName } from "./access.ts";
import type { ExchangeRequest } from "../exchange.ts";
import type { User } from "../request.ts";
import { NAMESPACES, parsePath, type ResourcePath } from "./request-path.ts";

const VERBS: Readonly<Record<string, string>> = {
  GET: "get",
  HEAD: "get",
  POST: "create",
  PUT: "update",
  PATCH: "patch",
  DELETE: "delete",
};

const NO_PARAMETERS = new URLSearchParams();

/** Verbs on collections, which accept selectors. */
const VERBS_WITH_SELECTORS = ["list", "watch", "deletecollection"];

export function requestedAccess(request: ExchangeRequest, user: User): AccessAttributes {
  const path = parsePath(request.path);
  if (path.is === "document") return { user, verb: request.method.toLowerCase(), path: path.asked };
  const query = request.query === "" ? NO_PARAMETERS : new URLSearchParams(request.query);
  const verb = verbOf(request.method, path, query);
  return { user, verb, resource: resourceOf(path, verb, query), path: "" };
}

function verbOf(method: string, { name, isWatchPath }: ResourcePath, query: URLSearchParams): string {
  if (isWatchPath) return "watch";
  const verb = Object.hasOwn(VERBS, method) ? (VERBS[method] as string) : "";
  if (name !== "") return verb;
  if (verb === "get") return isWatch(query) ? "watch" : "list";
  return verb === "delete" ? "deletecollection" : verb;
}

function isWatch(query: URLSearchParams): boolean {
  const value = query.get("watch");
  return value !== null && value !== "0" && value.toLowerCase() !== "false";
}

function resourceOf(path: ResourcePath, verb: string, query: URLSearchParams): AccessedResource {
  const { group, version, plural, subresource, name, isWatchPath } = path;
  const isRead = verb === "list" || verb === "watch";
  return {
    group,
    version,
    plural,
    subresource,
    // The namespace attribute of a namespace is its own name, so that a role in it can grant reading it.
    namespace: path.namespace === "" && plural === NAMESPACES ? name : path.namespace,
    name: name === "" && isRead ? chosenName(query.get("fieldSelector") ?? "") : name,
    ...(isWatchPath || !VERBS_WITH_SELECTORS.includes(verb) ? {} : selectorsOf(query)),
  };
}

function selectorsOf(query: URLSearchParams): Pick<AccessedResource, "fieldSelector" | "labelSelector"> {
  const [fieldSelector, labelSelector] = [query.get("fieldSelector"), query.get("labelSelector")];
  return { ...(fieldSelector === null ? {} : { fieldSelector }), ...(labelSelector === null ? {} : { labelSelector }) };
}
