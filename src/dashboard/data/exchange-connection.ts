/**
 * Connects pages to an API server in the same process, without sockets: a cluster in a browser tab, and tests of the data layer. Not here:
 * WebSockets, which need a kubelet.
 */
import { JSON_TYPE } from "../../api/machinery/codec/media-type.ts";
import type { Exchange, ExchangeRequest, Peer, Sink, StreamedAnswer, WholeAnswer } from "../../apiserver/framework/exchange.ts";
import { joinBytes } from "./join-bytes.ts";
import type { ClusterConnection, ConnectionRequest, ConnectionResponse } from "./connection.ts";

export interface ExchangeConnectionOptions {
  readonly exchange: Exchange;
  /** Headers of every request: the credential. Lower-case names. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly peer?: Peer;
}

const LOCAL: Peer = { address: "127.0.0.1", isLoopback: true };

export function exchangeConnection({ exchange, headers = {}, peer = LOCAL }: ExchangeConnectionOptions): ClusterConnection {
  return {
    async send(request) {
      const cancelled = new AbortController();
      const cancel = () => cancelled.abort(request.signal?.reason);
      request.signal?.throwIfAborted();
      request.signal?.addEventListener("abort", cancel, { once: true });
      const answer = await exchange(exchangeRequest(request, headers, peer, cancelled));
      // One signal may serve any number of requests: those that are over leave no listener.
      if (!("stream" in answer)) request.signal?.removeEventListener("abort", cancel);
      if ("body" in answer) return wholeResponse(answer);
      if ("stream" in answer) return streamedResponse(answer, request.signal);
      throw new Error("Cannot upgrade a connection that is inside the process");
    },
    open(_path, _protocols, listener) {
      listener.closed("This cluster has no containers to connect to");
      return { send: () => undefined, close: () => undefined };
    },
  };
}

function exchangeRequest(
  request: ConnectionRequest,
  given: Readonly<Record<string, string>>,
  peer: Peer,
  cancelled: AbortController,
): ExchangeRequest {
  const [path = "", query = ""] = splitOnce(request.path, "?");
  const body = new TextEncoder().encode(request.body ?? "");
  const headers: Readonly<Record<string, string>> = {
    ...given,
    accept: request.accept ?? JSON_TYPE,
    ...(request.contentType === undefined ? {} : { "content-type": request.contentType }),
    ...(request.body === undefined ? {} : { "content-length": String(body.length) }),
  };
  return {
    method: request.method ?? "GET",
    path,
    query,
    header: (name) => headers[name],
    headerValues: (name) => (headers[name] === undefined ? [] : [headers[name]]),
    headerNames: () => Object.keys(headers),
    body: () => Promise.resolve(body),
    signal: cancelled.signal,
    cancel: (reason) => cancelled.abort(reason),
    peer,
  };
}

function splitOnce(text: string, separator: string): readonly string[] {
  const at = text.indexOf(separator);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}

function wholeResponse({ code, headers, body }: WholeAnswer): ConnectionResponse {
  return {
    code,
    header: (name) => headerText(headers[name]),
    bytes: () => Promise.resolve(joinBytes(body)),
    async *pieces() {
      yield* body;
    },
  };
}

function streamedResponse(answer: StreamedAnswer, signal: AbortSignal | undefined): ConnectionResponse {
  const pieces = () => piecesOf(answer, signal);
  return {
    code: answer.code,
    header: (name) => headerText(answer.headers[name]),
    async bytes() {
      const all: Uint8Array[] = [];
      for await (const piece of pieces()) all.push(piece);
      return joinBytes(all);
    },
    pieces,
  };
}

async function* piecesOf(answer: StreamedAnswer, signal: AbortSignal | undefined): AsyncGenerator<Uint8Array> {
  const queue = new PieceQueue();
  answer.stream(queue);
  const abort = () => queue.end();
  signal?.addEventListener("abort", abort, { once: true });
  try {
    for (let piece = await queue.next(); piece !== undefined; piece = await queue.next()) yield piece;
  } finally {
    signal?.removeEventListener("abort", abort);
    queue.end();
  }
}

/** What the server has written and the page has not read. The page reads at once, so it reports nothing as buffered. */
class PieceQueue implements Sink {
  readonly #pieces: Uint8Array[] = [];
  readonly #closed: (() => void)[] = [];
  #isEnded = false;
  #wake: () => void = () => undefined;

  async next(): Promise<Uint8Array | undefined> {
    while (this.#pieces.length === 0 && !this.#isEnded) await new Promise<void>((resolve) => (this.#wake = resolve));
    return this.#pieces.shift();
  }

  write({ bytes }: { readonly bytes: Uint8Array }): number {
    if (!this.#isEnded) this.#pieces.push(bytes);
    this.#wake();
    return 0;
  }

  end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#wake();
    for (const listener of this.#closed) listener();
  }

  abort(): void {
    this.end();
  }

  onClosed(listener: () => void): void {
    if (this.#isEnded) listener();
    else this.#closed.push(listener);
  }

  onDrained(): void {
    // It is never full.
  }
}

function headerText(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === "object" ? value.join(", ") : value;
}
