/**
 * The contract of requests that the server sends on its own behalf, such as those that create built-in objects. They pass the same
 * pipeline as all others. The engine implements it (apiserver/pipeline/own-requests.ts).
 */
import type { Cause } from "../../api/machinery/cause.ts";
import type { KubeObject } from "../../api/machinery/object.ts";
import type { User } from "./request.ts";
import type { StoredObject } from "./storage/storage.ts";

/** The user of these requests. */
export const SERVER: User = { name: "system:apiserver", groups: ["system:masters"] };

/** A resource in a version and namespace. */
export interface Place {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  /** "" for cluster-scoped resources. */
  readonly namespace: string;
}

export interface OwnRequests {
  /** The same requests with another cause on every write. */
  because(cause: Omit<Cause, "controller">): OwnRequests;
  get(place: Place, name: string): Promise<StoredObject | undefined>;
  /** Creates the object if it is missing. An existing one stays as it is: another API server of the cluster may have been first. */
  make(place: Place, object: KubeObject): Promise<StoredObject>;
  /** The same without reading first. */
  makeMissing(place: Place, object: KubeObject): Promise<StoredObject>;
  /** Updates the object, unless it changed since it was read: then the other writer wins for now. */
  put(place: Place, object: KubeObject, subresource?: string): Promise<void>;
  /** Deletes the object with this uid; another one of the same name is kept. */
  remove(place: Place, object: KubeObject): Promise<void>;
  /** Sets labels. A deleted object, or one that another writer changes at the same time, is left unchanged. */
  label(place: Place, name: string, labels: Readonly<Record<string, string>>): Promise<void>;
  /** Server-side apply with force. */
  apply(place: Place, object: KubeObject, fieldManager: string, subresource?: string): Promise<StoredObject>;
}
