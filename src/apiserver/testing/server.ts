/**
 * The API server's core for tests: on a store in memory, under virtual time, from a fixed seed, without sockets. `call` goes through
 * `exchange`, so what a test sees is what a client would see.
 */
import { all } from "../../api/all.ts";
import type { JsonObject } from "../../api/machinery/object.ts";
import { schemas } from "../../api/schemas.ts";
import { silentLogger } from "../../base/logger.ts";
import { seededRandom } from "../../base/random.ts";
import type { VirtualClock } from "../../base/virtual-clock.ts";
import { memoryStore } from "../../testing/memory-store.ts";
import { virtualClock } from "../../testing/virtual-clock.ts";
import type { Store } from "../../store/store.ts";
import { startApiServer, type ApiServer, type ApiServerOptions } from "../api-server.ts";
import type { ExchangeAnswer, ExchangeRequest, Sink } from "../exchange.ts";

const ADMINISTRATOR = { name: "kubernetes-admin", groups: ["system:masters", "system:authenticated"] };
const LOOPBACK = { address: "127.0.0.1", isLoopback: true };

export interface CallAnswer {
  readonly code: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** The body as it was sent. */
  readonly text: string;
  readonly bytes: Uint8Array;
  /** The body as JSON; reading it throws if it is none. */
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look at any member without saying its type first
  readonly body: any;
}

export interface StartedServer extends AsyncDisposable {
  readonly server: ApiServer;
  readonly clock: VirtualClock;
  readonly store: Store;
  /** An object is sent as JSON, text and bytes as they are. The path may have a query. */
  call(
    method: string,
    path: string,
    body?: JsonObject | readonly unknown[] | string | Uint8Array,
    headers?: Readonly<Record<string, string>>,
  ): Promise<CallAnswer>;
  /** A watch, whose events so far are in `events`. */
  watch(path: string, headers?: Readonly<Record<string, string>>): Promise<WatchCall>;
}

export interface WatchCall {
  readonly code: number;
  readonly headers: CallAnswer["headers"];
  // oxlint-disable-next-line typescript/no-explicit-any -- as above
  readonly events: readonly { readonly type: string; readonly object: any }[];
  readonly isEnded: boolean;
  /** As if the client hung up. */
  close(): void;
}

export async function startServer(options: Partial<ApiServerOptions> = {}): Promise<StartedServer> {
  const clock = virtualClock();
  const store = options.store ?? memoryStore(clock);
  const server = await startApiServer({
    store,
    resources: all,
    schemas,
    clock,
    random: seededRandom(1),
    log: silentLogger,
    authenticator: { authenticate: () => ADMINISTRATOR },
    loadDescriptions: () => Promise.resolve({ ofType: () => undefined, ofField: () => "" }),
    ...options,
    config: { freezeObjects: true, ...options.config },
  });
  return {
    server,
    clock,
    store,
    async call(method, path, body, headers = {}) {
      const answer = await server.exchange(requestOf(method, path, body, headers));
      if (!("body" in answer)) throw new Error(`${method} ${path} answers with a stream: use watch`);
      return callAnswer(answer);
    },
    async watch(path, headers = {}) {
      return watchCall(await server.exchange(requestOf("GET", path, undefined, headers)));
    },
    async [Symbol.asyncDispose]() {
      await server.close();
      await store.close();
    },
  };
}

function requestOf(
  method: string,
  target: string,
  body: JsonObject | readonly unknown[] | string | Uint8Array | undefined,
  headers: Readonly<Record<string, string>>,
): ExchangeRequest {
  const [path = "", ...query] = target.split("?");
  const all: Readonly<Record<string, string>> = { "user-agent": "test/1.0", ...headers };
  const controller = new AbortController();
  return {
    method,
    path,
    query: query.join("?"),
    header: (name) => all[name],
    body: () => Promise.resolve(bytesOf(body)),
    signal: controller.signal,
    cancel: (reason) => controller.abort(reason),
    peer: LOOPBACK,
  };
}

function bytesOf(body: JsonObject | readonly unknown[] | string | Uint8Array | undefined): Uint8Array {
  if (body === undefined) return new Uint8Array();
  if (body instanceof Uint8Array) return body;
  return new TextEncoder().encode(typeof body === "string" ? body : JSON.stringify(body));
}

function callAnswer({ code, headers, body }: Extract<ExchangeAnswer, { readonly body: unknown }>): CallAnswer {
  const bytes = Uint8Array.from(body.flatMap((piece) => [...piece]));
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
  const { code, headers } = answer;
  const events: { type: string; object: unknown }[] = [];
  const state = { isEnded: false };
  let closed = () => {};
  const end = () => {
    state.isEnded = true;
    closed();
  };
  const sink: Sink = {
    write({ bytes }) {
      for (const line of new TextDecoder().decode(bytes).split("\n")) {
        if (line !== "") events.push(JSON.parse(line) as { type: string; object: unknown });
      }
      return 0;
    },
    end,
    abort: end,
    onClosed(listener) {
      closed = listener;
    },
    onDrained() {},
  };
  answer.stream(sink);
  return {
    code,
    headers,
    events,
    get isEnded() {
      return state.isEnded;
    },
    close: end,
  };
}
