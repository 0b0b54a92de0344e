/** An exchange over HTTP/1.1, on Node's own request and response. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { HttpHead, HttpPeer } from "./contract.ts";
import { NodeExchange, type ExchangeContext } from "./exchange.ts";
import { LINGER_MS } from "./limits.ts";
import type { SinkTarget } from "./sink.ts";

export class Http1Exchange extends NodeExchange {
  readonly method: string;
  protected readonly source: IncomingMessage;
  protected readonly out: ServerResponse;
  /** True if the client waits for "100 Continue" before it sends its body. */
  #clientWaits: boolean;

  constructor(
    context: ExchangeContext,
    peer: HttpPeer,
    {
      request,
      response,
      clientWaits,
    }: { readonly request: IncomingMessage; readonly response: ServerResponse; readonly clientWaits: boolean },
  ) {
    super(context, peer, request.url ?? "/");
    this.method = request.method ?? "GET";
    this.source = request;
    this.out = response;
    this.#clientWaits = clientWaits;
    response.on("close", () => this.over());
  }

  header(name: string): string | undefined {
    const value: unknown = this.source.headers[name];
    if (typeof value === "string") return value;
    // Node keeps only set-cookie as a list. Anything else is a member of the object's prototype.
    return Array.isArray(value) ? value.join(", ") : undefined;
  }

  protected get rawHeaders(): readonly string[] {
    return this.source.rawHeaders;
  }

  headerNames(): readonly string[] {
    return Object.keys(this.source.headers);
  }

  protected askForBody(): void {
    if (this.#clientWaits) this.out.writeContinue();
    this.#clientWaits = false;
  }

  protected writeHead({ code, headers }: HttpHead, more: readonly string[]): void {
    // A client without "100 Continue" may send its body or not: where its next request begins is unknown.
    if (this.bodyRefused || this.#clientWaits || this.context.stopping) this.out.shouldKeepAlive = false;
    const list = [...more];
    for (const name in headers) {
      const value = headers[name] as string | readonly string[];
      if (typeof value === "string") list.push(name, value);
      else for (const each of value) list.push(name, each);
    }
    this.out.writeHead(code, list);
  }

  protected finish(bytes: Uint8Array | undefined): void {
    if (this.bodyRefused) this.#linger(bytes);
    else if (bytes === undefined) this.out.end();
    else this.out.end(bytes);
  }

  /** Closing while the client is still sending would reset the connection, and the response could be lost. */
  #linger(bytes: Uint8Array | undefined): void {
    if (bytes !== undefined) this.out.write(bytes);
    const end = () => {
      clearTimeout(timer);
      this.out.end();
    };
    const timer = setTimeout(end, LINGER_MS);
    const onProgress = () => void timer.refresh();
    this.source.on("data", onProgress).once("end", end).once("close", end).resume();
  }

  protected startStream(head: HttpHead): SinkTarget {
    const { out } = this;
    this.writeHead(head, []);
    out.flushHeaders();
    const { socket } = out;
    // Without a socket yet, behind another answer, or to a client of HTTP/1.0, Node must do the framing.
    const direct = socket !== null && out.chunkedEncoding;
    return { out: direct ? socket : out, framed: direct, end: () => void out.end(), abort: () => this.giveUp() };
  }

  protected get isComplete(): boolean {
    return this.out.writableFinished;
  }

  giveUp(): void {
    this.source.socket.destroy();
  }
}
