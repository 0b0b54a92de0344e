/**
 * Relays requests with whole responses between two processes as messages on one socket: several times cheaper than HTTP, and the requests
 * of one event-loop tick of the relaying process start together in the other (http/arrivals.ts has why). Not here: streams and upgrades,
 * which are relayed over HTTP (relay-client.ts).
 */
import { Lru } from "../../base/lru.ts";
import { Cancellation, onAbort } from "../../base/abort.ts";
import type { HttpHandler, HttpHead, HttpPeer, HttpReply, HttpRequest, HttpSink } from "../http/contract.ts";
import type { FrameSocket } from "./frame-socket.ts";

/** A request or response with its headers, and a body of at most the limit of the API server. */
export const RELAYED_FRAME_BYTES_MAX = 64 * 1_048_576;

/** Clients whose description is kept: as many as have a connection, in the usual case. */
const PEERS_MAX = 4_096;

const LENGTH_BYTES = 4;

type Headers = HttpHead["headers"];

interface RequestMessage {
  readonly id: number;
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: Headers;
  /** As JSON, so that it is parsed once per client. */
  readonly peer: string;
}

interface CancelMessage {
  readonly id: number;
  readonly cancelled: true;
}

/** Without a code: the connection of the client is to be closed. */
type ResponseMessage = { readonly id: number } & Partial<HttpHead>;

export interface FramedRequest extends Pick<HttpRequest, "method" | "path" | "query" | "peer" | "signal"> {
  readonly headers: Headers;
  readonly body: Uint8Array;
}

export interface FramedResponse extends HttpHead {
  readonly body: Uint8Array;
}

export interface FramedRelay {
  /** Rejects if the other process closes the client's connection, or the socket. */
  send(request: FramedRequest): Promise<FramedResponse>;
}

export function relayFrames(socket: FrameSocket): FramedRelay {
  const pending = new Map<number, { resolve(response: FramedResponse): void; reject(error: Error): void }>();
  const peers = new WeakMap<HttpPeer, string>();
  let lastId = 0;
  let isClosed = false;
  socket.onFrame((frame) => {
    const { head, body } = decoded<ResponseMessage>(frame);
    const waiting = pending.get(head.id);
    pending.delete(head.id);
    const { code, headers = {} } = head;
    if (code === undefined) waiting?.reject(new Error("The main process closed the connection"));
    // A copy: the rest of what was received with it must not stay in memory.
    else waiting?.resolve({ code, headers, body: body.slice() });
  });
  socket.onClosed(() => {
    isClosed = true;
    for (const { reject } of pending.values()) reject(new Error("The main process closed the socket"));
    pending.clear();
  });
  return {
    send: ({ method, path, query, headers, peer, body, signal }) => {
      if (isClosed) return Promise.reject(new Error("The main process closed the socket"));
      let described = peers.get(peer);
      if (described === undefined) peers.set(peer, (described = JSON.stringify(peer)));
      const id = ++lastId;
      // The other process need not respond to a cancelled request, so that it is forgotten here.
      const stop = onAbort(signal, () => {
        socket.send(encoded({ id, cancelled: true } satisfies CancelMessage));
        pending.get(id)?.reject(new Error("The client disconnected"));
        pending.delete(id);
      });
      return new Promise<FramedResponse>((resolve, reject) => {
        pending.set(id, { resolve, reject });
        socket.send(encoded({ id, method, path, query, headers, peer: described } satisfies RequestMessage, [body]));
      }).finally(stop);
    },
  };
}

/** Serves the requests of one relaying process, until it closes the socket. */
export function serveFrames(socket: FrameSocket, handler: HttpHandler): void {
  const running = new Map<number, FramedExchange>();
  const peers = new Lru<string, HttpPeer>({ max: PEERS_MAX });
  socket.onFrame((frame) => {
    const { head, body } = decoded<RequestMessage | CancelMessage>(frame);
    if ("cancelled" in head) {
      running.get(head.id)?.cancel(new Error("The client disconnected"));
      return void running.delete(head.id);
    }
    let peer = peers.get(head.peer);
    if (peer === undefined) peers.set(head.peer, (peer = JSON.parse(head.peer) as HttpPeer));
    const exchange = new FramedExchange(head, { body, peer }, (response, pieces) => {
      running.delete(head.id);
      socket.send(encoded(response, pieces));
    });
    running.set(head.id, exchange);
    handler(exchange, exchange);
  });
  socket.onClosed(() => {
    for (const exchange of running.values()) exchange.cancel(new Error("The relaying process has exited"));
    running.clear();
  });
}

class FramedExchange implements HttpRequest, HttpReply {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly peer: HttpPeer;
  readonly #id: number;
  readonly #headers: Headers;
  readonly #body: Uint8Array;
  readonly #respond: (response: ResponseMessage, body: readonly Uint8Array[]) => void;
  #cancellation: Cancellation | undefined;

  constructor(
    { id, method, path, query, headers }: RequestMessage,
    { body, peer }: { readonly body: Uint8Array; readonly peer: HttpPeer },
    respond: (response: ResponseMessage, body: readonly Uint8Array[]) => void,
  ) {
    this.method = method;
    this.path = path;
    this.query = query;
    this.peer = peer;
    this.#id = id;
    this.#headers = headers;
    this.#body = body;
    this.#respond = respond;
  }

  header(name: string): string | undefined {
    const value = Object.hasOwn(this.#headers, name) ? this.#headers[name] : undefined;
    return typeof value === "string" || value === undefined ? value : value.join(", ");
  }

  headerValues(name: string): readonly string[] {
    const value = Object.hasOwn(this.#headers, name) ? this.#headers[name] : undefined;
    if (value === undefined) return [];
    return typeof value === "string" ? [value] : value;
  }

  headerNames(): readonly string[] {
    return Object.keys(this.#headers);
  }

  /** Its size was limited when it was received from the client. */
  body(): Uint8Array {
    return this.#body;
  }

  get signal(): Cancellation {
    return (this.#cancellation ??= new Cancellation());
  }

  cancel(reason: unknown): void {
    this.signal.abort(reason);
  }

  /** Uncompressed: the relaying process compresses what it sends. */
  send({ code, headers }: HttpHead, body: readonly Uint8Array[]): void {
    this.#respond({ id: this.#id, code, headers }, body);
  }

  stream(): HttpSink {
    this.abort();
    throw new Error(`Cannot stream the response to ${this.method} ${this.path}: it was relayed as a message`);
  }

  abort(): void {
    this.#respond({ id: this.#id }, []);
  }
}

function encoded(head: RequestMessage | CancelMessage | ResponseMessage, body: readonly Uint8Array[] = []): readonly Uint8Array[] {
  const text = Buffer.from(JSON.stringify(head));
  const length = Buffer.allocUnsafe(LENGTH_BYTES);
  length.writeUInt32BE(text.length);
  return [length, text, ...body];
}

function decoded<H>(frame: Uint8Array): { readonly head: H; readonly body: Uint8Array } {
  const bytes = Buffer.from(frame.buffer, frame.byteOffset, frame.length);
  const end = LENGTH_BYTES + bytes.readUInt32BE();
  return { head: JSON.parse(bytes.toString("utf8", LENGTH_BYTES, end)) as H, body: bytes.subarray(end) };
}
