/**
 * The ingress controller: follows Ingresses, IngressClasses, Services, EndpointSlices and the Secrets that Ingresses name, keeps the routing
 * table and the endpoints of the data plane up to date, writes the address into the status of each Ingress and reports what cannot be
 * served as events. While the API server is away, traffic goes by the last known state.
 * Not here: what a request gets (serve/), how it gets it (host/http/proxy).
 */
import { endpointSlices } from "../api/discovery.k8s.io/v1/endpoint-slice.ts";
import { services } from "../api/core/v1/service.ts";
import type { IngressClass, IngressLoadBalancerIngress } from "../api/generated/networking.k8s.io/v1.ts";
import { ingressClasses } from "../api/networking.k8s.io/v1/ingress-class.ts";
import { ingresses } from "../api/networking.k8s.io/v1/ingress.ts";
import { causedBy } from "../api/machinery/cause.ts";
import type { KubeObject } from "../api/machinery/object.ts";
import { isReason } from "../api/machinery/status-error.ts";
import type { Transport } from "../api/machinery/transport.ts";
import type { Clock } from "../base/clock.ts";
import { deepEqual } from "../base/deep.ts";
import { Disposables } from "../base/disposables.ts";
import type { Logger } from "../base/logger.ts";
import type { Family, HistogramFamily } from "../base/metrics/prometheus-text.ts";
import type { Random } from "../base/random.ts";
import { WorkQueue } from "../base/work-queue.ts";
import type { Client, ResourceKind } from "../client/client.ts";
import { createEventRecorder } from "../client/events/create-event-recorder.ts";
import type { EventRecorder } from "../client/events/event-recorder.ts";
import { defineIndex } from "../client/informer/index.ts";
import type { Informers } from "../client/informer/informer.ts";
import { createInformers } from "../client/informer/informers.ts";
import { createClient } from "../client/rest-client.ts";
import type { ProxyCertificate } from "../host/http/proxy/proxy-server.ts";
import { CertificateSecrets, keyOf, type HostCertificates } from "./certificates.ts";
import { computeEndpoints } from "./compute/backends.ts";
import { computeRoutes } from "./compute/compute-routes.ts";
import { isLoadBalancerPort, Listeners, type Ports } from "./listeners.ts";
import { CLASS_NAME, CONTROLLER_NAME, ingressName, type Problem, type RoutingTable, type ServedIngress } from "./model.ts";
import { AccessLog } from "./serve/access-log.ts";
import { IngressHandler } from "./serve/ingress-handler.ts";
import { IngressMetrics } from "./serve/ingress-metrics.ts";

export interface IngressControllerOptions {
  readonly transport: Transport;
  /** Of the node: the status of Ingresses shows the first. */
  readonly addresses: readonly string[];
  readonly ports: Ports;
  /** Address to listen on. Absent: all of the machine. */
  readonly host?: string | undefined;
  /** For hosts without a usable certificate. */
  readonly defaultCertificate: ProxyCertificate;
  /** Absent: no access log. */
  readonly accessLog?: ((lines: string) => void) | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

export interface IngressController extends AsyncDisposable {
  /** In use while an Ingress exists. Others may be used the next time. */
  readonly ports: Ports;
  readonly isListening: boolean;
  /** Registers the only listener, which is called after `ports` or `isListening` changed. */
  onPortsChange(listener: () => void): void;
  metrics(): readonly (Family | HistogramFamily)[];
}

/** Upstream's label of EndpointSlices. */
const SERVICE_NAME = "kubernetes.io/service-name";

const slicesByService = defineIndex(endpointSlices, ({ metadata: { namespace = "", labels } }) => [
  `${namespace}/${labels?.[SERVICE_NAME] ?? ""}`,
]);

/** Changes within this time are applied together: computing the table of 1,000 Ingresses takes milliseconds. */
const COALESCE_MS = 10;

/** Work-queue keys: the table, the certificates, the endpoints of a Service, the status of an Ingress. */
const TABLE = "table";
const CERTIFICATES = "certificates";
const ENDPOINTS = "endpoints ";
const STATUS = "status ";

/** Status writes must not delay routes: several workers take keys. */
const WORKERS = 4;

/** Resolves when all existing Ingresses are served. */
export async function startIngressController(options: IngressControllerOptions): Promise<IngressController> {
  await using starting = new Disposables();
  const controller = starting.use(new RunningController(options));
  await controller.start();
  starting.move();
  return controller;
}

class RunningController implements IngressController {
  readonly #options: IngressControllerOptions;
  readonly #log: Logger;
  readonly #stop = new AbortController();
  readonly #client: Client;
  readonly #informers: Informers;
  readonly #events: EventRecorder;
  readonly #queue: WorkQueue<string>;
  readonly #metrics = new IngressMetrics();
  readonly #handler: IngressHandler;
  readonly #listeners: Listeners;
  readonly #secrets: CertificateSecrets;
  readonly #accessLog: AccessLog | undefined;
  #certificates: HostCertificates = { usable: new Map(), problems: new Map() };
  /** Messages of the last events, by uid of the Ingress: an event is emitted when something is wrong in a new way. */
  #reported = new Map<string, readonly string[]>();
  #workers: readonly Promise<void>[] = [];
  #portsChanged = () => {};

