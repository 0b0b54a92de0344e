/**
 * Decides on every request by the routing table: redirect, refusal, or forward to an endpoint. The table and the endpoints change while it
 * runs; a request keeps what it was decided by.
 */
import type { Clock } from "../../base/clock.ts";
import type {
  ProxyDecision,
  ProxyEndpoint,
  ProxyForward,
  ProxyHandler,
  ProxyRecord,
  ProxyReply,
  ProxyRequest,
} from "../../host/http/proxy/contract.ts";
import type { Route, RoutingTable } from "../model.ts";
import { BackendPool, type PooledEndpoint } from "./backend-pool.ts";
import { matchRoute, resolvedPath, rewrittenPath } from "./match.ts";
import { RateLimits } from "./rate-limits.ts";

export interface IngressHandlerOptions {
  readonly clock: Clock;
  /** Of the HTTPS server, for redirects. */
  httpsPort(): number;
  /** `ingress`: undefined if no route matched. */
  onFinished(record: ProxyRecord, ingress: string | undefined): void;
}

export const EMPTY_TABLE: RoutingTable = {
  hosts: new Map(),
  wildcards: new Map(),
  anyHost: undefined,
  fallback: undefined,
  backends: new Map(),
  secrets: new Map(),
  served: [],
};

export class IngressHandler implements ProxyHandler {
  readonly #options: IngressHandlerOptions;
  readonly #rates: RateLimits;
  readonly #pools = new Map<string, BackendPool>();
  #table = EMPTY_TABLE;

  constructor(options: IngressHandlerOptions) {
    this.#options = options;
    this.#rates = new RateLimits(options.clock);
  }

  get table(): RoutingTable {
    return this.#table;
  }

  get pools(): ReadonlyMap<string, BackendPool> {
    return this.#pools;
  }

  /** Pools of backends that no route uses any more are removed. Returns their endpoints. */
  useTable(table: RoutingTable): readonly ProxyEndpoint[] {
    this.#table = table;
    const left: ProxyEndpoint[] = [];
    for (const [key, pool] of this.#pools) {
      if (table.backends.has(key)) continue;
      left.push(...pool.update([]));
      this.#pools.delete(key);
    }
    return left;
  }

  /** Returns the endpoints that left. */
  useEndpoints(backendKey: string, endpoints: readonly ProxyEndpoint[]): readonly ProxyEndpoint[] {
    return this.#poolOf(backendKey).update(endpoints);
  }

  #poolOf(key: string): BackendPool {
    let pool = this.#pools.get(key);
    if (pool === undefined) this.#pools.set(key, (pool = new BackendPool(this.#options.clock)));
    return pool;
  }

  decide(request: ProxyRequest): ProxyDecision {
    const path = resolvedPath(request.path);
    if (path === undefined) return BAD_PATH;
    const found = matchRoute(this.#table, request.host, path);
    if (found === undefined) return NOT_FOUND;
    const { route, matched } = found;
    return this.#refusal(route, request) ?? this.#forward(route, request, { path, matched });
  }

  #refusal(route: Route, request: ProxyRequest): ProxyReply | undefined {
    const { backend, settings, ingress, redirectsToTls } = route;
    if (redirectsToTls && !request.isTls && request.host !== "") return { ...redirect(request, this.#options.httpsPort()), route: ingress };
    if (settings.rateLimit !== undefined && !this.#rates.admit(ingress, request.peerAddress, settings.rateLimit))
      return { ...TOO_MANY, route: ingress };
    return backend.is === "none" ? { ...UNAVAILABLE, route: ingress } : undefined;
  }

  #forward(route: Route, request: ProxyRequest, { path, matched }: { readonly path: string; readonly matched: string }): ProxyForward {
    const { backend, settings } = route;
    const { rewritePath, stickyCookie } = settings;
    const target =
      rewritePath === undefined ? request.path : rewrittenPath({ received: request.path, resolved: path }, matched, rewritePath);
    const pool = this.#poolOf(backend.is === "service" ? backend.key : "");
    const sticky = stickyCookie === undefined ? undefined : { name: stickyCookie, id: cookieOf(request.header("cookie"), stickyCookie) };
    return new RouteForward({ pool, route, target: target + request.query, sticky, isTls: request.isTls });
  }

  finished(record: ProxyRecord): void {
    this.#options.onFinished(record, record.decision.route);
  }
}

interface Sticky {
  readonly name: string;
  /** Of the client's cookie; "": it has none. */
  readonly id: string;
}

interface ForwardOptions {
  readonly pool: BackendPool;
  readonly route: Route;
  readonly target: string;
  readonly sticky: Sticky | undefined;
  readonly isTls: boolean;
}

class RouteForward implements ProxyForward {
  readonly is = "forward";
  readonly route: string;
  readonly target: string;
  readonly policy: Route["settings"];
  readonly #options: ForwardOptions;
  readonly #tried: PooledEndpoint[] = [];

  constructor(options: ForwardOptions) {
    this.#options = options;
    this.route = options.route.ingress;
    this.target = options.target;
    this.policy = options.route.settings;
  }

  next(): PooledEndpoint | undefined {
    const { pool, sticky } = this.#options;
    const kept = sticky === undefined || sticky.id === "" || this.#tried.length > 0 ? undefined : pool.byId(sticky.id);
    const endpoint = kept ?? pool.next(this.#tried) ?? this.#onlyOne();
    if (endpoint !== undefined) this.#tried.push(endpoint);
    return endpoint;
  }

  /** The only endpoint is tried again: its connection may have been closed while idle. */
  #onlyOne(): PooledEndpoint | undefined {
    return this.#options.pool.size === 1 ? this.#options.pool.next([]) : undefined;
  }

  answered(endpoint: PooledEndpoint): void {
    this.#options.pool.answered(endpoint);
  }

  failed(endpoint: PooledEndpoint): void {
    this.#options.pool.failed(endpoint);
  }

  answerHeaders(endpoint: PooledEndpoint): readonly string[] {
    const { sticky, isTls } = this.#options;
    if (sticky === undefined || sticky.id === endpoint.id) return NO_HEADERS;
    return ["set-cookie", `${sticky.name}=${endpoint.id}; Path=/; HttpOnly; SameSite=Lax${isTls ? "; Secure" : ""}`];
  }
}

const NO_HEADERS: readonly string[] = [];

/** "" if the client has no such cookie. */
function cookieOf(header: string | undefined, name: string): string {
  for (const part of header?.split(";") ?? []) {
    const pair = part.trim();
    if (pair.startsWith(name) && pair[name.length] === "=") return pair.slice(name.length + 1);
  }
  return "";
}

const HTTPS_PORT = 443;

/** 308 keeps the method and the body. */
function redirect({ host, path, query }: ProxyRequest, httpsPort: number): ProxyReply {
  const port = httpsPort === HTTPS_PORT ? "" : `:${httpsPort}`;
  return { is: "reply", status: 308, headers: ["location", `https://${host}${port}${path}${query}`], body: "" };
}

function reply(status: number, body: string, more: readonly string[] = []): ProxyReply {
  return { is: "reply", status, headers: ["content-type", "text/plain; charset=utf-8", ...more], body: `${body}\n` };
}

const NOT_FOUND = reply(404, "No Ingress matches this host and path");
const BAD_PATH = reply(400, "The path cannot be resolved");
const UNAVAILABLE = reply(503, "Service Unavailable");
const TOO_MANY = reply(429, "Too Many Requests", ["retry-after", "1"]);
