/** The endpoints of one server. Each resource gets one storage with one cache, which all its versions share. */
import { apiVersionOf } from "../../api/machinery/object.ts";
import type { Resource, ServedVersion } from "../../api/machinery/resource.ts";
import type { SchemaSet } from "../../api/machinery/schema.ts";
import type { Endpoint, Endpoints } from "../framework/endpoints.ts";
import type { ResourceStorage } from "../framework/storage/storage.ts";
import { foreignReader } from "./foreign-value.ts";
import { ObjectFormat } from "./object-format.ts";
import { CachedResourceStorage, type StorageContext } from "./resource-storage.ts";

export class ServedEndpoints implements Endpoints {
  readonly #context: StorageContext;
  readonly #schemas: SchemaSet;
  /** By `<group>/<version>/<plural>`; in the order of adding, which is the order of discovery. */
  readonly #byPath = new Map<string, Endpoint>();
  /** Endpoints in their storage version, by `<group>/<plural>`. */
  readonly #stored = new Map<string, Endpoint>();
  readonly #served = new Set<Endpoint>();
  readonly #listeners = new Set<() => void>();

  constructor(context: StorageContext, schemas: SchemaSet) {
    this.#context = context;
    this.#schemas = schemas;
  }

  add(resource: Resource, schemas: SchemaSet = this.#schemas): void {
    const storage = new CachedResourceStorage(resource, this.#context, foreignReader(resource, schemas));
    for (const served of resource.served) {
      const path = pathOf(served.group, served.version, resource.plural);
      if (this.#byPath.has(path)) throw new Error(`Cannot serve ${path} twice`);
      const endpoint = endpointOf(resource, served, storage, schemas);
      this.#byPath.set(path, endpoint);
      this.#served.add(endpoint);
      if (served.version === resource.storage.version) this.#stored.set(`${served.group}/${resource.plural}`, endpoint);
    }
    this.#notify();
  }

  remove(resource: Resource): void {
    for (const [path, endpoint] of this.#byPath) {
      if (endpoint.resource !== resource) continue;
      this.#byPath.delete(path);
      this.#served.delete(endpoint);
      this.#stored.delete(`${endpoint.served.group}/${resource.plural}`);
      endpoint.storage.close();
    }
    this.#notify();
  }

  find(group: string, version: string, plural: string): Endpoint | undefined {
    return this.#byPath.get(pathOf(group, version, plural));
  }

  serves(endpoint: Endpoint): boolean {
    return this.#served.has(endpoint);
  }

  stored(group: string, plural: string): Endpoint | undefined {
    return this.#stored.get(`${group}/${plural}`);
  }

  all(): IterableIterator<Endpoint> {
    return this.#byPath.values();
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  close(): void {
    for (const { storage } of this.#byPath.values()) storage.close();
  }

  #notify(): void {
    for (const listener of this.#listeners) listener();
  }
}

function pathOf(group: string, version: string, plural: string): string {
  return `${group}/${version}/${plural}`;
}

function endpointOf(resource: Resource, served: ServedVersion, storage: ResourceStorage, schemas: SchemaSet): Endpoint {
  const schema = schemas.get(served.schema);
  if (schema?.type !== "object") throw new Error(`Cannot serve ${resource.kind}: schema ${served.schema} does not exist`);
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
