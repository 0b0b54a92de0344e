/**
 * The contract of writes that a plugin makes itself, such as the deletion of an eviction. They pass admission, validation and
 * allocation like every other write. The engine implements it (apiserver/write/object-writes.ts).
 */
import type { ManagedFields } from "../../../api/machinery/apply/managed-fields.ts";
import type { KubeObject, ManagedFieldsEntry } from "../../../api/machinery/object.ts";
import type { Subresource } from "../../../api/machinery/resource.ts";
import type { Endpoint } from "../endpoints.ts";
import type { ApiRequest } from "../request.ts";
import type { DeleteOptions } from "./delete-options.ts";
import type { ObjectName } from "./object-key.ts";
import type { StoredObject } from "./storage.ts";

export interface ObjectWrites {
  /** Updates one object, retrying if another writer was first. Rejects with a StatusError. */
  update(update: ObjectUpdate): Promise<UpdateResult>;
  delete(deletion: ObjectDeletion): Promise<DeleteResult>;
  /** A new, complete object of the server's own, to be committed alongside another write. Its fields belong to kube-apiserver. */
  ownObject(endpoint: Endpoint, object: KubeObject): StoredObject;
}

export interface NewObject {
  /** In the version of the request, decoded and defaulted, without managedFields. */
  readonly object: KubeObject;
  /** managedFields as the client sent them, if it did. */
  readonly sentManagedFields?: readonly ManagedFieldsEntry[];
  /** Set by server-side apply, which computes them, and by writes that claim no fields. */
  readonly managed?: ManagedFields;
}

export interface NextObject extends NewObject {
  /** The resourceVersion that the client requires; "" or "0" for none: then the present state is replaced, if the kind allows. */
  readonly resourceVersion: string;
}

export interface ObjectUpdate {
  readonly endpoint: Endpoint;
  readonly request: ApiRequest;
  readonly subresource?: Extract<Subresource, { readonly of: "object" }>;
  /** Computes the next state. Called again after a conflict. `current` is undefined if the object does not exist and may be created. */
  next(current: StoredObject | undefined): NextObject | Promise<NextObject>;
  readonly createsIfAbsent: boolean;
}

export interface UpdateResult {
  readonly created: boolean;
  readonly object: StoredObject;
}

export interface ObjectDeletion {
  readonly endpoint: Endpoint;
  readonly request: ApiRequest;
  readonly name: ObjectName;
  readonly options: DeleteOptions;
}

export interface DeleteResult {
  /** False: it stays until its grace period ends or its finalizers are removed. */
  readonly removed: boolean;
  readonly object: StoredObject;
}

/** The subresource of an update by the server itself: `next` decides what changes, so nothing is reset. */
export const UNCHECKED: Extract<Subresource, { readonly of: "object" }> = { of: "object", verbs: [], prepareForUpdate: (next) => next };
