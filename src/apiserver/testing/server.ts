/**
 * The API server's core for tests: on a memory store, under virtual time, with a fixed seed, without sockets. `call` goes through
 * `exchange`, so a test sees what a client would see.
 */
import { resourcesWith } from "../../api/all.ts";
import type { JsonObject } from "../../api/machinery/object.ts";
import { tooLarge } from "../../api/machinery/status-error.ts";
import type { Transport } from "../../api/machinery/transport.ts";
import { schemas } from "../../api/schemas.ts";
import { silentLogger } from "../../base/logger.ts";
import { seededRandom } from "../../base/random.ts";
import type { Clock } from "../../base/clock.ts";
import type { VirtualClock } from "../../base/virtual-clock.ts";
import { memoryStore } from "../../testing/fixtures/memory-store.ts";
import { virtualClock } from "../../testing/virtual-clock.ts";
import type { Store } from "../../store/store.ts";
import { DEFAULT_ADMISSION_CONFIG, type AdmissionConfig } from "../framework/admission-config.ts";
import { all as plugins } from "../admission/all.ts";
import { DEFAULT_API_SERVER_CONFIG } from "../framework/api-server-config.ts";
import type { Authenticator } from "../framework/authentication.ts";
import { withAuthenticatedGroup } from "../authentication/chain.ts";
import type { Identity } from "../framework/identity.ts";
import type { User } from "../framework/request.ts";
import { startApiServer, type ApiServer, type ApiServerOptions } from "../api-server.ts";
import type { ExchangeAnswer, ExchangeRequest, SharedBytes, Sink } from "../framework/exchange.ts";

const ADMINISTRATOR = { name: "kubernetes-admin", groups: ["system:masters", "system:authenticated"] };
/** Authentication is replaced by the tests' user. */
export const TEST_IDENTITY: Identity = { anonymous: true, bootstrapTokens: true, openIdIssuers: [] };

/** Without mutating plugins, so that a test sees what it sent; tests of a plugin enable it with DEFAULT_ADMISSION_CONFIG. */
export const QUIET_ADMISSION: AdmissionConfig = {
  ...DEFAULT_ADMISSION_CONFIG,
  disabledPlugins: Object.entries(plugins).flatMap(([name, { changesObjects }]) => (changesObjects ? [name] : [])),
};

const LOOPBACK = { address: "127.0.0.1", isLoopback: true };

/** A promise is a delayed body. */
export type SentBody = JsonObject | readonly unknown[] | string | Uint8Array | Promise<Uint8Array>;

export interface CallAnswer {
  readonly code: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** The raw body. */
  readonly text: string;
  readonly bytes: Uint8Array;
  /** The body as JSON; throws if it is not JSON. */
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look at any member without saying its type first
  readonly body: any;
}

/** Keyed by lower-case name; a list is several headers of one name. */
export type SentHeaders = Readonly<Record<string, string | readonly string[]>>;

export interface StartedServer<C extends Clock = VirtualClock> extends AsyncDisposable {
  readonly server: ApiServer;
  readonly clock: C;
  readonly store: Store;
  /** An object is sent as JSON, text and bytes as they are. The path may have a query. */
  call(
    method: string,
    path: string,
    body?: SentBody,
    headers?: SentHeaders,
    /** Aborted by the client, or by the server on timeout. */
    controller?: AbortController,
  ): Promise<CallAnswer>;
  /** A watch; events received so far are in `events`. */
  watch(path: string, headers?: Readonly<Record<string, string>>): Promise<WatchCall>;
  /** A WebSocket request. */
  upgrade(method: string, path: string, protocols: readonly string[]): Promise<ExchangeAnswer>;
  /** The same server with another user; `system:authenticated` is added as for all authenticated users. */
  as(user: User): Pick<StartedServer, "call" | "watch">;
  /** A transport of the administrator. */
  transport(): Transport;
}

export interface WatchCall {
  readonly code: number;
  readonly headers: CallAnswer["headers"];
  // oxlint-disable-next-line typescript/no-explicit-any -- as above
  readonly events: readonly { readonly type: string; readonly object: any }[];
  /** The chunks that were sent. */
  readonly chunks: readonly SharedBytes[];
  readonly isEnded: boolean;
  /** The server closed the connection because the client was too slow. */
  readonly isAborted: boolean;
  /** From now on this many bytes stay buffered after each event, until `drain`. */
  hold(waitingBytes: number): void;
  /** The client has read everything buffered. */
  drain(): void;
  /** Simulates a client disconnect. */
  close(): void;
}

export function startServer(options?: Partial<ApiServerOptions> & { readonly clock?: VirtualClock }): Promise<StartedServer>;
export function startServer<C extends Clock>(options: Partial<ApiServerOptions> & { readonly clock: C }): Promise<StartedServer<C>>;
export async function startServer(options: Partial<ApiServerOptions> = {}): Promise<StartedServer<Clock>> {
  const clock = options.clock ?? virtualClock();
  const store = options.store ?? memoryStore(clock);
  const server = await startApiServer({
    store,
    resources: resourcesWith(options.config?.featureGates ?? DEFAULT_API_SERVER_CONFIG.featureGates),
    schemas,
    clock,
    random: seededRandom(1),
    log: silentLogger,
    identity: TEST_IDENTITY,
    // A test with its own authentication uses it for calls, too.
    ...(options.identity === undefined ? { authenticator: asUser(ADMINISTRATOR) } : {}),
    loadDescriptions: () => Promise.resolve({ ofType: () => undefined, ofField: () => "" }),
    ...options,
    config: { freezeObjects: true, authorizationModes: [], admission: QUIET_ADMISSION, ...options.config },
  });
  return {
    server,
    as: (user) => callsOf(server, { [TEST_USER]: JSON.stringify(user) }),
    clock,
    store,
    transport: () => server.transport({ user: ADMINISTRATOR, userAgent: "test/1.0" }),
    ...callsOf(server, {}),
    upgrade(method, path, protocols) {
      const headers = { connection: "Upgrade", upgrade: "websocket" };
      return server.exchange(requestOf(method, path, undefined, headers, new AbortController()), { protocols });
    },
    async [Symbol.asyncDispose]() {
      await server.close();
      await store.close();
    },
  };
}

