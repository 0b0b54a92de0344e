/** The endpoints of one server. Each resource gets one storage with one cache, which all its versions share. */
import { apiVersionOf } from "../../api/machinery/object.ts";
import type { Resource, ServedVersion } from "../../api/machinery/resource.ts";
import type { ObjectSchema, SchemaSet } from "../../api/machinery/schema.ts";
import type { Endpoint, Endpoints } from "../framework/endpoints.ts";
import type { ResourceStorage } from "../framework/storage/storage.ts";
import { foreignReader } from "./foreign-value.ts";
import { ObjectFormat } from "./object-format.ts";
import { CachedResourceStorage, type StorageContext } from "./resource-storage.ts";

/** Time that requests in progress have to finish with a replaced definition; as upstream, which then ends its watches. */
const RETIREMENT_MS = 1_000;

export class ServedEndpoints implements Endpoints {
  readonly #context: StorageContext;
  readonly #schemas: SchemaSet;
  /** By `<group>/<version>/<plural>`; in the order of adding, which is the order of discovery. */
  readonly #byPath = new Map<string, Endpoint>();
  /** Endpoints in their storage version, by `<group>/<plural>`. */
  readonly #stored = new Map<string, Endpoint>();
  readonly #served = new Set<Endpoint>();
  readonly #listeners = new Set<() => void>();
  /** Replaced storages that requests in progress still use. */
  readonly #retiring = new Set<ResourceStorage>();
  readonly #stop = new AbortController();

  constructor(context: StorageContext, schemas: SchemaSet) {
    this.#context = context;
    this.#schemas = schemas;
  }

  add(resource: Resource, schemas: SchemaSet = this.#schemas): void {
    const endpoints = this.#endpointsOf(resource, schemas);
    for (const path of endpoints.keys()) if (this.#byPath.has(path)) throw new Error(`Cannot serve ${path} twice`);
    this.#serve(endpoints);
    this.#notify();
  }

  remove(resource: Resource): void {
    for (const storage of this.#withdraw(resource, new Set())) storage.close();
    this.#notify();
  }

  replace(previous: Resource, next: Resource, schemas: SchemaSet): void {
    const endpoints = this.#endpointsOf(next, schemas);
    // The paths that remain keep their place in discovery; a version that is not served any more does not remain.
    const remaining = [...endpoints].filter(([, { served }]) => served.isHidden !== true).map(([path]) => path);
    const replaced = this.#withdraw(previous, new Set(remaining));
    this.#serve(endpoints);
    for (const storage of replaced) this.#retire(storage);
    this.#notify();
  }

  #endpointsOf(resource: Resource, schemas: SchemaSet): ReadonlyMap<string, Endpoint> {
    const readForeign = resource.completesStored === true ? undefined : foreignReader(resource, schemas);
    const storage = new CachedResourceStorage(resource, this.#context, readForeign);
    return new Map(
      resource.served.map((served) => [
        pathOf(served.group, served.version, resource.plural),
        endpointOf(resource, served, storage, schemas),
      ]),
    );
  }

  #serve(endpoints: ReadonlyMap<string, Endpoint>): void {
    for (const [path, endpoint] of endpoints) {
      const { served, resource } = endpoint;
      if (served.version === resource.storage.version) this.#stored.set(`${served.group}/${resource.plural}`, endpoint);
      if (served.isHidden === true) continue;
      this.#byPath.set(path, endpoint);
      this.#served.add(endpoint);
    }
  }

  /** Removes the endpoints of a resource, except the entries of these paths, which are about to be replaced. */
  #withdraw(resource: Resource, kept: ReadonlySet<string>): ReadonlySet<ResourceStorage> {
    const storages = new Set<ResourceStorage>();
    for (const [name, endpoint] of this.#stored) {
      if (endpoint.storage.resource !== resource) continue;
      this.#stored.delete(name);
      storages.add(endpoint.storage);
    }
    for (const [path, endpoint] of this.#byPath) {
      if (endpoint.storage.resource !== resource) continue;
      if (!kept.has(path)) this.#byPath.delete(path);
      this.#served.delete(endpoint);
      storages.add(endpoint.storage);
    }
    return storages;
  }

  /** Closes a replaced storage when the requests that use it have had time to finish. */
  #retire(storage: ResourceStorage): void {
    // A definition that changes often must not accumulate caches.
    for (const other of this.#retiring) if (other.prefix === storage.prefix) this.#close(other);
    this.#retiring.add(storage);
    const close = () => this.#close(storage);
    void this.#context.clock.sleep(RETIREMENT_MS, this.#stop.signal).then(close, close);
  }

  #close(storage: ResourceStorage): void {
    this.#retiring.delete(storage);
    storage.close();
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
    this.#stop.abort();
    for (const { storage } of [...this.#byPath.values(), ...this.#stored.values()]) storage.close();
    for (const storage of this.#retiring) this.#close(storage);
  }

  #notify(): void {
    for (const listener of this.#listeners) listener();
  }
}

function pathOf(group: string, version: string, plural: string): string {
  return `${group}/${version}/${plural}`;
}

function endpointOf(resource: Resource, served: ServedVersion, storage: ResourceStorage, schemas: SchemaSet): Endpoint {
  const apiVersion = apiVersionOf(served);
  const { kind, plural, listKind = `${kind}List` } = resource;
  // Schemas built at run time are built on first use: a cluster may have hundreds of definitions, most of them unused.
  let schema = resource.completesStored === true ? undefined : schemaOf(resource, served, schemas);
  return {
    resource: served.own === undefined ? resource : { ...resource, ...served.own },
    served,
    apiVersion,
    get schema() {
      return (schema ??= schemaOf(resource, served, schemas));
    },
    schemas,
    storage,
    format: new ObjectFormat({ apiVersion, kind }),
    listKind,
    name: { group: served.group, plural },
  };
}

function schemaOf({ kind }: Resource, served: ServedVersion, schemas: SchemaSet): ObjectSchema {
  const schema = schemas.get(served.schema);
  if (schema?.type !== "object") throw new Error(`Cannot serve ${kind}: schema ${served.schema} does not exist`);
  return schema;
}
