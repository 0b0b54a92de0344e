/**
 * The ports of the ingress controller. They are in use only while an Ingress exists, so that a Service of type LoadBalancer can have port 80
 * of the node on a cluster without Ingresses. A port that is taken, or that needs root, is replaced: 8080 and 8443, then any free one.
 */
import type { Service } from "../api/generated/core/v1.ts";
import type { Logger } from "../base/logger.ts";
import { createProxyServer, type ProxyCertificate, type ProxyCertificates, type ProxyServer } from "../host/http/proxy/proxy-server.ts";
import type { ProxyHandler } from "../host/http/proxy/contract.ts";
import { ListenError } from "../host/http/server.ts";

export interface Ports {
  readonly http: number;
  readonly https: number;
}

const FALLBACKS: Ports = { http: 8080, https: 8443 };

const ANY_PORT = 0;

export interface ListenersOptions {
  readonly handler: ProxyHandler;
  readonly defaultCertificate: ProxyCertificate;
  /** Absent: all addresses of the machine. */
  readonly host?: string | undefined;
  readonly wanted: Ports;
  /** True if something that is not a process of this machine has it. */
  isTaken(port: number): boolean;
  /** Called after it started or stopped to listen. */
  onChange(): void;
  readonly log: Logger;
}

export class Listeners implements AsyncDisposable {
  readonly #options: ListenersOptions;
  #server: ProxyServer | undefined;
  #ports: Ports | undefined;
  #certificates: ProxyCertificates = new Map();

  constructor(options: ListenersOptions) {
    this.#options = options;
  }

  /** Of the last start; the wanted ones before. */
  get ports(): Ports {
    return this.#ports ?? this.#options.wanted;
  }

  /** Undefined while it does not listen. */
  get server(): ProxyServer | undefined {
    return this.#server;
  }

  /** Rejects if no port at all can be used. */
  async start(): Promise<void> {
    if (this.#server !== undefined) return;
    const { handler, defaultCertificate, log } = this.#options;
    const server = createProxyServer({ handler, defaultCertificate, log });
    server.useCertificates(this.#certificates);
    try {
      this.#ports = { http: await this.#listen(server, "http"), https: await this.#listen(server, "https") };
    } catch (error) {
      await server[Symbol.asyncDispose]();
      throw error;
    }
    this.#server = server;
    // They may have changed while it began to listen.
    server.useCertificates(this.#certificates);
    log.info("Listening", { ...this.#ports });
    this.#options.onChange();
  }

  async #listen(server: ProxyServer, protocol: "http" | "https"): Promise<number> {
    const { wanted, host, isTaken } = this.#options;
    for (const port of [wanted[protocol], FALLBACKS[protocol]]) {
      if (port !== ANY_PORT && isTaken(port)) continue;
      try {
        return await server.listen(protocol, { host, port });
      } catch (error) {
        if (!(error instanceof ListenError) || !["EADDRINUSE", "EACCES"].includes(error.code)) throw error;
        this.#options.log.warn("A port cannot be used", { protocol, port, error });
      }
    }
    return server.listen(protocol, { host, port: ANY_PORT });
  }

  /** Running requests finish. */
  async stop(): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    this.#server = undefined;
    this.#options.onChange();
    await server[Symbol.asyncDispose]();
  }

  useCertificates(certificates: ProxyCertificates): void {
    this.#certificates = certificates;
    this.#server?.useCertificates(certificates);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}

/** Whether a Service of type LoadBalancer has this port of one of our addresses: the service proxy takes its packets. */
export function isLoadBalancerPort(services: readonly Service[], addresses: readonly string[], port: number): boolean {
  return services.some(
    ({ spec, status }) =>
      status?.loadBalancer?.ingress?.some(({ ip = "" }) => addresses.includes(ip)) === true &&
      spec?.ports?.some((one) => one.port === port && (one.protocol ?? "TCP") === "TCP") === true,
  );
}
