/** The client: turns each verb into a request of the transport, and its answer into the object. */
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

/** Of `pages`, as upstream's pager. */
const PAGE_LENGTH = 500;

export function createClient(transport: Transport, options: ClientOptions = {}): Client {
  return new RestClient(transport, options, {});
}

/** What of a request is not about the kind or the caller. */
type Asked = Omit<TransportRequest, "group" | "version" | "plural" | "verb" | "options"> & {
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
    return objectOf<T>(await this.#ask(kind, "get", { ...place(key), options }));
  }

  async list<T extends KubeObject>(kind: ResourceKind<T>, options?: ListOptions): Promise<ObjectList<T>> {
    return listOf<T>(await this.#ask(kind, "list", { options }));
  }

  async *pages<T extends KubeObject>(kind: ResourceKind<T>, options: ListOptions = {}): AsyncIterable<ObjectList<T>> {
    // A page after the first is of the first one's revision, which its token knows.
    const { resourceVersion: _first, resourceVersionMatch: _match, ...later } = options;
    for (let asked: ListOptions = { limit: PAGE_LENGTH, ...options }; ;) {
      const page = await this.list(kind, asked);
      yield page;
      if (page.metadata.continue === undefined || page.metadata.continue === "") return;
      asked = { limit: PAGE_LENGTH, ...later, continue: page.metadata.continue };
    }
  }

  watch<T extends KubeObject>(kind: ResourceKind<T>, options: WatchOptions, listener: WatchListener<T>): Promise<TransportWatch> {
    const { verb: _verb, ...request } = this.#request(kind, "watch", { options });
    return this.#transport.watch(request, listener);
  }

  async create<T extends KubeObject>(...[kind, object, options]: Parameters<Client["create"]>): Promise<T> {
    const { namespace } = object.metadata;
    return objectOf<T>(await this.#ask(kind, "create", { namespace, object, options }));
  }

  async update<T extends KubeObject>(...[kind, object, options]: Parameters<Client["update"]>): Promise<T> {
    return objectOf<T>(await this.#ask(kind, "update", { ...place(object.metadata), object, options }));
  }

  updateStatus<T extends KubeObject>(...[kind, object, options]: Parameters<Client["updateStatus"]>): Promise<T> {
    return this.update(kind, object, { ...options, subresource: "status" }) as Promise<T>;
  }

  async patch<T extends KubeObject>(...[kind, key, patch, options]: Parameters<Client["patch"]>): Promise<T> {
    return objectOf<T>(await this.#ask(kind, "patch", { ...place(key), patch, options }));
  }

  async apply<T extends KubeObject>(...[kind, object, options]: Parameters<Client["apply"]>): Promise<T> {
    const patch = { type: "apply", value: object as JsonObject } as const;
    return objectOf<T>(await this.#ask(kind, "patch", { ...place(object.metadata), patch, options }));
  }

  async delete<T extends KubeObject>(...[kind, key, options = {}]: Parameters<Client["delete"]>): Promise<T | undefined> {
    const response = await this.#ask(kind, "delete", { ...place(key), ...deletion(options) });
    return response.is === "object" ? (response.object as T) : undefined;
  }

  async deleteCollection(...[kind, options = {}]: Parameters<Client["deleteCollection"]>): Promise<void> {
    const { gracePeriodSeconds: _grace, propagationPolicy: _policy, preconditions: _preconditions, dryRun: _dryRun, ...select } = options;
    await this.#ask(kind, "deletecollection", deletion(options, select));
  }

  async post(...[kind, key, subresource, value, options]: Parameters<Client["post"]>): Promise<JsonObject> {
    const response = await this.#ask(kind, "create", { ...place(key), object: value, options: { ...options, subresource } });
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

  #ask(kind: ResourceKind, verb: Verb, asked: OrUndefined<Asked>): Promise<TransportResponse> {
    const response = this.#transport.request(this.#request(kind, verb, asked));
    // Awaited only if it matters: in one process each turn counts.
    return this.#options.onWarning === undefined ? response : this.#warned(response, { kind, verb });
  }

  async #warned(asked: Promise<TransportResponse>, about: WarningAbout): Promise<TransportResponse> {
    const response = await asked;
    for (const sentence of response.warnings) this.#options.onWarning?.(sentence, about);
    return response;
  }

  #request({ storage, plural, scope }: ResourceKind, verb: Verb, asked: OrUndefined<Asked>): TransportRequest {
    const { options: { signal: own, namespace: selected, subresource, ...options } = {}, namespace = selected, ...rest } = asked as Asked;
    const { cause, traceparent, fieldManager } = this.#defaults;
    const signal = anySignal(this.#defaults.signal, own);
    const named = fieldManager !== undefined && options.fieldManager === undefined && WRITES.has(verb);
    return {
      verb,
      group: storage.group,
      version: storage.version,
      plural,
      // Whoever asks for something that is in no namespace may still say one; it does not count.
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

/** Which take the name of a field manager. */
const WRITES: ReadonlySet<Verb> = new Set(["create", "update", "patch"] as const);

/** Of metadata only what says which object it is. */
function place({ namespace, name }: Partial<ObjectKey>): Pick<Asked, "namespace" | "name"> {
  return { ...(namespace === undefined ? {} : { namespace }), ...(name === undefined ? {} : { name }) };
}

/** Most of what a deletion may be told stands in its body, as upstream's clients send it. */
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
  throw internalError(new Error("A list came where an object was asked for"));
}

function listOf<T extends KubeObject>(response: TransportResponse): ObjectList<T> {
  if (response.is !== "list") throw internalError(new Error(`${response.is} came where a list was asked for`));
  return { items: response.items as readonly T[], metadata: response.metadata };
}
