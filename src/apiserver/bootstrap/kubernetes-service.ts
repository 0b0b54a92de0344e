/**
 * The Service "kubernetes" in "default", by which Pods find the API server, and whom it leads to: the EndpointSlice and the Endpoints of
 * that name have the addresses of all API servers that live.
 *
 * On a store of one process there is one server, and nothing to be repeated. On a shared one each server keeps a key that expires, and
 * the addresses are those whose keys are there; so a server that dies is gone after the lease time, and one that stops, at once.
 */
import { deepEqual } from "../../base/deep.ts";
import type { Clock } from "../../base/clock.ts";
import type { Service } from "../../api/generated/core/v1.ts";
import { addToIp, formatIp, networkOf, parseCidr } from "../../api/machinery/ip-address.ts";
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

/** As upstream: refreshed so often that one failure does no harm. */
const LEASE_TIME_MS = 15_000;
const REFRESH_INTERVAL_MS = 10_000;

/** A store that is gone must not keep a server from stopping. */
const WITHDRAWAL_MS_MAX = 2_000;

const LEASE_PREFIX = bookkeepingPrefix("apiserverleases");

/** Where a server listens that nobody told where. */
const DEFAULT_PORT = 6443;

export const kubernetesService: BootstrapStep = { hook: "bootstrap-controller", make: makeService, keeps: [{ ...SERVICES, name: NAME }] };

/** The first address of the range is its own. */
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

  /** What is kept: whoever deletes it gets it back. */
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

  /** Others must not be sent here any more. Says so in the log if that fails: the lease ends by itself. */
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
      this.#context.server.log.warn(`Cannot take ${this.#self.address} out of the endpoints of "kubernetes": ${String(error)}`);
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
        if (!signal.aborted) this.#context.server.log.warn(`Cannot refresh the endpoints of "kubernetes": ${String(error)}`);
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

  /** Of all servers that live, in order. */
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
