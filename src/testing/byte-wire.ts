/**
 * A wire between a client and an API server of this process on which everything travels as the bytes that HTTP would carry, so that a
 * test can break it at any of them: a watch can be cut or fall silent after any number of bytes, come in small pieces or late; the server
 * can be stopped and started again over the same store. Requests that find no server fail as those that find no connection.
 */
import type { JsonObject, KubeObject } from "../api/machinery/object.ts";
import { StatusError, type Reason, type Status } from "../api/machinery/status-error.ts";
import type {
  RequestOptions,
  Transport,
  TransportEvent,
  TransportRequest,
  TransportWatch,
  TransportWatchListener,
} from "../api/machinery/transport.ts";
import type { ExchangeAnswer, ExchangeRequest, Sink } from "../apiserver/exchange.ts";
import { startServer, type StartedServer } from "../apiserver/testing/server.ts";
import type { VirtualClock } from "../base/virtual-clock.ts";
import type { Store } from "../store/store.ts";
import { memoryStore } from "./memory-store.ts";
import { virtualClock } from "./virtual-clock.ts";

/** What becomes of one watch. */
export interface WatchFate {
  /** So many bytes of it pass. Infinity: all. */
  readonly bytes: number;
  /** What the client sees then: the end of the connection, or nothing at all, for ever. */
  readonly then: "cut" | "silence";
  /** They come in pieces of at most so many. */
  readonly pieceBytes: number;
  /** Each piece comes so much later. */
  readonly delayMs: number;
}

export const UNBROKEN: WatchFate = { bytes: Infinity, then: "cut", pieceBytes: Infinity, delayMs: 0 };

export interface ByteWire extends AsyncDisposable {
  readonly clock: VirtualClock;
  readonly store: Store;
  /** Across the wire. Only lists and watches travel on it. */
  readonly transport: Transport;
  /** Asked of every watch when it begins. */
  fateOf: (request: Omit<TransportRequest, "verb">) => WatchFate;
  /** Watches that were broken off so far. */
  readonly breaks: number;
  /** The bytes of the longest watch so far. */
  readonly longestBytes: number;
  /** Not across the wire. Throws while there is no server. */
  direct(): Transport;
  stopServer(): Promise<void>;
  startServer(): Promise<void>;
}

export async function byteWire(): Promise<ByteWire> {
  const clock = virtualClock();
  const store = memoryStore(clock);
  let started: StartedServer | undefined = await startServer({ clock, store });
  const counts = { breaks: 0, longestBytes: 0 };
  const wire: ByteWire = {
    clock,
    store,
    fateOf: () => UNBROKEN,
    get breaks() {
      return counts.breaks;
    },
    get longestBytes() {
      return counts.longestBytes;
    },
    transport: {
      request: async (request) => listed(await ask(started, request)),
      async watch(request, listener) {
        const fate = wire.fateOf(request);
        const answer = await ask(started, request);
        if (!("stream" in answer)) throw refusalOf(answer);
        return new BrokenWatch(answer.stream, { fate, clock, listener, counts }).begin();
      },
      document: () => Promise.reject(noServer()),
    },
    direct() {
      if (started === undefined) throw noServer();
      return started.transport();
    },
    async stopServer() {
      const stopping = started;
      started = undefined;
      await stopping?.server.close();
    },
    async startServer() {
      started ??= await startServer({ clock, store });
    },
    async [Symbol.asyncDispose]() {
      await wire.stopServer();
      await store.close();
    },
  };
  return wire;
}

function noServer(): StatusError {
  return new StatusError("ServiceUnavailable", "Nobody answers", { cause: new Error("connect ECONNREFUSED") });
}

async function ask(started: StartedServer | undefined, request: Omit<TransportRequest, "verb"> & { readonly verb?: string }) {
  if (started === undefined) throw noServer();
  const { group, version, plural, namespace, options = {}, signal = new AbortController().signal } = request;
  const root = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
  const path = `${root}/${namespace === undefined ? "" : `namespaces/${namespace}/`}${plural}`;
  return started.server.exchange(exchangeRequest(path, queryOf(options, request.verb === undefined), signal));
}

function queryOf(options: RequestOptions, isWatch: boolean): string {
  const query = new URLSearchParams(isWatch ? { watch: "true" } : {});
  for (const [name, value] of Object.entries(options)) query.set(name, String(value));
  return query.toString();
}

function exchangeRequest(path: string, query: string, signal: AbortSignal): ExchangeRequest {
  const headers: Readonly<Record<string, string>> = { "user-agent": "wire/1.0", accept: "application/json" };
  return {
    method: "GET",
    path,
    query,
    header: (name) => headers[name],
    headerValues: (name) => [headers[name] ?? []].flat(),
    headerNames: () => Object.keys(headers),
    body: () => Promise.resolve(new Uint8Array()),
    signal,
    cancel: () => undefined,
    peer: { address: "127.0.0.1", isLoopback: true },
  };
}

