/**
 * An exchange over HTTP/1.1 whose request was read whole from the socket (plain-request.ts) and whose response goes straight to it: the head
 * and a small body in one write, so in one TLS record. The headers that Node's server would add are the same.
 */
import { STATUS_CODES, validateHeaderName, validateHeaderValue } from "node:http";
import { Writable } from "node:stream";
import type { TLSSocket } from "node:tls";
import type { HttpHead, HttpPeer } from "./contract.ts";
import { mayHaveBody, NodeExchange, type ExchangeContext } from "./exchange.ts";
import type { PlainRequest } from "./plain-request.ts";
import type { SinkTarget } from "./sink.ts";

export interface PlainConnectionState {
  readonly socket: TLSSocket;
  readonly peer: HttpPeer;
  /** The response is handed to the socket: the next request may be served. `isLast`: the response closes the connection. */
  answered(options: { readonly isLast: boolean }): void;
}

export class PlainExchange extends NodeExchange {
  readonly method: string;
  protected readonly source: TLSSocket;
  readonly #request: PlainRequest;
  readonly #connection: PlainConnectionState;
  #head = "";
  #isChunked = false;
  #isLast = false;
  #isFlushed = false;
  /** Large bodies are written through it. */
  #writer: BodyWriter | undefined;

  constructor(context: ExchangeContext, connection: PlainConnectionState, request: PlainRequest) {
    super(context, connection.peer, request.target);
    this.method = request.method;
    this.source = connection.socket;
    this.#request = request;
    this.#connection = connection;
  }

  header(name: string): string | undefined {
    const index = this.#request.names.indexOf(name);
    return index === -1 ? undefined : this.#request.values[index];
  }

  headerNames(): readonly string[] {
    return this.#request.names;
  }

  protected get rawHeaders(): readonly string[] {
    const { names, values } = this.#request;
    return names.flatMap((name, index) => [name, values[index] as string]);
  }

  protected get out(): Writable {
    return this.#writer ?? this.source;
  }

  protected askForBody(): void {}

  protected override receivedBody(): Uint8Array {
    return this.#request.body;
  }

  protected writeHead({ code, headers }: HttpHead, more: readonly string[]): void {
    this.#isLast = this.bodyRefused || this.context.stopping || /\bclose\b/i.test(String(headers["connection"] ?? ""));
    this.#isChunked = more[0] !== "content-length" && headers["content-length"] === undefined && mayHaveBody(code);
    let text = `HTTP/1.1 ${code} ${STATUS_CODES[code] ?? "unknown"}\r\n`;
    for (let index = 0; index < more.length; index += 2) text += `${more[index]}: ${more[index + 1]}\r\n`;
    for (const name in headers) if (!OF_CONNECTION.has(name)) text += headerLines(name, headers[name] as string | readonly string[]);
    if (this.#isChunked) text += "Transfer-Encoding: chunked\r\n";
    const connection = this.#isLast ? "Connection: close" : keepAliveOf(this.context.limits.idleTimeoutMs);
    this.#head = `${text}Date: ${httpDate()}\r\n${connection}\r\n\r\n`;
  }

  protected override finishWith(pieces: readonly Uint8Array[], sizeBytes: number): void {
    const head = this.#head;
    const bytes = Buffer.allocUnsafe(head.length + sizeBytes);
    bytes.write(head, 0, "latin1");
    let at = head.length;
    for (const piece of pieces) {
      bytes.set(piece, at);
      at += piece.length;
    }
    this.#end(bytes);
  }

  protected finish(): void {
    this.#end(Buffer.from(this.#head, "latin1"));
  }

  protected override bodyOut(): Writable {
    this.source.write(this.#head, "latin1");
    this.#writer = new BodyWriter(this.source, this.#isChunked);
    // The client disconnected; the close event of the socket is sufficient.
    this.#writer.on("error", () => {});
    this.#writer.once("finish", () => this.#end(this.#isChunked ? LAST_CHUNK : NOTHING));
    return this.#writer;
  }

  protected startStream(head: HttpHead): SinkTarget {
    const { source } = this;
    this.writeHead(head, []);
    source.write(this.#head, "latin1");
    const framed = this.#isChunked;
    return { out: source, framed, end: () => this.#end(framed ? LAST_CHUNK : NOTHING), abort: () => this.giveUp() };
  }

  #end(bytes: Uint8Array): void {
    this.source.write(bytes, this.#flushed);
    this.#connection.answered({ isLast: this.#isLast });
  }

  readonly #flushed = (error?: Error | null): void => {
    if (error !== undefined && error !== null) return; // The socket closes.
    this.#isFlushed = true;
    this.over();
  };

  /** Called when the connection closes before the response is flushed. */
  disconnected(): void {
    this.#writer?.destroy();
    this.over();
  }

  protected get isComplete(): boolean {
    return this.#isFlushed;
  }

  giveUp(): void {
    this.source.destroy();
  }
}

/** Written here, whatever the handler says of them. */
const OF_CONNECTION: ReadonlySet<string> = new Set(["connection", "keep-alive", "transfer-encoding", "date"]);

const NOTHING = Buffer.alloc(0);
const LAST_CHUNK = Buffer.from("0\r\n\r\n");

function headerLines(name: string, value: string | readonly string[]): string {
  validateHeaderName(name);
  if (typeof value !== "string") return value.map((each) => headerLines(name, each)).join("");
  validateHeaderValue(name, value);
  return `${name}: ${value}\r\n`;
}

let keepAlive = { idleTimeoutMs: -1, text: "" };

function keepAliveOf(idleTimeoutMs: number): string {
  if (keepAlive.idleTimeoutMs !== idleTimeoutMs) {
    keepAlive = { idleTimeoutMs, text: `Connection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(idleTimeoutMs / 1_000)}` };
  }
  return keepAlive.text;
}

let lastDate = { second: -1, text: "" };

function httpDate(): string {
  const nowMs = Date.now();
  const second = Math.floor(nowMs / 1_000);
  if (lastDate.second !== second) lastDate = { second, text: new Date(nowMs).toUTCString() };
  return lastDate.text;
}

/** A body in several writes, each when the socket has accepted the one before. Ending it does not end the socket. */
class BodyWriter extends Writable {
  readonly #socket: TLSSocket;
  readonly #isChunked: boolean;

  constructor(socket: TLSSocket, isChunked: boolean) {
    super();
    this.#socket = socket;
    this.#isChunked = isChunked;
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    const socket = this.#socket;
    if (this.#isChunked) {
      socket.cork();
      socket.write(`${chunk.length.toString(16)}\r\n`, "latin1");
      socket.write(chunk);
      socket.write("\r\n", "latin1", done);
      socket.uncork();
    } else socket.write(chunk, done);
  }
}