/** `common` are headers of every request. */
function callsOf(server: ApiServer, common: Readonly<Record<string, string>>): Pick<StartedServer, "call" | "watch"> {
  return {
    async call(method, path, body, headers = {}, controller = new AbortController()) {
      const answer = await server.exchange(requestOf(method, path, body, { ...common, ...headers }, controller));
      if (!("body" in answer)) throw new Error(`${method} ${path} answers with a stream: use watch`);
      return callAnswer(answer);
    },
    async watch(path, headers = {}) {
      return watchCall(await server.exchange(requestOf("GET", path, undefined, { ...common, ...headers }, new AbortController())));
    },
  };
}

/** Names the user of test requests. */
const TEST_USER = "test-user";

/** Every request is from this user, unless `as` says otherwise; the token "known" is this user's, too. */
export function asUser(user: User): Authenticator {
  return {
    authenticate(request) {
      const other = request.header(TEST_USER);
      return { user: other === undefined ? user : withAuthenticatedGroup(JSON.parse(other) as User) };
    },
    reviewToken: (token) =>
      Promise.resolve(
        token === "known" ? { authenticated: true, user, audiences: [] } : { authenticated: false, error: "invalid bearer token" },
      ),
  };
}

/** With RBAC and all bootstrap roles; by default only the administrator is authorized, and the start is quick. */
export function startGuardedServer(options: Partial<ApiServerOptions> & { readonly clock?: VirtualClock } = {}): Promise<StartedServer> {
  const { authorizationModes } = DEFAULT_API_SERVER_CONFIG;
  return startServer({ ...options, config: { authorizationModes, ...options.config } });
}

function requestOf(
  method: string,
  target: string,
  body: SentBody | undefined,
  headers: SentHeaders,
  controller: AbortController,
): ExchangeRequest {
  const [path = "", ...query] = target.split("?");
  const all: SentHeaders = { "user-agent": "test/1.0", ...headers };
  return {
    method,
    path,
    query: query.join("?"),
    header: (name) => {
      if (name === "content-length" && body !== undefined && !(body instanceof Promise)) return String(bytesOf(body).length);
      return all[name] === undefined ? undefined : [all[name]].flat().join(", ");
    },
    headerValues: (name) => [all[name] ?? []].flat(),
    headerNames: () => Object.keys(all),
    body: async (bytesMax = Infinity) => {
      const bytes = body instanceof Promise ? await body : bytesOf(body);
      if (bytes.length > bytesMax) throw tooLarge(`limit is ${bytesMax}`);
      return bytes;
    },
    signal: controller.signal,
    cancel: (reason) => controller.abort(reason),
    peer: LOOPBACK,
  };
}

function bytesOf(body: Exclude<SentBody, Promise<unknown>> | undefined): Uint8Array {
  if (body === undefined) return new Uint8Array();
  if (body instanceof Uint8Array) return body;
  return new TextEncoder().encode(typeof body === "string" ? body : JSON.stringify(body));
}

function callAnswer({ code, headers, body }: Extract<ExchangeAnswer, { readonly body: unknown }>): CallAnswer {
  const bytes = new Uint8Array(body.reduce((length, piece) => length + piece.length, 0));
  let offset = 0;
  for (const piece of body) {
    bytes.set(piece, offset);
    offset += piece.length;
  }
  const text = new TextDecoder().decode(bytes);
  return {
    code,
    headers,
    text,
    bytes,
    get body() {
      return JSON.parse(text);
    },
  };
}

function watchCall(answer: ExchangeAnswer): WatchCall {
  if ("body" in answer) throw new Error(`The watch was refused: ${new TextDecoder().decode(answer.body[0])}`);
  if (!("stream" in answer)) throw new Error("The watch became a WebSocket: use upgrade");
  const sink = new TestSink();
  answer.stream(sink);
  return Object.assign(sink, { code: answer.code, headers: answer.headers });
}

/** Reads everything immediately, unless it is held. */
class TestSink implements Sink {
  readonly chunks: SharedBytes[] = [];
  isEnded = false;
  isAborted = false;
  #waitingBytes = 0;
  readonly #onClosed: (() => void)[] = [];
  #onDrained: () => void = () => {};

  get events(): { type: string; object: unknown }[] {
    const texts = this.chunks.map(({ bytes }) => new TextDecoder().decode(bytes));
    return texts.flatMap((text) => text.split("\n").filter((line) => line !== "")).map((line) => JSON.parse(line) as never);
  }

  write(chunk: SharedBytes): number {
    if (!this.isEnded) this.chunks.push(chunk);
    return this.#waitingBytes;
  }

  end(): void {
    if (this.isEnded) return;
    this.isEnded = true;
    for (const listener of this.#onClosed) listener();
  }

  abort(): void {
    this.isAborted = true;
    this.end();
  }

  close(): void {
    this.end();
  }

  hold(waitingBytes: number): void {
    this.#waitingBytes = waitingBytes;
  }

  drain(): void {
    this.#waitingBytes = 0;
    this.#onDrained();
  }

  onClosed(listener: () => void): void {
    if (this.isEnded) listener();
    else this.#onClosed.push(listener);
  }

  onDrained(listener: () => void): void {
    this.#onDrained = listener;
  }
}
