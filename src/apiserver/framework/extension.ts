/**
 * The contract of what a kind needs and cannot be pure: unique addresses and ports, answers that are not stored, subresources with side
 * effects. One folder per kind, independent of each other; all.ts lists them. The rest of the API server knows no kind by name.
 */
import type { FieldError } from "../../api/machinery/field-error.ts";
import type { KubeObject } from "../../api/machinery/object.ts";
import type { Operation } from "../../store/store.ts";
import type { Endpoint } from "./endpoints.ts";
import type { Outcome } from "./outcome.ts";
import type { ApiRequest } from "./request.ts";

export interface ResourceExtension {
  readonly group: string;
  readonly plural: string;
  /** Authorizes this particular write: after mutating admission, before validation. Throws a StatusError (403) to reject. */
  permit?(write: PermittedWrite): Promise<void> | void;
  /** Errors of a write that the object alone does not show. Reported before those of the kind's own validation. */
  validate?(write: CheckedWrite): Promise<Iterable<FieldError>>;
  /** Called for each create and update of a valid object, after the kind's own validation. In the storage version. */
  allocate?(write: AllocatedWrite): Promise<Allocation> | Allocation;
  /** Operations that are committed with a deletion. */
  release?(object: KubeObject): Promise<Release>;
  /** Answers a create of a kind that is not stored. The object is valid. */
  answer?(call: ActionCall): Promise<Outcome> | Outcome;
  /** All current objects, or those of the namespace, of a kind that is readable but not stored. */
  objects?(wanted: WantedObjects): Promise<readonly KubeObject[]>;
  /** Called once at start, when the objects that every cluster has exist: repairs what a crash left inconsistent. */
  repair?(): Promise<void>;
  /** Subresources with side effects, by name. */
  readonly actions?: Readonly<Record<string, (call: ActionCall) => Promise<Outcome>>>;
}

export interface WantedObjects {
  /** "" for all. */
  readonly namespace: string;
  /** False: an object of this name and these labels is not needed, and computing it would be wasted. */
  selects(metadata: KubeObject["metadata"]): boolean;
}

export interface PermittedWrite {
  /** In the storage version, as sent and admitted. */
  readonly object: KubeObject;
  /** Absent for a create. */
  readonly previous?: KubeObject;
  readonly request: ApiRequest;
}

export interface CheckedWrite {
  readonly object: KubeObject;
  /** Absent for a create. */
  readonly previous?: KubeObject;
  /** "" for the object itself. */
  readonly subresource: string;
  /** For rules that depend on the user. */
  readonly request: ApiRequest;
}

export interface AllocatedWrite {
  readonly object: KubeObject;
  /** Absent for a create. */
  readonly previous?: KubeObject;
  readonly dryRun: boolean;
}

export interface Allocation {
  readonly object: KubeObject;
  /** Committed with the object or not at all. If only these conflict, another server was first, and the whole write is repeated. */
  readonly alongside?: readonly Operation[];
  /** Called exactly once, when the result of the write is known; releases what was not needed. */
  settle(written: boolean): void | Promise<void>;
}

export interface Release {
  /** Committed with the deletion or not at all. A commit changes at most one object of a kind. */
  readonly alongside: readonly Operation[];
  /** Called after the deletion, for what did not fit into the same commit. */
  afterwards(): Promise<void>;
}

export interface ActionCall {
  readonly endpoint: Endpoint;
  readonly request: ApiRequest;
  /** The body, decoded and validated by its schema. */
  readonly object: KubeObject;
}

/** Nothing to allocate. */
export function unallocated(object: KubeObject): Allocation {
  return { object, settle() {} };
}
