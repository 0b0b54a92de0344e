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

/** "default/web-7", the key of a Service. */
export function serviceKey(index: number): string {
  return `default/web-${index}`;
}

/** In 10.96.0.0/12, spread like addresses that the API server allocates. */
export function clusterIp(index: number): string {
  return `10.${96 + (index % 16)}.${Math.floor(index / BYTE) % BYTE}.${(index % (BYTE - 1)) + 1}`;
}

/** A cluster of `count` Services with 10 endpoints each, whose EndpointSlices can be replaced. */
export class ServiceFleet {
  readonly #services = new Map<string, Service>();
  readonly #slices = new Map<string, EndpointSlice>();
  readonly computation: ModelComputation;

  constructor(count: number) {
    for (let index = 0; index < count; index++) {
      this.#services.set(serviceKey(index), serviceOf(index));
      this.setEndpoints(index, 0);
    }
    const source = {
      serviceKeys: () => this.#services.keys(),
      service: (key: string) => this.#services.get(key),
      slices: (key: string) => {
        const slice = this.#slices.get(key);
        return slice === undefined ? [] : [slice];
      },
    };
    const settings = { nodePortAddresses: ["0.0.0.0/0", "::/0"], podCidrs: ["10.128.0.0/9"], nodeIps: [] };
    this.computation = new ModelComputation(source, { node: { name: "bench" }, settings });
  }

  /** Replaces the first endpoint of a Service by another one per `generation`. */
  setEndpoints(index: number, generation: number): void {
    const addresses = Array.from({ length: ENDPOINTS }, (_, endpoint) =>
      endpoint === 0 ? `10.254.${generation % BYTE}.${index % BYTE}` : endpointAddress(index * ENDPOINTS + endpoint),
    );
    this.#slices.set(serviceKey(index), {
      apiVersion: "discovery.k8s.io/v1",
      kind: "EndpointSlice",
      metadata: { namespace: "default", name: `web-${index}-1` },
      addressType: "IPv4",
      endpoints: addresses.map((address) => ({ addresses: [address], conditions: { ready: true } })),
      ports: [{ name: "http", port: 8080, protocol: "TCP" }],
    });
  }
}

function serviceOf(index: number): Service {
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

export interface RecordedRun {
  readonly command: string;
  readonly words: readonly string[];
  readonly input?: string;
}

/** Runs commands in `inner` and records them. */
export class RecordingNamespace implements NetworkNamespace {
  readonly #inner: NetworkNamespace;
  #runs: RecordedRun[] = [];

  constructor(inner: NetworkNamespace) {
    this.#inner = inner;
  }

  get name(): string {
    return this.#inner.name;
  }

  run(command: string, words: readonly string[], input?: string): Promise<string> {
    this.#runs.push({ command, words, ...(input === undefined ? {} : { input }) });
    return this.#inner.run(command, words, input);
  }

  /** The commands since the last call. */
  take(): readonly RecordedRun[] {
    const runs = this.#runs;
    this.#runs = [];
    return runs;
  }

  /** Repeats recorded commands. */
  async replay(runs: readonly RecordedRun[]): Promise<void> {
    for (const { command, words, input } of runs) await this.#inner.run(command, words, input);
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
