/**
 * The Service "kubernetes" in "default", through which Pods reach the API server, and its EndpointSlice and Endpoints, with the addresses
 * of all live API servers.
 *
 * A store of one process has one server, and nothing to renew. On a shared store each server holds a key with a lease, and the addresses
 * are those with a key; so a crashed server is removed after the lease duration, and a stopped one immediately.
 */
import { deepEqual } from "../../base/deep.ts";
import type { Clock } from "../../base/clock.ts";
import type { Service } from "../../api/generated/core/v1.ts";
import { addToIp, formatIp, networkOf, parseCidr } from "../../api/machinery/ip/ip-address.ts";
import type { KubeObject } from "../../api/machinery/object.ts";
import { bookkeepingPrefix } from "../../store/key.ts";
import type { Store } from "../../store/store.ts";
import { bytesValue } from "../../store/value.ts";
import type { BootstrapContext, BootstrapStep } from "./bootstrap.ts";
import { apiServerEndpoints, apiServerEndpointSlice, type Advertised } from "./kubernetes-endpoints.ts";

const NAME = "kubernetes";
const SERVICES = { group: "", version: "v1", plural: "services", namespace: "default" };
const ENDPOINTS = { ...SERVICES, plural: "endpoints" };
const SLICES = { ...SERVICES, group: "discovery.k8s.io", plural: "endpointslices" };

/** As upstream: renewed often enough to tolerate one failure. */
const LEASE_TIME_MS = 15_000;
const REFRESH_INTERVAL_MS = 10_000;

/** An unavailable store must not keep a server from stopping. */
const WITHDRAWAL_MS_MAX = 2_000;

const LEASE_PREFIX = bookkeepingPrefix("apiserverleases");

/** Default address of a server. */
const DEFAULT_PORT = 6443;

export const kubernetesService: BootstrapStep = { hook: "bootstrap-controller", make: makeService, keeps: [{ ...SERVICES, name: NAME }] };

/** The first address of the range belongs to this Service. */
async function makeService({ server, requests }: BootstrapContext): Promise<void> {
  const [range = ""] = server.config.serviceClusterIpRange.split(",");
  const cidr = parseCidr(range);
  const first = cidr === undefined ? undefined : addToIp(networkOf(cidr).address, 1);
  const clusterIP = first === undefined ? {} : { clusterIP: formatIp(first) };
  const service = {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: NAME, labels: { component: "apiserver", provider: "kubernetes" } },
    spec: { ...clusterIP, ipFamilyPolicy: "SingleStack", ports: portsOf(DEFAULT_PORT), sessionAffinity: "None", type: "ClusterIP" },
  };
  await requests.make(SERVICES, service);
}

function portsOf(port: number) {
  return [{ name: "https", port: 443, protocol: "TCP", targetPort: port }] as const;
}

/** Keeps a server in the endpoints until it is stopped. */
export class AdvertisedServer {
  readonly #context: BootstrapContext;
  readonly #self: Advertised;
  readonly #stopped = new AbortController();
  #refreshing: Promise<void> = Promise.resolve();

  constructor(context: BootstrapContext, self: Advertised) {
    this.#context = context;
    this.#self = self;
  }

  get #store(): Store {
    return this.#context.server.store;
  }

  get #clock(): Clock {
    return this.#context.server.clock;
  }

  /** Objects that are recreated after a deletion. */
  get step(): BootstrapStep {
    return { make: (context) => this.#write(context), keeps: [SERVICES, ENDPOINTS, SLICES].map((place) => ({ ...place, name: NAME })) };
  }

  async start(): Promise<void> {
    await this.#refreshLease();
    await this.#write(this.#context);
    if (this.#store.capabilities.shared) this.#refreshing = this.#refresh();
  }

  async #write(context: BootstrapContext): Promise<void> {
    await makeService(context);
    await this.#writePort(context);
    await this.#writeEndpoints(await this.#addresses(), context);
  }

  /** Removes this server from the endpoints. Logs a failure: the lease expires by itself. */
  async stop(): Promise<void> {
    if (this.#stopped.signal.aborted) return;
    this.#stopped.abort();
    if (!this.#store.capabilities.shared) return;
    const patience = new AbortController();
    const late = this.#clock.sleep(WITHDRAWAL_MS_MAX, patience.signal).catch(() => undefined);
    await Promise.race([this.#withdraw(), late]);
    patience.abort();
  }

  async #withdraw(): Promise<void> {
    await this.#refreshing;
    try {
      await this.#store.commit([{ type: "delete", key: this.#leaseKey(), precondition: { is: "exists" } }]);
      await this.#writeEndpoints(await this.#addresses());
    } catch (error) {
      this.#context.server.log.warn(`Removing ${this.#self.address} from the endpoints of default/kubernetes failed: ${String(error)}`);
    }
  }

  async #refresh(): Promise<void> {
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      try {
        await this.#clock.sleep(REFRESH_INTERVAL_MS, signal);
        await this.#refreshLease();
        await this.#writeEndpoints(await this.#addresses());
      } catch (error) {
        if (!signal.aborted) this.#context.server.log.warn(`Reconciling the endpoints of default/kubernetes failed: ${String(error)}`);
      }
    }
  }

  #leaseKey(): string {
    return `${LEASE_PREFIX}${this.#self.address}`;
  }

  async #refreshLease(): Promise<void> {
    if (!this.#store.capabilities.shared) return;
    const value = bytesValue(new TextEncoder().encode(this.#self.address));
    await this.#store.commit([{ type: "put", key: this.#leaseKey(), value, expiresAtMs: this.#clock.now() + LEASE_TIME_MS }]);
  }

  /** Addresses of all live servers, in order. */
  async #addresses(): Promise<readonly string[]> {
    if (!this.#store.capabilities.shared) return [this.#self.address];
    const { entries } = await this.#store.list(LEASE_PREFIX, { countRemaining: false });
    return entries.map(({ key }) => key.slice(LEASE_PREFIX.length)).toSorted();
  }

  async #writePort({ requests }: BootstrapContext): Promise<void> {
    const service = (await requests.get(SERVICES, NAME))?.object as Service | undefined;
    const ports = portsOf(this.#self.port);
    if (service === undefined || deepEqual(service.spec?.ports, ports)) return;
    await requests.put(SERVICES, { ...service, spec: { ...service.spec, ports } } as KubeObject);
  }

  async #writeEndpoints(addresses: readonly string[], { requests } = this.#context): Promise<void> {
    const wanted = [
      [ENDPOINTS, apiServerEndpoints(NAME, addresses, this.#self.port)],
      [SLICES, apiServerEndpointSlice(NAME, addresses, this.#self)],
    ] as const;
    for (const [place, object] of wanted) {
      const found = (await requests.make(place, object)).object;
      const next = { ...found, ...object, metadata: { ...found.metadata, labels: object.metadata.labels } } as KubeObject;
      if (!deepEqual(next, found)) await requests.put(place, next);
    }
  }
}