  constructor(options: IngressControllerOptions) {
    const { transport, clock, random, log, addresses, ports: wanted, host, defaultCertificate, accessLog } = options;
    this.#options = options;
    this.#log = log;
    this.#client = createClient(transport).with({ signal: this.#stop.signal });
    this.#informers = createInformers({ transport, clock, random: random.derive("informers"), log });
    this.#events = createEventRecorder({ client: createClient(transport), component: "k8ts-ingress", clock, random, log });
    this.#queue = new WorkQueue({ clock });
    this.#accessLog = accessLog === undefined ? undefined : new AccessLog(clock, accessLog);
    this.#handler = new IngressHandler({
      clock,
      httpsPort: () => this.#listeners.ports.https,
      onFinished: (record, ingress) => {
        this.#metrics.count(record, ingress);
        this.#accessLog?.add(record, ingress);
      },
    });
    this.#secrets = new CertificateSecrets(this.#informers, () => this.#queue.add(CERTIFICATES));
    const isTaken = (port: number) => isLoadBalancerPort(this.#informers.of(services).list(), addresses, port);
    this.#listeners = new Listeners({
      handler: this.#handler,
      defaultCertificate,
      host,
      wanted,
      isTaken,
      onChange: () => this.#portsChanged(),
      log,
    });
  }

  get ports(): Ports {
    return this.#listeners.ports;
  }

  get isListening(): boolean {
    return this.#listeners.server !== undefined;
  }

  onPortsChange(listener: () => void): void {
    this.#portsChanged = listener;
  }

  async start(): Promise<void> {
    const { signal } = this.#stop;
    const kinds: readonly ResourceKind[] = [ingresses, ingressClasses, services, endpointSlices] as readonly ResourceKind[];
    for (const kind of kinds) this.#informers.of(kind);
    await this.#informers.of(ingressClasses).synced(signal);
    await this.#ensureClass();
    await Promise.all(kinds.map((kind) => this.#informers.of(kind).synced(signal)));
    // Also without an Ingress, to know the ports.
    await this.#options.clock.external(this.#listeners.start());
    this.#listen();
    await this.#useRoutes();
    await this.#secrets.synced(signal);
    this.#useCertificates();
    this.#workers = Array.from({ length: WORKERS }, () => this.#work());
  }

  /** The default class, unless another class is the default. */
  async #ensureClass(): Promise<void> {
    const classes = this.#informers.of(ingressClasses).list();
    if (classes.some(({ metadata }) => metadata.name === CLASS_NAME)) return;
    const hasDefault = classes.some(({ metadata }) => metadata.annotations?.[IS_DEFAULT] === "true");
    const metadata = { name: CLASS_NAME, ...(hasDefault ? {} : { annotations: { [IS_DEFAULT]: "true" } }) };
    const ingressClass = {
      apiVersion: "networking.k8s.io/v1",
      kind: "IngressClass",
      metadata,
      spec: { controller: CONTROLLER_NAME },
    } as const;
    try {
      await this.#client.create<IngressClass>(ingressClasses, ingressClass);
    } catch (error) {
      if (!isReason(error, "AlreadyExists")) throw error;
    }
  }

  #listen(): void {
    const table = () => this.#queue.addAfter(TABLE, COALESCE_MS);
    const all = { added: table, updated: table, deleted: table };
    this.#informers.of(ingresses).listen(all);
    this.#informers.of(ingressClasses).listen(all);
    const routing = ({ spec }: { readonly spec?: object }) => spec;
    this.#informers.of(services).listen({
      ...all,
      // The status of Services changes often and decides nothing here.
      updated: (service, previous) => void (!deepEqual(routing(service), routing(previous)) && table()),
    });
    const endpoints = ({ metadata }: KubeObject) =>
      this.#queue.add(`${ENDPOINTS}${metadata.namespace ?? ""}/${metadata.labels?.[SERVICE_NAME] ?? ""}`);
    this.#informers.of(endpointSlices).listen({
      added: endpoints,
      updated: (slice, previous) => {
        endpoints(slice);
        if (slice.metadata.labels?.[SERVICE_NAME] !== previous.metadata.labels?.[SERVICE_NAME]) endpoints(previous);
      },
      deleted: endpoints,
    });
  }

  async #work(): Promise<void> {
    for (let key = await this.#queue.take(); key !== undefined; key = await this.#queue.take()) {
      try {
        await this.#reconcile(key);
        this.#queue.forget(key);
      } catch (error) {
        if (this.#stop.signal.aborted) return;
        this.#log.warn("Reconciling failed; it will be retried", { key, error });
        this.#queue.addRateLimited(key);
      } finally {
        this.#queue.done(key);
      }
    }
  }

  async #reconcile(key: string): Promise<void> {
    if (key === TABLE) await this.#useRoutes();
    else if (key === CERTIFICATES) this.#useCertificates();
    else if (key.startsWith(ENDPOINTS)) this.#useEndpoints(key.slice(ENDPOINTS.length));
    else await this.#writeStatus(key.slice(STATUS.length));
  }

  async #useRoutes(): Promise<void> {
    const known = this.#informers;
    const table = computeRoutes({
      ingresses: known.of(ingresses).list(),
      classes: known.of(ingressClasses).list(),
      service: (namespace, name) => known.of(services).get({ namespace, name }),
    });
    // Endpoints first: a new route finds them.
    const used = new Set([...table.backends.values()].map(({ namespace, service }) => `${namespace}/${service}`));
    for (const service of used) this.#useEndpoints(service, table);
    this.#forget(this.#handler.useTable(table));
    this.#secrets.follow(table);
    this.#useCertificates();
    await this.#openOrClose(table.served.length > 0);
    const names = new Set(table.served.map(({ ingress }) => ingressName(ingress)));
    this.#metrics.keepOnly(names);
    for (const name of names) this.#queue.add(STATUS + name);
  }

  #useEndpoints(service: string, table: RoutingTable = this.#handler.table): void {
    const slices = this.#informers.of(endpointSlices).indexed(slicesByService, service);
    for (const backend of table.backends.values()) {
      if (`${backend.namespace}/${backend.service}` !== service) continue;
      this.#forget(this.#handler.useEndpoints(backend.key, computeEndpoints(backend, slices)));
    }
  }

  #forget(endpoints: readonly { readonly address: string; readonly port: number }[]): void {
    if (endpoints.length > 0) this.#listeners.server?.forgetEndpoints(endpoints);
  }

  #useCertificates(): void {
    const { table } = this.#handler;
    this.#certificates = this.#secrets.compute(table);
    this.#listeners.useCertificates(this.#certificates.usable);
    this.#report(table.served);
  }

  /** Ports are free for others while no Ingress exists. */
  async #openOrClose(isNeeded: boolean): Promise<void> {
    const { clock } = this.#options;
    if (isNeeded) await clock.external(this.#listeners.start());
    else await clock.external(this.#listeners.stop());
  }

  #report(served: readonly ServedIngress[]): void {
    const reported = new Map<string, readonly string[]>();
    for (const { ingress, problems } of served) {
      const { uid = "" } = ingress.metadata;
      const all = [...problems, ...this.#certificateProblems(ingress)];
      const known = this.#reported.get(uid) ?? [];
      for (const { reason, message } of all) {
        if (!known.includes(message)) this.#events.record(ingress, { type: "Warning", reason, message });
      }
      if (all.length > 0)
        reported.set(
          uid,
          all.map(({ message }) => message),
        );
    }
    this.#reported = reported;
  }

  #certificateProblems({ metadata: { namespace = "" }, spec }: ServedIngress["ingress"]): readonly Problem[] {
    const names = new Set((spec?.tls ?? []).flatMap(({ secretName = "" }) => (secretName === "" ? [] : [secretName])));
    return [...names].flatMap((name) => {
      const problem = this.#certificates.problems.get(keyOf({ namespace, name }));
      const message = `${problem}; its hosts get a self-signed certificate`;
      return problem === undefined ? [] : [{ reason: "CertificateUnusable", message } as const];
    });
  }

  async #writeStatus(name: string): Promise<void> {
    const isServed = this.#handler.table.served.some(({ ingress }) => ingressName(ingress) === name);
    const [namespace = "", ingressNamed = ""] = name.split("/");
    const ingress = this.#informers.of(ingresses).get({ namespace, name: ingressNamed });
    if (!isServed || ingress === undefined) return;
    const wanted = this.#address();
    if (deepEqual(ingress.status?.loadBalancer?.ingress ?? [], wanted)) return;
    try {
      const cause = causedBy({ controller: "ingress", reason: "ReportingStatus", kind: ingresses, object: ingress });
      await this.#client
        .with({ cause })
        .updateStatus(ingresses, { ...ingress, status: { ...ingress.status, loadBalancer: { ingress: wanted } } });
    } catch (error) {
      // The change arrives by the watch and is reconciled: often it is the same write, which the cache did not have yet.
      if (isReason(error, "Conflict") || isReason(error, "NotFound")) return;
      throw error;
    }
    this.#events.record(ingress, { type: "Normal", reason: "Sync", message: "Scheduled for sync" });
  }

  /** Ports are shown if they are not the usual ones. */
  #address(): readonly IngressLoadBalancerIngress[] {
    const [ip] = this.#options.addresses;
    const { http, https } = this.ports;
    if (ip === undefined) return [];
    if (http === USUAL_PORTS.http && https === USUAL_PORTS.https) return [{ ip }];
    return [{ ip, ports: [http, https].map((port) => ({ port, protocol: "TCP" })) }];
  }

  metrics(): readonly (Family | HistogramFamily)[] {
    const { server } = this.#listeners;
    const { hosts, wildcards, anyHost } = this.#handler.table;
    const pools = [...this.#handler.pools.values()];
    const routes = [...hosts.values(), ...wildcards.values(), ...(anyHost === undefined ? [] : [anyHost])];
    return this.#metrics.families({
      routes: sum(routes.map(({ exact, prefixes }) => exact.size + prefixes.size)),
      endpoints: sum(pools.map(({ size }) => size)),
      ejectedEndpoints: sum(pools.map(({ ejectedCount }) => ejectedCount)),
      connections: server?.connectionCount ?? 0,
      requestsInFlight: server?.runningCount ?? 0,
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#options.clock.external(this.#listeners.stop());
    this.#queue.shutDown();
    this.#stop.abort(new Error("The ingress controller stops"));
    await Promise.all(this.#workers);
    await this.#informers.close();
    await this.#events[Symbol.asyncDispose]();
    await this.#accessLog?.[Symbol.asyncDispose]();
  }
}

const IS_DEFAULT = "ingressclass.kubernetes.io/is-default-class";
const USUAL_PORTS: Ports = { http: 80, https: 443 };

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}
