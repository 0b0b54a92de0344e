/** The path and query parameters of the API with their descriptions. Operations name theirs (operations.ts). */

export interface Parameter {
  readonly in: "path" | "query";
  readonly type: "string" | "boolean" | "integer";
  readonly description: string;
}

export interface NamedParameter extends Parameter {
  readonly name: string;
}

function text(description: string): Parameter {
  return { in: "query", type: "string", description };
}

function flag(description: string): Parameter {
  return { in: "query", type: "boolean", description };
}

function count(description: string): Parameter {
  return { in: "query", type: "integer", description };
}

export type QueryParameter = keyof typeof QUERY_PARAMETERS;

export const QUERY_PARAMETERS = {
  allowWatchBookmarks: flag(
    "Allows BOOKMARK events, which report the progress of a watch. The server decides when to send them. Ignored without a watch.",
  ),
  continue: text(
    "Token from the previous page of this list. All other parameters except the limit must be unchanged. An expired token is answered with 410 and, if the list can continue at a newer version, a new token.",
  ),
  dryRun: text("`All`: processes the request without storing it, and returns the object that would have been stored."),
  fieldManager: text(
    "Name of the field manager, at most 128 printable characters, which becomes the owner of the fields set. Required for server-side apply.",
  ),
  fieldSelector: text("Selects objects by field values. `metadata.name` is supported for every kind; other fields depend on the kind."),
  fieldValidation: text(
    "Handling of unknown and duplicate fields: `Ignore` drops them, `Warn` (the default) drops them and returns warnings, `Strict` rejects the request and lists all of them.",
  ),
  force: flag("With server-side apply: takes ownership of conflicting fields. Not allowed with other patch types."),
  gracePeriodSeconds: count("Grace period in seconds. 0: deletes immediately. Default: depends on the kind."),
  ignoreStoreReadErrorWithClusterBreakingPotential: flag(
    "Deletes the object even if its stored data cannot be decoded, ignoring finalizers and preconditions.",
  ),
  labelSelector: text("Selects objects by labels."),
  limit: count("Maximum number of objects per response. If there are more, `continue` in the response has the token of the next page."),
  orphanDependents: flag("Deprecated, use propagationPolicy. Whether dependents are orphaned."),
  pretty: text("If `true`, the response is pretty-printed."),
  propagationPolicy: text(
    "Handling of dependents: `Orphan` keeps them, `Background` deletes them afterwards, `Foreground` deletes them first. Default: depends on the kind and its finalizers.",
  ),
  resourceVersion: text("The resource version to read at or to start from. Absent: the most recent. 0: any cached version."),
  resourceVersionMatch: text("How resourceVersion applies to a list: `Exact`, or `NotOlderThan`."),
  sendInitialEvents: flag(
    "Starts a watch with an event for every existing object, followed by a bookmark with the annotation `k8s.io/initial-events-end`.",
  ),
  timeoutSeconds: count("Timeout of a list or watch in seconds, regardless of activity."),
  watch: flag("Streams changes as events of type ADDED, MODIFIED, DELETED and BOOKMARK instead of returning a list."),
} as const satisfies Record<string, Parameter>;

export const LIST_PARAMETERS: readonly QueryParameter[] = [
  "allowWatchBookmarks",
  "continue",
  "fieldSelector",
  "labelSelector",
  "limit",
  "resourceVersion",
  "resourceVersionMatch",
  "sendInitialEvents",
  "timeoutSeconds",
  "watch",
];

export const WRITE_PARAMETERS: readonly QueryParameter[] = ["dryRun", "fieldManager", "fieldValidation"];

export const PATCH_PARAMETERS: readonly QueryParameter[] = [...WRITE_PARAMETERS, "force"];

export const DELETE_PARAMETERS: readonly QueryParameter[] = [
  "dryRun",
  "gracePeriodSeconds",
  "ignoreStoreReadErrorWithClusterBreakingPotential",
  "orphanDependents",
  "propagationPolicy",
];

export const DELETE_COLLECTION_PARAMETERS: readonly QueryParameter[] = [
  ...DELETE_PARAMETERS,
  ...LIST_PARAMETERS.filter((name) => name !== "allowWatchBookmarks" && name !== "watch"),
];
