/**
 * A transport request as HTTP: method, path, query and body exactly as upstream's clients send them, since other servers read them, too.
 */
import { CAUSE_HEADER, formatCause } from "../cause.ts";
import { formatLeadership, LEADERSHIP_HEADER } from "../leadership.ts";
import { writeJson } from "../codec/json.ts";
import { JSON_TYPE } from "../codec/media-type.ts";
import { validatePathSegmentName } from "../names.ts";
import type { Verb } from "../resource.ts";
import { badRequest } from "../status-error.ts";
import type { PatchType, RequestOptions, TransportRequest } from "../transport.ts";

export interface RequestLine {
  readonly method: string;
  /** Including the query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Read-only, so that it may be retried. */
  readonly isRead: boolean;
}

const METHODS: Readonly<Record<Verb, string>> = {
  get: "GET",
  list: "GET",
  watch: "GET",
  create: "POST",
  update: "PUT",
  patch: "PATCH",
  delete: "DELETE",
  deletecollection: "DELETE",
};

const PATCH_TYPES: Readonly<Record<PatchType, string>> = {
  json: "application/json-patch+json",
  merge: "application/merge-patch+json",
  strategic: "application/strategic-merge-patch+json",
  // JSON is valid YAML.
  apply: "application/apply-patch+yaml",
};

/** Throws BadRequest if a name is invalid in a path: it would request something else. */
export function requestLine(request: TransportRequest): RequestLine {
  const { verb, patch, object, traceparent, cause, leadership } = request;
  const isRead = verb === "get" || verb === "list" || verb === "watch";
  const headers: Record<string, string> = {};
  if (traceparent !== undefined) headers["traceparent"] = traceparent;
  if (leadership !== undefined) headers[LEADERSHIP_HEADER] = formatLeadership(leadership);
  if (cause !== undefined) headers[CAUSE_HEADER] = formatCause(cause);
  const line = { method: METHODS[verb], path: `${pathOf(request)}${queryOf(verb, request.options)}`, headers, isRead };
  if (patch !== undefined) {
    headers["content-type"] = PATCH_TYPES[patch.type];
    return { ...line, body: writeJson(patch.value) };
  }
  if (object === undefined || isRead) return line;
  headers["content-type"] = JSON_TYPE;
  return { ...line, body: writeJson(object) };
}

function pathOf(request: TransportRequest): string {
  const { verb, group, version, plural, subresource = "", namespace = "", name = "" } = request;
  const root = group === "" ? `/api/${segment(version)}` : `/apis/${segment(group)}/${segment(version)}`;
  const place = namespace === "" ? "" : `/namespaces/${segment(namespace)}`;
  const collection = `${root}${place}/${segment(plural)}`;
  const isOfAll = verb === "list" || verb === "watch" || verb === "deletecollection" || (verb === "create" && subresource === "");
  if (isOfAll) return collection;
  if (name === "") throw badRequest("resource name may not be empty");
  return `${collection}/${segment(name)}${subresource === "" ? "" : `/${segment(subresource)}`}`;
}

/** Fast path: names that need no escaping, which is nearly all. */
const PLAIN_SEGMENT = /^[A-Za-z0-9_~-][A-Za-z0-9_.~-]*$/;

function segment(text: string): string {
  if (PLAIN_SEGMENT.test(text)) return text;
  const [wrong] = text === "" ? ["may not be empty"] : validatePathSegmentName(text);
  if (wrong !== undefined) throw badRequest(`invalid resource name ${JSON.stringify(text)}: [${wrong}]`);
  return encodeURIComponent(text);
}

/** Option names equal parameter names. */
const PARAMETERS: readonly (keyof RequestOptions)[] = [
  "labelSelector",
  "fieldSelector",
  "resourceVersion",
  "resourceVersionMatch",
  "limit",
  "continue",
  "timeoutSeconds",
  "allowWatchBookmarks",
  "sendInitialEvents",
  "dryRun",
  "fieldManager",
  "fieldValidation",
  "force",
  "gracePeriodSeconds",
  "propagationPolicy",
  "orphanDependents",
  "ignoreStoreReadErrorWithClusterBreakingPotential",
  "metricLabelSelector",
];

function queryOf(verb: Verb, options: RequestOptions = {}): string {
  let query = verb === "watch" ? "?watch=true" : "";
  for (const name of PARAMETERS) {
    const value = options[name];
    if (value === undefined) continue;
    for (const one of Array.isArray(value) ? value : [value])
      query += `${query === "" ? "?" : "&"}${name}=${encodeURIComponent(String(one))}`;
  }
  return query;
}