function jsonOf(answer: ExchangeAnswer): JsonObject {
  if (!("body" in answer)) throw new Error("The answer is a stream");
  const decoder = new TextDecoder();
  return JSON.parse(answer.body.map((piece) => decoder.decode(piece, { stream: true })).join("")) as JsonObject;
}

function refusalOf(answer: ExchangeAnswer): StatusError {
  return statusError(jsonOf(answer) as unknown as Status);
}

function statusError({ reason = "Unknown", message = "", details }: Status): StatusError {
  return new StatusError(reason as Reason, message, details === undefined ? {} : { details });
}

function listed(answer: ExchangeAnswer) {
  const body = jsonOf(answer) as unknown as { kind: string; items: KubeObject[]; metadata: object };
  if (body.kind === "Status") throw refusalOf(answer);
  // A list does not say of each item what it is.
  const kind = { apiVersion: (body as unknown as KubeObject).apiVersion, kind: body.kind.replace(/List$/, "") };
  return { is: "list" as const, items: body.items.map((item) => ({ ...kind, ...item })), metadata: body.metadata, warnings: [] };
}

interface BrokenWatchOptions {
  readonly fate: WatchFate;
  readonly clock: VirtualClock;
  readonly listener: TransportWatchListener;
  readonly counts: { breaks: number; longestBytes: number };
}

/** Takes what the server sends, lets pass what its fate is, and makes events of it again. */
class BrokenWatch implements Sink, TransportWatch {
  readonly #stream: (sink: Sink) => void;
  readonly #options: BrokenWatchOptions;
  readonly #onClosed: (() => void)[] = [];
  #passedBytes = 0;
  /** A client has heard the end. */
  #isEnded = false;
  /** Nothing more passes. */
  #isBroken = false;
  #line: number[] = [];
  /** Late pieces come one after the other. */
  #late: Promise<void> = Promise.resolve();

  constructor(stream: (sink: Sink) => void, options: BrokenWatchOptions) {
    this.#stream = stream;
    this.#options = options;
  }

  /** Nothing is heard before the caller has the watch. */
  begin(): TransportWatch {
    if (this.#options.fate.bytes === 0) this.#break();
    this.#stream(this);
    return this;
  }

  write({ bytes }: { readonly bytes: Uint8Array }): number {
    const { pieceBytes, delayMs } = this.#options.fate;
    for (let start = 0; start < bytes.length; start += pieceBytes) {
      const piece = bytes.subarray(start, Math.min(bytes.length, start + pieceBytes));
      if (delayMs === 0) this.#pass(piece);
      else this.#later(() => this.#pass(piece));
    }
    return 0;
  }

  end(): void {
    if (this.#options.fate.delayMs === 0) this.#end();
    else this.#later(() => this.#end());
  }

  abort(): void {
    this.end();
  }

  stop(): void {
    this.#isBroken = true;
    for (const listener of this.#onClosed.splice(0)) listener();
    this.#end();
  }

  onClosed(listener: () => void): void {
    this.#onClosed.push(listener);
  }

  onDrained(): void {}

  #later(work: () => void): void {
    const { clock, fate } = this.#options;
    this.#late = this.#late.then(() => clock.sleep(fate.delayMs)).then(work);
  }

  #pass(piece: Uint8Array): void {
    const { fate, counts } = this.#options;
    for (const byte of piece) {
      if (this.#isBroken) return;
      this.#passedBytes++;
      counts.longestBytes = Math.max(counts.longestBytes, this.#passedBytes);
      if (byte === LINE_FEED) this.#tellLine();
      else this.#line.push(byte);
      if (this.#passedBytes === fate.bytes) this.#break();
    }
  }

  #break(): void {
    if (this.#isBroken) return;
    this.#isBroken = true;
    this.#options.counts.breaks++;
    if (this.#options.fate.then === "cut") this.#end();
  }

  #tellLine(): void {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(new Uint8Array(this.#line));
    this.#line = [];
    if (!this.#isEnded) this.#options.listener.event(eventOf(text));
  }

  /** A silent one is ended by nobody but the client. */
  #end(): void {
    const isSilent = this.#isBroken && this.#options.fate.then === "silence" && this.#onClosed.length > 0;
    if (this.#isEnded || isSilent) return;
    this.#isEnded = true;
    this.#isBroken = true;
    this.#options.listener.ended();
  }
}

const LINE_FEED = 10;

function eventOf(text: string): TransportEvent {
  const { type, object } = JSON.parse(text) as { type: string; object: KubeObject };
  if (type === "ERROR") return { type, error: statusError(object as unknown as Status) };
  if (type !== "BOOKMARK") return { type: type as "ADDED" | "MODIFIED" | "DELETED", object };
  const { resourceVersion = "", annotations = {} } = object.metadata;
  return { type, resourceVersion, initialEventsEnd: annotations["k8s.io/initial-events-end"] === "true" };
}
