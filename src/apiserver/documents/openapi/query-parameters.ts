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
    "Whether a watch may get events of type BOOKMARK, which say how far it has come. When they are sent is for the server to decide. Without a watch it means nothing.",
  ),
  continue: text(
    "The token of the previous page of this list, for the next one. All other parameters but the limit must be as they were. A token that is too old is answered with 410 and, if the list can go on at a newer version, another token.",
  ),
  dryRun: text("`All`: everything is done but writing, and the answer is what would have been written."),
  fieldManager: text(
    "Who makes this change, at most 128 printable characters: the owner of the fields that it sets. Required for server-side apply.",
  ),
  fieldSelector: text("Only objects whose fields have these values. Every kind has `metadata.name`; which others there are depends on it."),
  fieldValidation: text(
    "What becomes of fields that are unknown or given twice: `Ignore` drops them, `Warn` (the default) drops them and sends warnings, `Strict` refuses the request and names all of them.",
  ),
  force: flag("With server-side apply: take over fields that others own. Not allowed with other patches."),
  gracePeriodSeconds: count("How long the object may take to end. 0: it is deleted at once. Default: what its kind says."),
  ignoreStoreReadErrorWithClusterBreakingPotential: flag(
    "Delete the object also if what is stored of it cannot be read, without looking at finalizers and preconditions.",
  ),
  labelSelector: text("Only objects whose labels fit."),
  limit: count("The largest number of objects in one answer. If there are more, the answer has a token in `continue` for the next page."),
  orphanDependents: flag("Deprecated, use propagationPolicy. Whether the objects that this one owns stay."),
  pretty: text("If `true`, the answer is indented for people to read."),
  propagationPolicy: text(
    "What becomes of the objects that this one owns: `Orphan` leaves them, `Background` deletes them afterwards, `Foreground` deletes them first. Default: what the kind and its finalizers say.",
  ),
  resourceVersion: text("At or from which version is read. Absent: the newest. 0: any, whatever is at hand."),
  resourceVersionMatch: text("How resourceVersion is meant in a list: `Exact`, or `NotOlderThan`."),
  sendInitialEvents: flag(
    "Whether a watch begins with an event for every object that there is, and a bookmark with the annotation `k8s.io/initial-events-end` after them.",
  ),
  timeoutSeconds: count("How long a list or watch may take, whether or not something happens."),
  watch: flag("Whether changes are streamed, as events of type ADDED, MODIFIED, DELETED and BOOKMARK, instead of a list."),
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
