/** The client: turns each verb into a transport request, and the response into the object. */
import type { JsonObject, KubeObject } from "../api/machinery/object.ts";
import type { Verb } from "../api/machinery/resource.ts";
import { internalError } from "../api/machinery/status-error.ts";
import type { RequestOptions, Transport, TransportRequest, TransportResponse, TransportWatch } from "../api/machinery/transport.ts";
import { anySignal } from "../base/abort.ts";
import type {
  CallOptions,
  Client,
  ClientDefaults,
  ClientOptions,
  DeleteOptions,
  ListOptions,
  ObjectKey,
  ObjectList,
  ResourceKind,
  SelectOptions,
  WarningAbout,
  WatchListener,
  WatchOptions,
} from "./client.ts";

/** Page size of `pages`, as upstream's pager. */
const PAGE_LENGTH = 500;

export function createClient(transport: Transport, options: ClientOptions = {}): Client {
  return new RestClient(transport, options, {});
}

/** The part of a request that depends neither on the kind nor on the caller. */
type RequestParts = Omit<TransportRequest, "group" | "version" | "plural" | "verb" | "options"> & {
  readonly options?: CallOptions & RequestOptions & Pick<SelectOptions, "namespace"> & { readonly subresource?: string };
};

class RestClient implements Client {
  readonly #transport: Transport;
  readonly #options: ClientOptions;
  readonly #defaults: ClientDefaults;

  constructor(transport: Transport, options: ClientOptions, defaults: ClientDefaults) {
    this.#transport = transport;
    this.#options = options;
    this.#defaults = defaults;
  }

