/**
 * The groups and versions of other API servers: follows APIServices and the Services behind them, keeps their availability and documents,
 * and is asked by every request whether it is for another server. A change of an APIService takes effect with the next request.
 */
import type { APIService } from "../../api/generated/apiregistration.k8s.io/v1.ts";
import type { GroupVersion, KubeObject } from "../../api/machinery/object.ts";
import type { Family } from "../../base/metrics/prometheus-text.ts";
import type { Aggregation, ApiPriority, RemoteApi, RemoteConnector } from "../framework/apis/aggregation.ts";
import type { OwnRequests } from "../framework/own-requests.ts";
import type { ServerContext } from "../framework/server-context.ts";
import { API_SERVICES, isAvailable, placeOf, serviceOf } from "./api-service.ts";
import { AutoRegistration, MANAGED_LABEL, nameOf } from "./auto-registration.ts";
import { AvailabilityController } from "./availability-controller.ts";
import { AvailabilityMetrics } from "./availability-metrics.ts";
import { localPriority } from "./built-in-priorities.ts";
import { KeyWorker } from "./key-worker.ts";
import { DocumentFetcher, STALE, type RemoteDocuments } from "./remote-documents.ts";
import { remoteServerOf, type RemoteContext, type RemoteServer } from "./remote-server.ts";
import { ENDPOINT_SLICES, SERVICE_NAME_LABEL, SERVICES } from "./service-state.ts";

/** Documents of other servers change without any object changing. As upstream. */
const REFRESH_MS = 60_000;
const REFRESH_RETRY = { minMs: 500, maxMs: 60_000 };
const REFRESH_WORKERS = 2;

/** What is known of one APIService with a Service. */
interface Registered {
  readonly apiService: APIService;
  readonly server: RemoteServer;
  readonly fetcher: DocumentFetcher;
  readonly priority: ApiPriority;
  documents: RemoteDocuments;
  readonly api: RemoteApi;
}

interface LocalApi extends GroupVersion {
  readonly priority: ApiPriority;
}

export class Aggregator implements Aggregation {
  readonly #server: Pick<ServerContext, "endpoints" | "objects" | "clock" | "random" | "log">;
  readonly #remote: RemoteContext;
  /** By group, then by version: every request looks here. */
  readonly #byGroup = new Map<string, Map<string, Registered>>();
  readonly #byName = new Map<string, Registered>();
  /** Those without a Service that a user created, by name. Those of this server follow its endpoints. */
  readonly #local = new Map<string, LocalApi>();
  readonly #listeners = new Set<() => void>();
  readonly #metrics = new AvailabilityMetrics();
  readonly #documents: KeyWorker;
  #availability: AvailabilityController | undefined;
  #registration: AutoRegistration | undefined;

