/**
 * A wire between a client and an API server of this process on which everything travels as the bytes that HTTP would carry, made and read
 * by the same code as over HTTPS, so that a test can break it at any of them: a watch can be cut or fall silent after any number of bytes,
 * come in small pieces or late; the server can be stopped and started again over the same store. Without a server no request is answered.
 */
import { StatusError } from "../api/machinery/status-error.ts";
import type { Transport, TransportRequest } from "../api/machinery/transport.ts";
import type { ExchangeAnswer, ExchangeRequest, SharedBytes, Sink } from "../apiserver/exchange.ts";
import { startServer, type StartedServer } from "../apiserver/testing/server.ts";
import type { VirtualClock } from "../base/virtual-clock.ts";
import { responseOf } from "../client/https/answer.ts";
import { requestLine, type RequestLine } from "../client/https/request-line.ts";
import { errorOfAnswer } from "../client/https/status-answer.ts";
import { WatchStream } from "../client/https/watch-stream.ts";
import type { HttpClientAnswer, HttpStreamListener } from "../host/http/client-contract.ts";
import type { Store } from "../store/store.ts";
import { memoryStore } from "./memory-store.ts";
import { virtualClock } from "./virtual-clock.ts";

/** What becomes of one watch. */
export interface WatchFate {
  /** So many bytes of it pass. Infinity: all. */
  readonly bytes: number;
  /** What the client sees then: the end of the connection, or nothing at all, for ever. */
  readonly ending: "cut" | "silence";
  /** They come in pieces of at most so many. */
  readonly pieceBytes: number;
  /** Each piece comes so much later. */
  readonly delayMs: number;
}

export const UNBROKEN: WatchFate = { bytes: Infinity, ending: "cut", pieceBytes: Infinity, delayMs: 0 };

export interface ByteWire extends AsyncDisposable {
  readonly clock: VirtualClock;
  readonly store: Store;
  /** Across the wire. */
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
      async request(request) {
        const answer = whole(await ask(started, request));
        if (answer.code >= 400) throw refusalOf(answer, request);
        return responseOf({ ...answer, verb: request.verb, warning: undefined });
      },
      async watch(asked, listener) {
        const request: TransportRequest = { ...asked, verb: "watch" };
        const fate = wire.fateOf(request);
        const answer = await ask(started, request);
        if (!("stream" in answer)) throw refusalOf(whole(answer), request);
        const watch = new WatchStream(new BrokenAnswer(answer.stream, { fate, clock, counts }), listener, () => undefined);
        clock.soon(() => watch.start());
        return watch;
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

async function ask(started: StartedServer | undefined, request: TransportRequest): Promise<ExchangeAnswer> {
  if (started === undefined) throw noServer();
  return started.server.exchange(exchangeRequest(requestLine(request), request.signal ?? new AbortController().signal));
}

function exchangeRequest({ method, path: target, headers, body = "" }: RequestLine, signal: AbortSignal): ExchangeRequest {
  const [path = "", query = ""] = target.split("?");
  const all: Readonly<Record<string, string>> = { "user-agent": "wire/1.0", accept: "application/json", ...headers };
  return {
    method,
    path,
    query,
    header: (name) => all[name],
    headerValues: (name) => [all[name] ?? []].flat(),
    headerNames: () => Object.keys(all),
    body: () => Promise.resolve(new TextEncoder().encode(body)),
    signal,
    cancel: () => undefined,
    peer: { address: "127.0.0.1", isLoopback: true },
  };
}

interface WholeBody {
  readonly code: number;
  readonly body: Uint8Array;
}

function whole(answer: ExchangeAnswer): WholeBody {
  if (!("body" in answer)) throw new Error("The answer is a stream");
  return { code: answer.code, body: new Uint8Array(answer.body.flatMap((piece) => [...piece])) };
}

function refusalOf(answer: WholeBody, { group, plural, name }: TransportRequest): StatusError {
  return errorOfAnswer({ ...answer, retryAfterSeconds: Infinity, asked: { method: "GET", group, plural, name } });
}

interface BrokenAnswerOptions {
  readonly fate: WatchFate;
  readonly clock: VirtualClock;
  readonly counts: { breaks: number; longestBytes: number };
}

/** Takes what the server sends, and lets pass what its fate is. */
class BrokenAnswer implements Sink, HttpClientAnswer {
  readonly code = 200;
  readonly #stream: (sink: Sink) => void;
  readonly #options: BrokenAnswerOptions;
  #client: HttpStreamListener | undefined;
  #onClosed: () => void = () => undefined;
  #passedBytes = 0;
  /** Nothing more passes, neither bytes nor the end. */
  #isBroken = false;
  /** Late pieces come one after the other. */
  #late: Promise<void> = Promise.resolve();

  constructor(stream: (sink: Sink) => void, options: BrokenAnswerOptions) {
    this.#stream = stream;
    this.#options = options;
  }

  // ── the client's end ──────────────────────────────────────────────────────────────────────────────

  header(): undefined {}

  body(): Promise<Uint8Array> {
    return Promise.reject(new Error("A watch has no whole body"));
  }

  stream(listener: HttpStreamListener): void {
    this.#client = listener;
    if (this.#options.fate.bytes === 0) this.#break();
    this.#stream(this);
  }

  abort(): void {
    this.#isBroken = true;
    this.#onClosed();
  }

  // ── the server's end ──────────────────────────────────────────────────────────────────────────────

  write({ bytes }: SharedBytes): number {
    const { pieceBytes } = this.#options.fate;
    for (let start = 0; start < bytes.length; start += pieceBytes) {
      const piece = bytes.slice(start, Math.min(bytes.length, start + pieceBytes));
      this.#whenItComes(() => this.#pass(piece));
    }
    return 0;
  }

  end(): void {
    this.#whenItComes(() => {
      if (!this.#isBroken) this.#client?.ended();
    });
  }

  onClosed(listener: () => void): void {
    this.#onClosed = listener;
  }

  onDrained(): void {}

  #whenItComes(work: () => void): void {
    const { clock, fate } = this.#options;
    if (fate.delayMs === 0) return work();
    this.#late = this.#late.then(() => clock.sleep(fate.delayMs)).then(work);
  }

  #pass(piece: Uint8Array): void {
    if (this.#isBroken) return;
    const { fate, counts } = this.#options;
    const passing = piece.subarray(0, Math.min(piece.length, fate.bytes - this.#passedBytes));
    this.#passedBytes += passing.length;
    counts.longestBytes = Math.max(counts.longestBytes, this.#passedBytes);
    this.#client?.piece(passing);
    if (this.#passedBytes === fate.bytes) this.#break();
  }

  #break(): void {
    if (this.#isBroken) return;
    this.#isBroken = true;
    this.#options.counts.breaks++;
    if (this.#options.fate.ending === "silence") return;
    this.#onClosed();
    this.#client?.ended();
  }
}
