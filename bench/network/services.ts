/** Services and EndpointSlices of the network benchmarks, and a namespace that records what a proxy mode runs. */
import type { Service } from "../../src/api/generated/core/v1.ts";
import type { EndpointSlice } from "../../src/api/generated/discovery.k8s.io/v1.ts";
import { createLogger } from "../../src/base/logger.ts";
import { realClock } from "../../src/host/real-clock.ts";
import type { NetworkNamespace } from "../../src/host/network/network-namespace.ts";
import type { ApplierContext, ProxyMode } from "../../src/proxy/appliers/applier.ts";
import { iptables } from "../../src/proxy/appliers/iptables/iptables-mode.ts";
import { nftables } from "../../src/proxy/appliers/nftables/nftables-mode.ts";
import { ModelComputation } from "../../src/proxy/compute-model.ts";

/** Modes that write rules in the kernel, and the program that writes them. */
export const MODES: readonly ProxyMode[] = [iptables, nftables];

const ENDPOINTS = 10;
const BYTE = 256;
const FIRST_NETWORK = 16;

/** "default/web-7", the key of a Service. */
function serviceKey(index: number): string {
  return `default/web-${index}`;
}

/** In 10.96.0.0/12, spread like addresses that the API server allocates, without the first ones: those are of the cluster's own Services. */
export function clusterIp(index: number): string {
  return `10.${96 + (index % 16)}.${(FIRST_NETWORK + Math.floor(index / BYTE)) % BYTE}.${(index % (BYTE - 1)) + 1}`;
}

/** A cluster of `count` Services with 10 endpoints each, as the proxy's model. */
export class ServiceFleet {
  readonly computation: ModelComputation;

  constructor(count: number) {
    const services = new Map(Array.from({ length: count }, (_, index) => [serviceKey(index), index]));
    const source = {
      serviceKeys: () => services.keys(),
      service: (key: string) => (services.has(key) ? serviceOf(services.get(key) ?? 0) : undefined),
      slices: (key: string) => (services.has(key) ? [sliceOf(services.get(key) ?? 0, 0)] : []),
    };
    this.computation = new ModelComputation(source, { node: { name: "bench" }, settings: SETTINGS });
  }
}

export const SETTINGS = { nodePortAddresses: ["0.0.0.0/0", "::/0"], podCidrs: ["10.128.0.0/9"], nodeIps: [] };

/** The first endpoint of a Service is another one per `generation`. */
export function firstEndpoint(index: number, generation: number): string {
  return `10.254.${generation % BYTE}.${index % BYTE}`;
}

export function sliceOf(index: number, generation: number): EndpointSlice {
  const addresses = Array.from({ length: ENDPOINTS }, (_, endpoint) =>
    endpoint === 0 ? firstEndpoint(index, generation) : endpointAddress(index * ENDPOINTS + endpoint),
  );
  return {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: { namespace: "default", name: `web-${index}-1`, labels: { "kubernetes.io/service-name": `web-${index}` } },
    addressType: "IPv4",
    endpoints: addresses.map((address) => ({ addresses: [address], conditions: { ready: true } })),
    ports: [{ name: "http", port: 8080, protocol: "TCP" }],
  };
}

export function serviceOf(index: number): Service {
  const address = clusterIp(index);
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: { namespace: "default", name: `web-${index}` },
    spec: { type: "ClusterIP", clusterIP: address, clusterIPs: [address], ports: [{ name: "http", port: 80, protocol: "TCP" }] },
  };
}

function endpointAddress(number: number): string {
  return `10.${128 + Math.floor(number / (BYTE * BYTE))}.${Math.floor(number / BYTE) % BYTE}.${number % BYTE}`;
}

/** Runs commands in `inner` and measures the one that writes a text. */
export class RecordingNamespace implements NetworkNamespace {
  readonly #inner: NetworkNamespace;
  #awaited: { readonly text: string; resolve(durationMs: number): void } | undefined;

  constructor(inner: NetworkNamespace) {
    this.#inner = inner;
  }

  get name(): string {
    return this.#inner.name;
  }

  async run(command: string, words: readonly string[], input?: string): Promise<string> {
    const startMs = performance.now();
    const output = await this.#inner.run(command, words, input);
    if (this.#awaited !== undefined && input?.includes(this.#awaited.text) === true) this.#awaited.resolve(performance.now() - startMs);
    return output;
  }

  /** Resolves with its duration when a command whose input has this text has ended. One at a time. */
  written(text: string): Promise<number> {
    return new Promise((resolve) => (this.#awaited = { text, resolve }));
  }
}

export function applierContext(namespace: NetworkNamespace, more: Pick<ApplierContext, "podBridge"> = {}): ApplierContext {
  return {
    owner: "bench",
    namespace,
    options: { masqueradesAll: false, ipvsScheduler: "rr" },
    clock: realClock,
    log: createLogger({ sink: () => {}, clock: realClock, level: "error" }),
    ...more,
  };
}