  constructor(server: Pick<ServerContext, "endpoints" | "objects" | "clock" | "random" | "log">, connector: RemoteConnector | undefined) {
    this.#server = server;
    const { objects, clock, random, log } = server;
    this.#remote = { objects, clock, random, log, connector };
    this.#documents = new KeyWorker({
      ...{ name: "Reading the documents of an aggregated API server", workers: REFRESH_WORKERS, retry: REFRESH_RETRY, clock, log },
      reconcile: (name) => this.#refresh(name),
    });
  }

  /** Resolves when the APIServices of this server exist and those of others have their routes. */
  async start(requests: OwnRequests): Promise<void> {
    const { objects, clock, log, endpoints } = this.#server;
    const registration = new AutoRegistration({ objects, requests, clock, log });
    const changed = (name: string, availability: Parameters<AvailabilityMetrics["changed"]>[1]): void =>
      this.#metrics.changed(name, availability);
    const availability = new AvailabilityController({ ...this.#remote, requests, changed });
    this.#registration = registration;
    this.#availability = availability;
    await objects.follow(API_SERVICES, {
      put: (object) => this.#put(object as APIService),
      remove: (object) => this.#remove(object as APIService),
      reset: () => this.#reset(),
    });
    await registration.start(Array.from(endpoints.all(), ({ served }) => served));
    const follow = (kind: typeof SERVICES, nameIn: (object: KubeObject) => string | undefined): Promise<void> => {
      const touched = (object: KubeObject): void => this.#serviceChanged(object.metadata.namespace ?? "", nameIn(object));
      return objects.follow(kind, { put: touched, remove: touched, reset() {} });
    };
    await follow(SERVICES, ({ metadata }) => metadata.name);
    await follow(ENDPOINT_SLICES, ({ metadata }) => metadata.labels?.[SERVICE_NAME_LABEL]);
    availability.start();
    this.#documents.start();
  }

  close(): void {
    this.#registration?.close();
    this.#availability?.close();
    this.#documents.close();
  }

  remote(group: string, version: string): RemoteApi | undefined {
    return this.#byGroup.get(group)?.get(version)?.api;
  }

  *all(): IterableIterator<RemoteApi> {
    for (const { api } of this.#byName.values()) yield api;
  }

  local(): Iterable<GroupVersion> {
    return this.#local.values();
  }

  priorityOf({ group, version }: GroupVersion): ApiPriority {
    const registered = this.#byGroup.get(group)?.get(version) ?? this.#local.get(nameOf({ group, version }));
    return registered?.priority ?? localPriority({ group, version });
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  metricFamilies(): readonly Family[] {
    return this.#metrics.families();
  }

  #put(apiService: APIService): void {
    const { name } = apiService.metadata;
    this.#registration?.changed(apiService);
    const known = this.#byName.get(name);
    this.#metrics.present(name, isAvailable(apiService));
    if (known === undefined || known.apiService.spec !== apiService.spec) this.#availability?.add(name);
    this.#setLocal(name, apiService);
    const server = remoteServerOf(this.#remote, apiService);
    if (server === undefined) return this.#drop(name);
    this.#set(name, this.#registered(apiService, server, known));
    this.#documents.add(name);
  }

  #registered(apiService: APIService, server: RemoteServer, known: Registered | undefined): Registered {
    const place = placeOf(apiService);
    const isSame = known !== undefined && known.apiService.spec === apiService.spec;
    const registered: Registered = {
      apiService,
      server,
      fetcher: isSame ? known.fetcher : new DocumentFetcher(place, this.#server.clock),
      priority: priorityIn(apiService),
      documents: isSame && isAvailable(apiService) ? known.documents : STALE,
      api: {
        ...place,
        get discovery() {
          return registered.documents.discovery;
        },
        get openApiV2() {
          return registered.documents.openApiV2;
        },
        get openApiV3() {
          return registered.documents.openApiV3;
        },
        forward: (request) => server.forward(request),
      },
    };
    return registered;
  }

  #remove(apiService: APIService): void {
    const { name } = apiService.metadata;
    this.#registration?.changed(apiService);
    this.#metrics.removed(name);
    this.#drop(name);
    if (this.#local.delete(name)) this.#notify();
  }

  #reset(): void {
    for (const name of [...this.#byName.keys()]) this.#drop(name);
    this.#local.clear();
    this.#notify();
  }

  #setLocal(name: string, apiService: APIService): void {
    const isLocal = serviceOf(apiService) === undefined && apiService.metadata.labels?.[MANAGED_LABEL] === undefined;
    const wasLocal = this.#local.delete(name);
    if (isLocal) this.#local.set(name, { ...placeOf(apiService), priority: priorityIn(apiService) });
    if (isLocal || wasLocal) this.#notify();
  }

  #set(name: string, registered: Registered): void {
    this.#byName.set(name, registered);
    const { group, version } = registered.api;
    const versions = this.#byGroup.get(group) ?? new Map<string, Registered>();
    this.#byGroup.set(group, versions.set(version, registered));
    this.#notify();
  }

  #drop(name: string): void {
    const known = this.#byName.get(name);
    if (known === undefined) return;
    this.#byName.delete(name);
    const { group, version } = known.api;
    const versions = this.#byGroup.get(group);
    versions?.delete(version);
    if (versions?.size === 0) this.#byGroup.delete(group);
    this.#notify();
  }

  #serviceChanged(namespace: string, name: string | undefined): void {
    for (const [key, { apiService }] of this.#byName) {
      const service = serviceOf(apiService);
      if (service?.namespace === namespace && service.name === name) this.#availability?.add(key);
    }
  }

  /** A server that is unavailable is not asked: when that changes, its APIService does. */
  async #refresh(name: string): Promise<number | undefined> {
    const registered = this.#byName.get(name);
    if (registered === undefined || !isAvailable(registered.apiService)) return undefined;
    try {
      this.#keep(registered, await registered.fetcher.fetch(registered.server));
      return REFRESH_MS;
    } catch (error) {
      this.#keep(registered, STALE);
      throw error;
    }
  }

  #keep(registered: Registered, documents: RemoteDocuments): void {
    const before = registered.documents;
    registered.documents = documents;
    const isSame =
      before.openApiV2 === documents.openApiV2 &&
      JSON.stringify(before.discovery) === JSON.stringify(documents.discovery) &&
      JSON.stringify([...before.openApiV3]) === JSON.stringify([...documents.openApiV3]);
    if (!isSame) this.#notify();
  }

  #notify(): void {
    for (const listener of this.#listeners) listener();
  }
}

function priorityIn({ spec }: APIService): ApiPriority {
  return { group: spec?.groupPriorityMinimum ?? 0, version: spec?.versionPriority ?? 0 };
}
