/**
 * The live set of what is served: every resource under each of its groups and versions. It can grow and shrink while the server
 * runs, since custom resources are the same thing as built-in ones; discovery and OpenAPI are told when it does.
 */
import { apiVersionOf } from "../../api/machinery/object.ts";
import type { Resource, ServedVersion } from "../../api/machinery/resource.ts";
import type { ObjectSchema, SchemaSet } from "../../api/machinery/schema.ts";
import type { ResourceName } from "../../api/machinery/status-error.ts";
import { foreignReader } from "../storage/foreign-value.ts";
import { ObjectFormat } from "../storage/object-format.ts";
import { ResourceStorage, type StorageContext } from "../storage/resource-storage.ts";

/** One resource in one group and version. */
export interface Endpoint {
  readonly resource: Resource;
  readonly served: ServedVersion;
  readonly apiVersion: string;
  readonly schema: ObjectSchema;
  /** All endpoints of a resource share one. Those of a resource that is not stored have one that is never used. */
  readonly storage: ResourceStorage;
  /** How objects are written in this version. */
  readonly format: ObjectFormat;
  readonly listKind: string;
  /** As messages name it here. */
  readonly name: ResourceName;
}

export class Endpoints {
  readonly #context: StorageContext;
  readonly #schemas: SchemaSet;
  /** By `<group>/<version>/<plural>`; in the order of adding, which is the order of discovery. */
  readonly #byPath = new Map<string, Endpoint>();
  /** Those in their storage version, by `<group>/<plural>`. */
  readonly #stored = new Map<string, Endpoint>();
  readonly #listeners = new Set<() => void>();

  constructor(context: StorageContext, schemas: SchemaSet) {
    this.#context = context;
    this.#schemas = schemas;
  }

  add(resource: Resource, schemas: SchemaSet = this.#schemas): void {
    const storage = new ResourceStorage(resource, this.#context, foreignReader(resource, schemas));
    for (const served of resource.served) {
      const path = pathOf(served.group, served.version, resource.plural);
      if (this.#byPath.has(path)) throw new Error(`Cannot serve ${path} twice`);
      const endpoint = endpointOf(resource, served, storage, schemas);
      this.#byPath.set(path, endpoint);
      if (served.version === resource.storage.version) this.#stored.set(`${served.group}/${resource.plural}`, endpoint);
    }
    this.#tell();
  }

  remove(resource: Resource): void {
    for (const [path, endpoint] of this.#byPath) {
      if (endpoint.resource !== resource) continue;
      this.#byPath.delete(path);
      this.#stored.delete(`${endpoint.served.group}/${resource.plural}`);
      endpoint.storage.close();
    }
    this.#tell();
  }

  find(group: string, version: string, plural: string): Endpoint | undefined {
    return this.#byPath.get(pathOf(group, version, plural));
  }

  /** The endpoint of a resource in its storage version, for parts of the server that need another resource (namespaces). */
  stored(group: string, plural: string): Endpoint | undefined {
    return this.#stored.get(`${group}/${plural}`);
  }

  all(): IterableIterator<Endpoint> {
    return this.#byPath.values();
  }

  /** Called after each change of the set. Returns how to stop. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  close(): void {
    for (const { storage } of this.#byPath.values()) storage.close();
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }
}

function pathOf(group: string, version: string, plural: string): string {
  return `${group}/${version}/${plural}`;
}

function endpointOf(resource: Resource, served: ServedVersion, storage: ResourceStorage, schemas: SchemaSet): Endpoint {
  const schema = schemas.get(served.schema);
  if (schema?.type !== "object") throw new Error(`Cannot serve ${resource.kind}: there is no schema ${served.schema}`);
  const apiVersion = apiVersionOf(served);
  return {
    resource,
    served,
    apiVersion,
    schema,
    storage,
    format: new ObjectFormat({ apiVersion, kind: resource.kind }),
    listKind: `${resource.kind}List`,
    name: { group: served.group, plural: resource.plural },
  };
}
