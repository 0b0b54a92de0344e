/** An exchange over HTTP/2: one stream of a connection, by Node's core interface (its imitation of HTTP/1.1 costs a third of the speed). */
import { constants, type IncomingHttpHeaders, type OutgoingHttpHeaders, type ServerHttp2Stream } from "node:http2";
import type { HttpHead, HttpPeer } from "./contract.ts";
import { NodeExchange, type ExchangeContext } from "./exchange.ts";
import type { SinkTarget } from "./sink.ts";

const { NGHTTP2_NO_ERROR } = constants;

export class Http2Exchange extends NodeExchange {
  readonly method: string;
  protected readonly source: ServerHttp2Stream;
  protected readonly out: ServerHttp2Stream;
  protected readonly rawHeaders: readonly string[];
  readonly #headers: IncomingHttpHeaders;

  constructor(
    context: ExchangeContext,
    peer: HttpPeer,
    {
      stream,
      headers,
      rawHeaders,
    }: { readonly stream: ServerHttp2Stream; readonly headers: IncomingHttpHeaders; readonly rawHeaders: readonly string[] },
  ) {
    super(context, peer, headers[":path"] ?? "/");
    this.method = headers[":method"] ?? "GET";
    this.source = stream;
    this.out = stream;
    this.#headers = headers;
    this.rawHeaders = rawHeaders;
    // A reset by the client is emitted as an error; the close event is sufficient.
    stream.on("error", () => {});
    stream.on("close", () => this.over());
  }

  header(name: string): string | undefined {
    const value = this.#headers[name] ?? (name === "host" ? this.#headers[":authority"] : undefined);
    return typeof value === "string" ? value : value?.join(", ");
  }

  headerNames(): readonly string[] {
    return Object.keys(this.#headers).filter((name) => !name.startsWith(":"));
  }

  protected askForBody(): void {
    if (this.#headers.expect === "100-continue") this.out.additionalHeaders({ ":status": 100 });
  }

  protected writeHead({ code, headers }: HttpHead, more: readonly string[]): void {
    const all: OutgoingHttpHeaders = { ":status": code, ...(headers as OutgoingHttpHeaders) };
    for (let index = 0; index < more.length; index += 2) all[more[index] as string] = more[index + 1];
    this.out.respond(all);
  }

  protected finish(bytes: Uint8Array | undefined): void {
    // Resets the stream of a body that is too large, so that the client stops sending.
    if (this.bodyRefused) this.out.once("finish", () => this.out.close(NGHTTP2_NO_ERROR));
    if (bytes === undefined) this.out.end();
    else this.out.end(bytes);
  }

  protected startStream(head: HttpHead): SinkTarget {
    this.writeHead(head, []);
    const { out } = this;
    return { out, framed: false, end: () => void out.end(), abort: () => this.giveUp() };
  }

  protected get isComplete(): boolean {
    return this.out.writableFinished && !this.out.aborted && this.out.rstCode === NGHTTP2_NO_ERROR;
  }

  giveUp(): void {
    // With an error, so that the client receives a reset: otherwise Node would end the stream as complete.
    this.out.destroy(new Error("The response was aborted"));
  }
}
