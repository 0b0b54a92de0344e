/**
 * The explain API of the API server, read-only, below /debug/k8ts: paths and types of the JSON that it returns. docs/explain.md describes
 * parameters and permissions. Everything is a fact that was recorded when it happened; what is no longer kept is an error, not a guess.
 *
 * Not here: recording (apiserver/storage/recorded-causes.ts), serving (apiserver/documents/explain), conclusions (explain/why).
 */
import type { Cause } from "../api/machinery/cause.ts";
import type { Json, KubeObject } from "../api/machinery/object.ts";

/** Writes and refused requests, oldest first: a CauseList, or with `?watch=true` one CauseEvent per line. */
export const CAUSES_PATH = "/debug/k8ts/causes";
/** `?pod=NAMESPACE/NAME`: a DecisionList, the scheduler's last decisions about the Pod. */
export const DECISIONS_PATH = "/debug/k8ts/decisions";
/** `?resource=&namespace=&name=&at=`: a HistoricalObject; without `name`: a HistoricalList. */
export const HISTORY_PATH = "/debug/k8ts/history";
/** `?resource=&namespace=&name=`: a RevisionList, the versions of one object that the store still has. */
export const REVISIONS_PATH = "/debug/k8ts/history/revisions";
/** `?resource=&namespace=&name=&from=&to=`: an ObjectDiff, the changed fields with the writer of each. */
export const DIFF_PATH = "/debug/k8ts/history/diff";

/** A Timeline: how far back the history goes, and when something was written. */
export const TIMELINE_PATH = "/debug/k8ts/history/timeline";

export const EXPLAIN_API_VERSION = "debug.k8ts.io/v1";

/** One commit of an object, or one refused request. */
export interface CauseItem {
  /** Position in the sequence of one API server, increasing; survives a restart where causes are kept on disk. */
  readonly id: number;
  /** RFC 3339 with microseconds. */
  readonly time: string;
  /** Revision of the commit: of the object after the write, or of its deletion. Absent: the request was refused. */
  readonly resourceVersion?: string;
  /** `Audit-Id` of the request: joins the record with the response, the audit log and the server's log. All commits of one request share it. */
  readonly requestID?: string;
  readonly verb: string;
  /** "pods", "deployments.apps". */
  readonly resource: string;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly user: string;
  readonly userAgent: string;
  /** The commit removed the object. */
  readonly deleted?: true;
  /** Absent: a user's own decision, or a client that is not trusted to name its cause. */
  readonly cause?: Cause;
  /** How the request went through the API server; absent: of an older record. */
  readonly stages?: RequestStages;
  /** Admission plugins that changed the object, in order; absent: none did. */
  readonly admission?: readonly AdmissionStep[];
  /** Why the request was refused. */
  readonly refusal?: Refusal;
}

/** Who decided in each stage of a request, and how long it took. A stage that the request did not reach is absent. */
export interface RequestStages {
  /**
   * "client certificate", "service account token". Absent: a component in the process of the API server, which needs no credential.
   * `impersonator`: the authenticated user, if the request impersonates another.
   */
  readonly authentication?: { readonly by: string; readonly impersonator?: string; readonly microseconds: number };
  /** `by`: "RBAC", "Node", or "system:masters", whose members may do everything. `reason`: the authorizer's own text. */
  readonly authorization?: { readonly by?: string; readonly reason?: string; readonly microseconds: number };
  /**
   * Admission plugins, webhooks and policies together. `auditAnnotations`: what webhooks and policies state for the audit of the request, and
   * which webhooks were called, by upstream's keys; absent: nothing.
   */
  readonly admission?: { readonly microseconds: number; readonly auditAnnotations?: Readonly<Record<string, string>> };
  /** From the end of admission to the acknowledged commit. */
  readonly store?: { readonly microseconds: number };
}

/** One admission plugin that changed the object, and what it called. */
export interface AdmissionStep {
  /** "ServiceAccount", "MutatingAdmissionWebhook". */
  readonly plugin: string;
  /** The changed top-level and second-level fields: "spec.volumes", "metadata.annotations". */
  readonly changed: readonly string[];
}

