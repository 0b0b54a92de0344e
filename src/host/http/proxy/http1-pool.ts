/**
 * Connections to endpoints by HTTP/1.1: kept open between requests, closed when they are idle or their endpoint left. An endpoint may close
 * an idle connection while a request is sent on it. Requests that may be repeated are (exchange.ts); all others are sent only on new
 * connections or on those that were used within the last second.
 */
import { Agent, request as httpRequest, type ClientRequest, type RequestOptions } from "node:http";
import { Agent as SecureAgent, request as httpsRequest } from "node:https";
import type { Duplex } from "node:stream";
import { keepAllHeaders } from "../node-servers.ts";
import { HEADER_BYTES_MAX, TCP_KEEPALIVE_MS } from "../limits.ts";
import type { ProxyEndpoint } from "./contract.ts";

/** Idle connections are closed after this; earlier if the endpoint announced a shorter time. Less than the 75 s of nginx and Go's 3 min. */
const IDLE_TIMEOUT_MS = 60_000;

/** Idle connections per endpoint. More come from bursts only. */
const IDLE_MAX = 256;

/** Nearly all servers keep an idle connection for longer: a request that must not be repeated is sent on it. */
const FRESH_MS = 1_000;

const FREED_AT = Symbol("instant at which a connection became idle");
const IS_LAST_USE = Symbol("its endpoint left: it is closed after the request that runs on it");

interface Pooled extends Duplex {
  [FREED_AT]?: number;
  [IS_LAST_USE]?: true;
}

const OPTIONS = {
  keepAlive: true,
  keepAliveMsecs: TCP_KEEPALIVE_MS,
  maxFreeSockets: IDLE_MAX,
  timeout: IDLE_TIMEOUT_MS,
  scheduling: "lifo",
  noDelay: true,
} as const;

/** Notes when a connection became idle, which Node does not. Returns false if it is not kept. */
class HttpAgent extends Agent {
  override keepSocketAlive(socket: Pooled): boolean {
    socket[FREED_AT] = performance.now();
    return socket[IS_LAST_USE] === undefined && isKept(super.keepSocketAlive(socket));
  }
}

class HttpsAgent extends SecureAgent {
  override keepSocketAlive(socket: Pooled): boolean {
    socket[FREED_AT] = performance.now();
    return socket[IS_LAST_USE] === undefined && isKept(super.keepSocketAlive(socket));
  }
}

/** Node's types declare no result; it is true, or false if the endpoint announced that it closes the connection. */
function isKept(result: unknown): boolean {
  return result !== false;
}

export interface PooledRequest {
  readonly endpoint: ProxyEndpoint;
  readonly isTls: boolean;
  readonly method: string;
  readonly target: string;
  /** Names and values, alternating. */
  readonly headers: readonly string[];
  readonly timeoutMs: number;
  /** False: it must not be sent on a connection that the endpoint may be closing. */
  readonly isRepeatable: boolean;
  /** On a connection of its own, which is not kept. */
  readonly isUpgrade: boolean;
  /** Name of the TLS handshake. */
  readonly serverName: string;
}

export class Http1Pool {
  readonly #plain = new HttpAgent(OPTIONS);
  // Endpoints are addressed by IP and mostly have certificates of their own making, so they are not verified, as nginx does not.
  readonly #secure = new HttpsAgent({ ...OPTIONS, rejectUnauthorized: false });

  /** Throws if Node refuses the method, the target or a header. */
  send({ endpoint, isTls, method, target, headers, timeoutMs, isRepeatable, isUpgrade, serverName }: PooledRequest): ClientRequest {
    const { address, port } = endpoint;
    const agent = isTls ? this.#secure : this.#plain;
    if (!isRepeatable)
      closeStale(agent, agent.getName({ host: address, port, ...(isTls ? { servername: serverName, rejectUnauthorized: false } : {}) }));
    const options: RequestOptions = {
      host: address,
      port,
      method,
      path: target,
      // Node's types declare an object; a flat list is sent as it is, without copying.
      headers,
      agent: isUpgrade ? false : agent,
      setHost: false,
      timeout: timeoutMs,
      maxHeaderSize: HEADER_BYTES_MAX,
    };
    const request = isTls ? httpsRequest({ ...options, servername: serverName, rejectUnauthorized: false }) : httpRequest(options);
    keepAllHeaders(request);
    return request;
  }

  /** Closes the idle connections of endpoints that left, and those in use after their request: a program may wait for that to exit. */
  forget(endpoints: Iterable<ProxyEndpoint>): void {
    for (const { address, port } of endpoints) {
      const name = this.#plain.getName({ host: address, port });
      useLast(this.#plain.sockets[name]);
      closeAll(this.#plain.freeSockets[name]);
      // Their names have the settings of TLS behind the address.
      for (const [key, sockets] of Object.entries(this.#secure.sockets)) if (key.startsWith(name)) useLast(sockets);
      for (const [key, sockets] of Object.entries(this.#secure.freeSockets)) if (key.startsWith(name)) closeAll(sockets);
    }
  }

  close(): void {
    this.#plain.destroy();
    this.#secure.destroy();
  }
}

/** The last one became idle last, and is the one that would be used. */
function closeStale(agent: Agent, name: string): void {
  const sockets = agent.freeSockets[name];
  const last: Pooled | undefined = sockets?.at(-1);
  if (sockets === undefined || last === undefined || performance.now() - (last[FREED_AT] ?? 0) <= FRESH_MS) return;
  closeAll(sockets);
}

function useLast(sockets: readonly Pooled[] = []): void {
  for (const socket of sockets) socket[IS_LAST_USE] = true;
}

/** The agent removes them from the list. */
function closeAll(sockets: readonly Duplex[] = []): void {
  for (const socket of [...sockets]) socket.destroy();
}
