/**
 * The live set of served endpoints: every resource under each of its groups and versions. It can grow and shrink while the server runs,
 * since custom resources are added and removed like built-in ones; discovery and OpenAPI subscribe to changes. The engine implements it
 * (apiserver/storage/served-endpoints.ts).
 */
import type { Resource, ServedVersion } from "../../api/machinery/resource.ts";
import type { ObjectSchema, SchemaSet } from "../../api/machinery/schema.ts";
import type { ResourceName } from "../../api/machinery/status-error.ts";
import type { ObjectEncoding, ResourceStorage } from "./storage/storage.ts";

/** One resource in one group and version. */
export interface Endpoint {
  readonly resource: Resource;
  readonly served: ServedVersion;
  readonly apiVersion: string;
  readonly schema: ObjectSchema;
  /** Shared by all endpoints of a resource. Never used if the resource is not stored. */
  readonly storage: ResourceStorage;
  readonly schemas: SchemaSet;
  /** How objects are encoded in this version. */
  readonly format: ObjectEncoding;
  readonly listKind: string;
  /** The resource's name in messages of this version. */
  readonly name: ResourceName;
}

export interface Endpoints {
  /** `schemas`: default: the server's. */
  add(resource: Resource, schemas?: SchemaSet): void;
  remove(resource: Resource): void;
  /**
   * Serves `next` instead of `previous` from now on. Requests in progress finish with the previous definition; watches of it end soon, and
   * clients resume them with the next one.
   */
  replace(previous: Resource, next: Resource, schemas: SchemaSet): void;
  find(group: string, version: string, plural: string): Endpoint | undefined;
  /** False after the resource was removed, also if another of the same name was added since. */
  serves(endpoint: Endpoint): boolean;
  /** The endpoint of a resource in its storage version, for code that reads another resource (namespaces). */
  stored(group: string, plural: string): Endpoint | undefined;
  /** In the order of adding, which is the order of discovery. */
  all(): IterableIterator<Endpoint>;
  /** Calls back after each change of the set. Returns the function that unsubscribes. */
  onChange(listener: () => void): () => void;
}