export interface Refusal {
  /** HTTP code. */
  readonly code: number;
  /** Reason of the Status: "Forbidden", "Invalid", "Conflict". */
  readonly reason: string;
  readonly message: string;
  /** The stage that refused: "authorization", "admission", or "write" for validation and conflicts. */
  readonly stage: "authorization" | "admission" | "write";
  /** The admission plugin that refused: "ResourceQuota", "PodSecurity", "ValidatingAdmissionWebhook". */
  readonly plugin?: string;
}

export interface CauseList {
  readonly kind: "CauseList";
  readonly apiVersion: string;
  readonly metadata: {
    /** The `id` of the oldest kept record, before filtering; 0: none. */
    readonly oldest: number;
    /** The `id` of the newest record, before filtering: pass it as `after` to watch what follows. 0: none. */
    readonly newest: number;
    /** Pass it as `continue` for the next page; absent on the last one. */
    readonly continue?: string;
  };
  readonly items: readonly CauseItem[];
}

/** One line of a watch. "ERROR" is the last one: `object` is a Status. */
export type CauseEvent = { readonly type: "ADDED"; readonly object: CauseItem } | { readonly type: "ERROR"; readonly object: Json };

export interface HistoricalObject {
  readonly kind: "HistoricalObject";
  readonly apiVersion: string;
  /** The revision at which the object was read. */
  readonly revision: string;
  /** As stored then, in the storage version; absent: it did not exist at that revision. */
  readonly object?: KubeObject;
}

export interface HistoricalList {
  readonly kind: "HistoricalList";
  readonly apiVersion: string;
  readonly metadata: { readonly revision: string; readonly continue?: string };
  readonly items: readonly KubeObject[];
}

export interface RevisionList {
  readonly kind: "RevisionList";
  readonly apiVersion: string;
  readonly metadata: {
    /** Revisions before this one are compacted. */
    readonly oldest: string;
    /** Revision of the store when it was read. */
    readonly newest: string;
    /** There are more versions than one response has: older ones are missing. */
    readonly truncated?: true;
  };
  /** Oldest first. The version that existed already at `metadata.oldest` comes first, with its own, older revision. */
  readonly items: readonly RevisionItem[];
}

export interface RevisionItem {
  readonly revision: string;
  /** Absent: the cause of this write is no longer kept. */
  readonly time?: string;
  readonly deleted?: true;
  /** The recorded write. */
  readonly write?: CauseItem;
}

export interface Timeline {
  readonly kind: "Timeline";
  readonly apiVersion: string;
  readonly metadata: {
    /** Revisions before this one are compacted. */
    readonly oldest: string;
    /** Revision of the store when it was read. */
    readonly newest: string;
  };
  /** Recorded writes that the store still has, oldest first; consecutive ones are combined if there are many. */
  readonly items: readonly TimelinePoint[];
}

export interface TimelinePoint {
  /** Of the last write of the point. */
  readonly revision: string;
  /** Of the last write of the point, RFC 3339 with microseconds. */
  readonly time: string;
  /** Number of writes. */
  readonly writes: number;
}

export interface ObjectDiff {
  readonly kind: "ObjectDiff";
  readonly apiVersion: string;
  /** Absent on the side where the object did not exist. */
  readonly from: { readonly revision: string; readonly exists: boolean };
  readonly to: { readonly revision: string; readonly exists: boolean };
  readonly changes: readonly FieldChange[];
}

export interface FieldChange {
  /** Members and indexes: ["spec", "template", "spec", "containers", 0, "image"]. */
  readonly path: readonly (string | number)[];
  /** Absent: the field was added. */
  readonly before?: Json;
  /** Absent: the field was removed. */
  readonly after?: Json;
  /** Field managers that own the field after the change, or owned it before its removal; absent: unknown. */
  readonly managers?: readonly FieldWriter[];
  /** The last recorded write between the two revisions that changed this field; absent: no longer known. */
  readonly write?: CauseItem;
}

export interface FieldWriter {
  readonly manager: string;
  readonly operation: string;
  readonly time?: string;
  readonly subresource?: string;
}
