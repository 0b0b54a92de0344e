/**
 * The contract of what a kind needs and cannot be pure: addresses and ports that must be unique, answers that are not stored,
 * subresources that make something happen. One folder per kind, strangers to each other; all.ts lists them. The rest of the API server
 * knows no kind by name.
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
  /** Whether whoever asks may write just this: after mutating admission, before the rules. Throws a StatusError (403) to refuse. */
  permit?(write: PermittedWrite): Promise<void> | void;
  /** What is wrong with a write that the object alone cannot show. Told with what the kind's own rules find, before it. */
  validate?(write: CheckedWrite): Promise<Iterable<FieldError>>;
  /** Called for each create and update, after the kind's own rules, of an object that is valid. In the storage version. */
  allocate?(write: AllocatedWrite): Promise<Allocation> | Allocation;
  /** What goes along with an object that goes. */
  release?(object: KubeObject): Promise<Release>;
  /** Answers a create of a kind that is not stored. The object is valid. */
  answer?(call: ActionCall): Promise<Outcome> | Outcome;
  /** All objects, at this moment, of a kind that is read and not stored. */
  objects?(): Promise<readonly KubeObject[]>;
  /** Called once at start, when the objects that every cluster has exist: repairs what a crash left inconsistent. */
  repair?(): Promise<void>;
  /** Subresources of: "action", by name. */
  readonly actions?: Readonly<Record<string, (call: ActionCall) => Promise<Outcome>>>;
}

export interface PermittedWrite {
  /** In the storage version, as it was sent and admitted. */
  readonly object: KubeObject;
  /** Absent: it is a create. */
  readonly previous?: KubeObject;
  readonly request: ApiRequest;
}

export interface CheckedWrite {
  readonly object: KubeObject;
  /** Absent: it is a create. */
  readonly previous?: KubeObject;
  /** "" if the object itself is written. */
  readonly subresource: string;
  /** Where what is right depends on who asks. */
  readonly request: ApiRequest;
}

export interface AllocatedWrite {
  readonly object: KubeObject;
  /** Absent: it is a create. */
  readonly previous?: KubeObject;
  readonly dryRun: boolean;
}

export interface Allocation {
  readonly object: KubeObject;
  /** Written with the object or not at all. If only these fail, another server was first, and everything is worked out again. */
  readonly alongside?: readonly Operation[];
  /** Called exactly once, when it is known whether the write happened; what it did not need is given back. */
  settle(written: boolean): void | Promise<void>;
}

export interface Release {
  /** Written with the deletion or not at all. A commit changes at most one object of a kind. */
  readonly alongside: readonly Operation[];
  /** When the object is gone: what did not fit into the same commit. */
  afterwards(): Promise<void>;
}

export interface ActionCall {
  readonly endpoint: Endpoint;
  readonly request: ApiRequest;
  /** What was sent, decoded and checked by its schema. */
  readonly object: KubeObject;
}

/** Nothing to allocate. */
export function unallocated(object: KubeObject): Allocation {
  return { object, settle() {} };
}