  async get<T extends KubeObject>(...[kind, key, options]: Parameters<Client["get"]>): Promise<T> {
    return objectOf<T>(await this.#send(kind, "get", { ...place(key), options }));
  }

  async list<T extends KubeObject>(kind: ResourceKind<T>, options?: ListOptions): Promise<ObjectList<T>> {
    return listOf<T>(await this.#send(kind, "list", { options }));
  }

  async *pages<T extends KubeObject>(kind: ResourceKind<T>, options: ListOptions = {}): AsyncIterable<ObjectList<T>> {
    // A later page has the first one's revision, which is in its token.
    const { resourceVersion: _first, resourceVersionMatch: _match, ...later } = options;
    for (let query: ListOptions = { limit: PAGE_LENGTH, ...options }; ;) {
      const page = await this.list(kind, query);
      yield page;
      if (page.metadata.continue === undefined || page.metadata.continue === "") return;
      query = { limit: PAGE_LENGTH, ...later, continue: page.metadata.continue };
    }
  }

  watch<T extends KubeObject>(kind: ResourceKind<T>, options: WatchOptions, listener: WatchListener<T>): Promise<TransportWatch> {
    const { verb: _verb, ...request } = this.#request(kind, "watch", { options });
    return this.#transport.watch(request, listener);
  }

  async create<T extends KubeObject>(...[kind, object, options]: Parameters<Client["create"]>): Promise<T> {
    const { namespace } = object.metadata;
    return objectOf<T>(await this.#send(kind, "create", { namespace, object, options }));
  }

  async update<T extends KubeObject>(...[kind, object, options]: Parameters<Client["update"]>): Promise<T> {
    return objectOf<T>(await this.#send(kind, "update", { ...place(object.metadata), object, options }));
  }

  updateStatus<T extends KubeObject>(...[kind, object, options]: Parameters<Client["updateStatus"]>): Promise<T> {
    return this.update(kind, object, { ...options, subresource: "status" }) as Promise<T>;
  }

  async patch<T extends KubeObject>(...[kind, key, patch, options]: Parameters<Client["patch"]>): Promise<T> {
    return objectOf<T>(await this.#send(kind, "patch", { ...place(key), patch, options }));
  }

  async apply<T extends KubeObject>(...[kind, object, options]: Parameters<Client["apply"]>): Promise<T> {
    const patch = { type: "apply", value: object as JsonObject } as const;
    return objectOf<T>(await this.#send(kind, "patch", { ...place(object.metadata), patch, options }));
  }

  async delete<T extends KubeObject>(...[kind, key, options = {}]: Parameters<Client["delete"]>): Promise<T | undefined> {
    const response = await this.#send(kind, "delete", { ...place(key), ...deletion(options) });
    return response.is === "object" ? (response.object as T) : undefined;
  }

  async deleteCollection(...[kind, options = {}]: Parameters<Client["deleteCollection"]>): Promise<void> {
    const { gracePeriodSeconds: _grace, propagationPolicy: _policy, preconditions: _preconditions, dryRun: _dryRun, ...select } = options;
    await this.#send(kind, "deletecollection", deletion(options, select));
  }

  async post(...[kind, key, subresource, value, options]: Parameters<Client["post"]>): Promise<JsonObject> {
    const response = await this.#send(kind, "create", { ...place(key), object: value, options: { ...options, subresource } });
    if (response.is === "object") return response.object;
    if (response.is === "value") return response.value;
    throw internalError(new Error(`A list came for ${subresource} of ${kind.plural}`));
  }

  document(path: string, options: CallOptions = {}): Promise<JsonObject> {
    const signal = anySignal(this.#defaults.signal, options.signal);
    return this.#transport.document(path, signal === undefined ? {} : { signal });
  }

  with(defaults: ClientDefaults): Client {
    const signal = anySignal(this.#defaults.signal, defaults.signal);
    return new RestClient(this.#transport, this.#options, { ...this.#defaults, ...defaults, ...(signal === undefined ? {} : { signal }) });
  }

  #send(kind: ResourceKind, verb: Verb, parts: OrUndefined<RequestParts>): Promise<TransportResponse> {
    const response = this.#transport.request(this.#request(kind, verb, parts));
    // Awaited only if needed: in one process each tick counts.
    return this.#options.onWarning === undefined ? response : this.#warned(response, { kind, verb });
  }

  async #warned(pending: Promise<TransportResponse>, about: WarningAbout): Promise<TransportResponse> {
    const response = await pending;
    for (const sentence of response.warnings) this.#options.onWarning?.(sentence, about);
    return response;
  }

  #request({ storage, plural, scope }: ResourceKind, verb: Verb, parts: OrUndefined<RequestParts>): TransportRequest {
    const {
      options: { signal: own, namespace: selected, subresource, ...options } = {},
      namespace = selected,
      ...rest
    } = parts as RequestParts;
    const { cause, traceparent, fieldManager } = this.#defaults;
    const signal = anySignal(this.#defaults.signal, own);
    const named = fieldManager !== undefined && options.fieldManager === undefined && WRITES.has(verb);
    return {
      verb,
      group: storage.group,
      version: storage.version,
      plural,
      // A namespace given for a cluster-scoped object is ignored.
      ...(namespace === undefined || scope === "Cluster" ? {} : { namespace }),
      ...(subresource === undefined ? {} : { subresource }),
      ...rest,
      options: named ? { ...options, fieldManager } : options,
      ...(signal === undefined ? {} : { signal }),
      ...(cause === undefined ? {} : { cause }),
      ...(traceparent === undefined ? {} : { traceparent }),
    };
  }
}

type OrUndefined<T> = { readonly [Name in keyof T]?: T[Name] | undefined };

/** Verbs that take a field manager. */
const WRITES: ReadonlySet<Verb> = new Set(["create", "update", "patch"] as const);

/** The part of metadata that identifies the object. */
function place({ namespace, name }: Partial<ObjectKey>): Pick<RequestParts, "namespace" | "name"> {
  return { ...(namespace === undefined ? {} : { namespace }), ...(name === undefined ? {} : { name }) };
}

/** Most delete options are in the body, as upstream's clients send them. */
function deletion(
  { signal, propagationPolicy, gracePeriodSeconds, preconditions, dryRun }: DeleteOptions,
  select: SelectOptions = {},
): Pick<TransportRequest, "object"> & { readonly options: CallOptions & SelectOptions } {
  const body = {
    ...(propagationPolicy === undefined ? {} : { propagationPolicy }),
    ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
    ...(preconditions === undefined ? {} : { preconditions: { ...preconditions } }),
    ...(dryRun === undefined ? {} : { dryRun }),
  };
  const isEmpty = Object.keys(body).length === 0;
  return {
    ...(isEmpty ? {} : { object: { apiVersion: "v1", kind: "DeleteOptions", ...body } }),
    options: signal === undefined ? select : { ...select, signal },
  };
}

function objectOf<T extends KubeObject>(response: TransportResponse): T {
  if (response.is === "object") return response.object as T;
  // A Scale, a review.
  if (response.is === "value") return response.value as T;
  throw internalError(new Error("Expected an object, received a list"));
}

function listOf<T extends KubeObject>(response: TransportResponse): ObjectList<T> {
  if (response.is !== "list") throw internalError(new Error(`Expected a list, received ${response.is}`));
  return { items: response.items as readonly T[], metadata: response.metadata };
}
