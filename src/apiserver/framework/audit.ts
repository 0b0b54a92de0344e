/**
 * The contract of the audit log: the policy that says what is recorded of a request, what the stages of a request report for its events,
 * and where the events go. Types and names only; upstream's (audit.k8s.io/v1).
 */
import type { Json, JsonObject } from "../../api/machinery/object.ts";

/** In ascending order: a level records what the one before it does, and more. */
export const AUDIT_LEVELS = ["None", "Metadata", "Request", "RequestResponse"] as const;
export type AuditLevel = (typeof AUDIT_LEVELS)[number];

export const AUDIT_STAGES = ["RequestReceived", "ResponseStarted", "ResponseComplete", "Panic"] as const;
export type AuditStage = (typeof AUDIT_STAGES)[number];

export interface AuditPolicy {
  /** The first one that matches decides; none: nothing is recorded. */
  readonly rules: readonly AuditRule[];
  readonly omitStages: readonly AuditStage[];
  readonly omitManagedFields: boolean;
}

/** Empty lists match everything. */
export interface AuditRule {
  readonly level: AuditLevel;
  readonly users: readonly string[];
  readonly userGroups: readonly string[];
  readonly verbs: readonly string[];
  readonly resources: readonly AuditedResources[];
  /** "": resources without a namespace. */
  readonly namespaces: readonly string[];
  readonly nonResourceUrls: readonly string[];
  /** Besides those of the policy. */
  readonly omitStages: readonly AuditStage[];
  /** Absent: as the policy says. */
  readonly omitManagedFields?: boolean;
}

export interface AuditedResources {
  /** "*": all groups. */
  readonly group: string;
  /** "pods", "pods/log", "pods/*", every resource with "/scale" or "*"; empty: all. */
  readonly resources: readonly string[];
  readonly resourceNames: readonly string[];
}

/** What the stages of a request report for its audit events. */
export interface AuditNotes {
  /** The first value of a key stays. */
  annotate(key: string, value: string): void;
  /** The same, but only from the level Request on: it has parts of an object. */
  annotateRequest(key: string, value: () => string): void;
  authorized(decision: { readonly allowed: boolean; readonly reason?: string }): void;
  /** The decoded body. */
  received(object: JsonObject): void;
  receivedPatch(patch: Json): void;
  /** An error that is not the client's. */
  panicked(error: unknown): void;
}

export interface AuditSink {
  /** Takes one event in JSON, without a line break. Must neither block nor throw. */
  write(event: string): void;
  /** Events that could not be stored so far. */
  readonly lostCount: number;
}
