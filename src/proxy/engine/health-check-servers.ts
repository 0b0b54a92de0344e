/**
 * The healthCheckNodePorts of load balancer Services with external traffic policy Local: an HTTP server per port that reports to an external
 * load balancer whether this node has endpoints of the Service. Upstream's answers (pkg/proxy/healthcheck). A port that is in use is reported
 * in an event of the Service and tried again with back-off.
 */
import { Backoff } from "../../base/backoff.ts";
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import { serveSmallPages, type SmallAnswer, type SmallServer } from "../../host/http/small-server.ts";
import type { Random } from "../../base/random.ts";
import type { HealthCheck } from "../model.ts";

/** Of a port in use: often the one of a Service that is being deleted, and rarely one of a process that stays. */
const RETRY = { minMs: 2_000, maxMs: 120_000 };

export interface HealthCheckServersOptions {
  /** Addresses to listen on. */
  readonly hosts: readonly string[];
  isHealthy(): boolean;
  /** A port of a Service could not be opened. */
  failed(check: HealthCheck, message: string): void;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

interface Retry {
  readonly backoff: Backoff;
  atMs: number;
}

interface Running {
  readonly server: SmallServer;
  check: HealthCheck;
}

export class HealthCheckServers implements AsyncDisposable {
  readonly #options: HealthCheckServersOptions;
  readonly #running = new Map<string, Running>();
  /** Of ports that could not be opened. */
  readonly #retries = new Map<string, Retry>();
  #checks: readonly HealthCheck[] = [];

  constructor(options: HealthCheckServersOptions) {
    this.#options = options;
  }

  /** Serves exactly these. To be called again while some could not be opened: a call opens those whose back-off has passed. Never rejects. */
  async update(checks: readonly HealthCheck[]): Promise<void> {
    if (checks === this.#checks && this.#running.size === checks.length) return;
    this.#checks = checks;
    const wanted = new Map(checks.map((check) => [keyOf(check), check]));
    for (const [key, running] of [...this.#running]) {
      const check = wanted.get(key);
      if (check !== undefined) running.check = check;
      else {
        this.#running.delete(key);
        await running.server[Symbol.asyncDispose]();
      }
    }
    for (const key of this.#retries.keys()) if (!wanted.has(key)) this.#retries.delete(key);
    for (const [key, check] of wanted) if (!this.#running.has(key) && this.#isDue(key)) await this.#open(key, check);
  }

  #isDue(key: string): boolean {
    const retry = this.#retries.get(key);
    return retry === undefined || this.#options.clock.monotonic() >= retry.atMs;
  }

  #retryLater(key: string): void {
    const { clock, random } = this.#options;
    let retry = this.#retries.get(key);
    if (retry === undefined) this.#retries.set(key, (retry = { backoff: new Backoff({ ...RETRY, random }), atMs: 0 }));
    retry.atMs = clock.monotonic() + retry.backoff.next();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.update([]);
  }

  async #open(key: string, check: HealthCheck): Promise<void> {
    const { hosts, isHealthy, failed, log } = this.#options;
    try {
      const answer = () => healthAnswer(this.#running.get(key)?.check ?? check, isHealthy());
      const server = await serveSmallPages({ hosts, port: check.port }, answer);
      this.#running.set(key, { server, check });
      this.#retries.delete(key);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      log.warn("Opening a healthCheckNodePort failed", { service: `${check.namespace}/${check.name}`, port: check.port, error });
      failed(check, `node port ${check.port}: ${reason}`);
      this.#retryLater(key);
    }
  }
}

/** Upstream's body, to the letter. */
export function healthAnswer({ namespace, name, localEndpoints }: HealthCheck, isHealthy: boolean): SmallAnswer {
  const service = `\t"service": {\n\t\t"namespace": ${JSON.stringify(namespace)},\n\t\t"name": ${JSON.stringify(name)}\n\t},`;
  return {
    code: localEndpoints > 0 && isHealthy ? 200 : 503,
    headers: {
      "content-type": "application/json",
      "x-content-type-options": "nosniff",
      "x-load-balancing-endpoint-weight": String(localEndpoints),
    },
    text: `{\n${service}\n\t"localEndpoints": ${localEndpoints},\n\t"serviceProxyHealthy": ${isHealthy}\n}`,
  };
}

function keyOf({ namespace, name, port }: HealthCheck): string {
  return `${namespace}/${name}:${port}`;
}
