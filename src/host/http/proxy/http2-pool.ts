/**
 * Connections to endpoints by HTTP/2 without TLS (h2c with prior knowledge), as gRPC servers have it: one per endpoint, shared by its
 * requests, created on demand, closed when it is idle or its endpoint left.
 */
import { connect, type ClientHttp2Session } from "node:http2";
import { CONNECTION_WINDOW_BYTES, HEADER_BYTES_MAX, HEADER_PAIRS_MAX, STREAM_WINDOW_BYTES } from "../limits.ts";
import type { ProxyEndpoint } from "./contract.ts";

const IDLE_TIMEOUT_MS = 60_000;

/** Flow control holds a slow client's answer at its window, so this is never reached by streams that behave. */
const SESSION_MEMORY_MEGABYTES_MAX = 64;

export class Http2Pool {
  readonly #sessions = new Map<string, ClientHttp2Session>();

  /** Resolves when it is connected; rejects if it cannot be, or not in time. */
  session(endpoint: ProxyEndpoint, timeoutMs: number): Promise<ClientHttp2Session> {
    const key = keyOf(endpoint);
    const known = this.#sessions.get(key);
    const session = known !== undefined && !known.closed && !known.destroyed ? known : this.#open(key);
    if (!session.connecting) return Promise.resolve(session);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        session.destroy();
        settle(() => reject(new Error(`Connecting to ${key} timed out`)));
      }, timeoutMs);
      const connected = () => settle(() => resolve(session));
      const failed = (error?: Error) => settle(() => reject(error ?? new Error(`The connection to ${key} was closed`)));
      const settle = (then: () => void) => {
        clearTimeout(timer);
        session.off("connect", connected).off("error", failed).off("close", failed);
        then();
      };
      session.once("connect", connected).once("error", failed).once("close", failed);
    });
  }

  #open(key: string): ClientHttp2Session {
    const session = connect(`http://${key}`, {
      maxSessionMemory: SESSION_MEMORY_MEGABYTES_MAX,
      maxHeaderListPairs: HEADER_PAIRS_MAX,
      settings: { enablePush: false, initialWindowSize: STREAM_WINDOW_BYTES, maxHeaderListSize: HEADER_BYTES_MAX },
    });
    this.#sessions.set(key, session);
    session.once("connect", () => session.setLocalWindowSize(CONNECTION_WINDOW_BYTES));
    // Its streams report it.
    session.on("error", () => {});
    session.once("close", () => {
      if (this.#sessions.get(key) === session) this.#sessions.delete(key);
    });
    session.setTimeout(IDLE_TIMEOUT_MS, () => {
      if (!session.closed) session.close();
    });
    return session;
  }

  /** Connections to endpoints that left are closed after their last request. */
  forget(endpoints: Iterable<ProxyEndpoint>): void {
    for (const endpoint of endpoints) {
      const key = keyOf(endpoint);
      this.#sessions.get(key)?.close();
      this.#sessions.delete(key);
    }
  }

  close(): void {
    for (const session of this.#sessions.values()) session.destroy();
    this.#sessions.clear();
  }
}

/** "10.244.0.5:80", "[fd00::5]:80" */
function keyOf({ address, port }: ProxyEndpoint): string {
  return address.includes(":") ? `[${address}]:${port}` : `${address}:${port}`;
}
