/**
 * The endpoints of one Service port: round robin, with passive health. An endpoint that keeps failing is ejected for a while; if all are,
 * all are tried, since an answer that may fail is better than none. State survives changes of the list.
 */
import { fnv1a32 } from "../../base/crypto/fnv-1a.ts";
import type { Clock } from "../../base/clock.ts";
import type { ProxyEndpoint } from "../../host/http/proxy/contract.ts";

/** Failures in a row after which an endpoint is ejected. One may be a connection that was closed while idle. */
const FAILURES_MAX = 2;

/** Ejected for this long: short enough for a Pod that restarts, long enough not to slow down every request. */
const EJECTED_MS = 10_000;

export interface PooledEndpoint extends ProxyEndpoint {
  /** Value of the sticky cookie: the same in every process, and not the address. */
  readonly id: string;
  failures: number;
  /** By the monotonic clock. */
  ejectedUntilMs: number;
}

export class BackendPool {
  readonly #clock: Pick<Clock, "monotonic">;
  #endpoints: readonly PooledEndpoint[] = [];
  #turn = 0;

  constructor(clock: Pick<Clock, "monotonic">) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#endpoints.length;
  }

  get ejectedCount(): number {
    const nowMs = this.#clock.monotonic();
    return this.#endpoints.filter(({ ejectedUntilMs }) => ejectedUntilMs > nowMs).length;
  }

  /** Returns those that left. Requests that run on them finish. */
  update(endpoints: readonly ProxyEndpoint[]): readonly ProxyEndpoint[] {
    const known = new Map(this.#endpoints.map((endpoint) => [keyOf(endpoint), endpoint]));
    this.#endpoints = endpoints.map((endpoint) => {
      const key = keyOf(endpoint);
      const before = known.get(key);
      known.delete(key);
      return before ?? { ...endpoint, id: idOf(key), failures: 0, ejectedUntilMs: 0 };
    });
    return [...known.values()];
  }

  /** Hot path: must not allocate. `tried`: not again. */
  next(tried: readonly PooledEndpoint[]): PooledEndpoint | undefined {
    const endpoints = this.#endpoints;
    const nowMs = this.#clock.monotonic();
    let ejected = -1;
    for (let count = endpoints.length; count > 0; count--) {
      this.#turn = (this.#turn + 1) % endpoints.length;
      const endpoint = endpoints[this.#turn] as PooledEndpoint;
      if (tried.includes(endpoint)) continue;
      if (endpoint.ejectedUntilMs <= nowMs) return endpoint;
      if (ejected === -1) ejected = this.#turn;
    }
    if (ejected === -1) return undefined;
    this.#turn = ejected;
    return endpoints[ejected];
  }

  /** Of a sticky cookie. Undefined: it left, or is ejected. */
  byId(id: string): PooledEndpoint | undefined {
    const nowMs = this.#clock.monotonic();
    return this.#endpoints.find((endpoint) => endpoint.id === id && endpoint.ejectedUntilMs <= nowMs);
  }

  answered(endpoint: PooledEndpoint): void {
    endpoint.failures = 0;
    endpoint.ejectedUntilMs = 0;
  }

  failed(endpoint: PooledEndpoint): void {
    if (++endpoint.failures >= FAILURES_MAX) endpoint.ejectedUntilMs = this.#clock.monotonic() + EJECTED_MS;
  }
}

function keyOf({ address, port }: ProxyEndpoint): string {
  return `${address} ${port}`;
}

function idOf(key: string): string {
  return [key, `sticky ${key}`].map((text) => fnv1a32(text).toString(16).padStart(8, "0")).join("");
}
