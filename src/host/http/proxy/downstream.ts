/**
 * The client's side of a request: one interface for HTTP/1.1, for a request to switch protocols, and for a stream of HTTP/2. What cannot
 * be routed safely (no valid host, no path) is detected here.
 */
import { ServerResponse, STATUS_CODES, type IncomingMessage } from "node:http";
import { constants, type IncomingHttpHeaders, type ServerHttp2Stream } from "node:http2";
import type { Socket } from "node:net";
import type { Readable, Writable } from "node:stream";
import type { ProxyRequest } from "./contract.ts";
import { flatHeaders, http2Headers, lengthOf } from "./headers.ts";
import { LINGER_MS } from "../limits.ts";

export interface AnswerOptions {
  /** The answer ends with its head. */
  readonly isEmpty?: boolean;
  /** Trailers follow the body: HTTP/2 only. */
  readonly hasTrailers?: boolean;
}

export interface Downstream extends ProxyRequest {
  /** Host and port as the client wrote them; "" if it named none. */
  readonly authority: string;
  /** Why it is refused with 400; undefined: it can be routed. */
  readonly problem: string | undefined;
  readonly rawHeaders: readonly string[];
  readonly body: Readable;
  /** Undefined: no body, or one of unknown length. */
  readonly bodyBytes: number | undefined;
  readonly hasBody: boolean;
  /** Present if the client asks to switch protocols, HTTP/2 excluded. */
  readonly upgrade?: { readonly protocol: string; readonly socket: Socket; readonly head: Buffer } | undefined;
  readonly out: Writable;
  readonly isHeadSent: boolean;
  /** Before the body is read: a client that waits for "100 Continue" gets it. */
  expectBody(): void;
  sendHead(status: number, message: string, headers: readonly string[], options?: AnswerOptions): void;
  /** Sends a head that waits for the first bytes of the body. */
  flushHead(): void;
  /** Ends an answer with trailers. */
  sendTrailers(headers: readonly string[]): void;
  /** A whole answer. The rest of the request's body is discarded. */
  sendWhole(status: number, headers: readonly string[], body: string): void;
  /** Cuts off the answer, visibly for the client. */
  abort(): void;
  /** Called when the client disconnected or everything was sent. */
  onClosed(listener: (isComplete: boolean) => void): void;
}

/** Of names, and of IPv4 and IPv6 addresses in brackets. */
const HOST = /^(?:[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?\.?|\[[0-9a-f:.]+\])$/;
const AUTHORITY_LENGTH_MAX = 300;

interface Target {
  readonly host: string;
  readonly authority: string;
  readonly path: string;
  readonly query: string;
  readonly problem: string | undefined;
}

/** `target`: of the request line or ":path". */
export function parseTarget(target: string, hostHeader: string | undefined): Target {
  let authority = hostHeader ?? "";
  let rest = target;
  if (rest.charCodeAt(0) !== SLASH) {
    // The absolute form, which proxies get: its host wins over the header.
    const absolute = /^https?:\/\/([^/?#]*)(.*)$/i.exec(target);
    if (absolute === null) return { host: "", authority, path: "/", query: "", problem: "The request target must be a path" };
    authority = absolute[1] ?? "";
    rest = absolute[2] ?? "";
    if (!rest.startsWith("/")) rest = `/${rest}`;
  }
  const mark = rest.indexOf("?");
  const path = mark === -1 ? rest : rest.slice(0, mark);
  const query = mark === -1 ? "" : rest.slice(mark);
  const host = authority === "" ? "" : hostOf(authority);
  const problem = host === undefined ? "The host is not valid" : path.includes("#") ? "The path must not have a fragment" : undefined;
  return { host: host ?? "", authority: host === undefined ? "" : authority, path, query, problem };
}

const SLASH = 0x2f;

/** "Example.com.:8080" → "example.com". Undefined: not valid. */
function hostOf(authority: string): string | undefined {
  if (authority.length > AUTHORITY_LENGTH_MAX) return undefined;
  const port = /:\d{0,5}$/.exec(authority);
  const host = (port === null ? authority : authority.slice(0, port.index)).toLowerCase();
  if (!HOST.test(host)) return undefined;
  return host.endsWith(".") ? host.slice(0, -1) : host;
}

/** Of a dual-stack socket, without the prefix of IPv4. */
function peerOf(socket: { readonly remoteAddress?: string | undefined }): string {
  const address = socket.remoteAddress ?? "";
  return address.startsWith("::ffff:") ? address.slice("::ffff:".length) : address;
}

export interface Http1Client {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly isTls: boolean;
  /** The client sends its body after a "100 Continue". */
  readonly clientWaits: boolean;
  /** Asks to switch protocols: Node does not read its body. */
  readonly isUpgrade?: true;
}

export class Http1Downstream implements Downstream {
  readonly method: string;
  readonly host: string;
  readonly authority: string;
  readonly path: string;
  readonly query: string;
  readonly problem: string | undefined;
  readonly isTls: boolean;
  readonly version: string;
  readonly peerAddress: string;
  readonly bodyBytes: number | undefined;
  readonly hasBody: boolean;
  readonly out: ServerResponse;
  readonly body: IncomingMessage;
  readonly #clientWaits: boolean;

  constructor({ request, response, isTls, clientWaits, isUpgrade }: Http1Client) {
    const { headers } = request;
    const { host, authority, path, query, problem } = parseTarget(request.url ?? "/", headers.host);
    this.method = request.method ?? "GET";
    this.host = host;
    this.authority = authority;
    this.path = path;
    this.query = query;
    this.isTls = isTls;
    this.version = request.httpVersion;
    this.peerAddress = peerOf(request.socket);
    this.bodyBytes = lengthOf(headers["content-length"]);
    this.hasBody = headers["transfer-encoding"] !== undefined || (this.bodyBytes ?? 0) > 0;
    this.problem = bodyProblem(headers["transfer-encoding"], isUpgrade === true && this.hasBody) ?? problem;
    this.body = request;
    this.out = response;
    this.#clientWaits = clientWaits;
  }

  get rawHeaders(): readonly string[] {
    return this.body.rawHeaders;
  }

  get isHeadSent(): boolean {
    return this.out.headersSent;
  }

  header(name: string): string | undefined {
    const value = this.body.headers[name];
    return typeof value === "string" ? value : value?.join(", ");
  }

  expectBody(): void {
    if (this.#clientWaits) this.out.writeContinue();
  }

  sendHead(status: number, message: string, headers: readonly string[]): void {
    // Node's types declare a mutable array; it is only read.
    this.out.writeHead(status, message, headers as string[]);
  }

  flushHead(): void {
    this.out.flushHeaders();
  }

  sendTrailers(): void {
    this.out.end();
  }

  sendWhole(status: number, headers: readonly string[], body: string): void {
    const { out } = this;
    const isUnread = this.hasBody && !this.body.complete;
    // The rest of the body would be read as the next request, or without end.
    if (isUnread) out.shouldKeepAlive = false;
    // With a message: that of an answer that could not be sent would be used again.
    out.writeHead(status, STATUS_CODES[status] ?? "", [...headers, "content-length", String(Buffer.byteLength(body))]);
    if (!isUnread || this.#clientWaits) return void out.end(body);
    out.write(body);
    this.#linger();
  }

  /** Closing while the client is still sending would reset the connection, and the answer could be lost. */
  #linger(): void {
    const end = () => {
      clearTimeout(timer);
      this.out.end();
    };
    const timer = setTimeout(end, LINGER_MS);
    this.body.once("end", end).once("close", end).resume();
  }

  abort(): void {
    this.body.socket.destroy();
  }

  onClosed(listener: (isComplete: boolean) => void): void {
    this.out.on("close", () => listener(this.out.writableFinished));
  }
}

function bodyProblem(coding: string | undefined, isUpgradeWithBody: boolean): string | undefined {
  // Each side frames its messages itself: of "gzip, chunked", the endpoint would not learn the first.
  if (coding !== undefined && coding.toLowerCase() !== "chunked") return "The only transfer coding that is supported is chunked";
  return isUpgradeWithBody ? "A request to switch protocols must not have a body" : undefined;
}

/** Value of an Upgrade header. */
export function isHttp2Offer(protocol: string | undefined): boolean {
  return protocol !== undefined && /^h2c?$/i.test(protocol);
}

/** A request to switch protocols. If the answer is an ordinary one, the connection is closed after it: Node does not read on. */
export class UpgradeDownstream extends Http1Downstream {
  readonly upgrade: Downstream["upgrade"];

  constructor(client: { readonly request: IncomingMessage; readonly socket: Socket; readonly head: Buffer; readonly isTls: boolean }) {
    const { request, socket, head, isTls } = client;
    const response = new ServerResponse(request);
    super({ request, response, isTls, clientWaits: false, isUpgrade: true });
    // Node has detached the socket: an unhandled error event would terminate the process.
    socket.on("error", () => {});
    response.shouldKeepAlive = false;
    response.assignSocket(socket);
    response.on("finish", () => socket.destroySoon());
    const protocol = request.headers.upgrade ?? "";
    // HTTP/2 is agreed on by ALPN; an offer to switch to it may be ignored.
    this.upgrade = isHttp2Offer(protocol) ? undefined : { protocol, socket, head };
  }
}

export interface Http2Client {
  readonly stream: ServerHttp2Stream;
  readonly headers: IncomingHttpHeaders;
  readonly isTls: boolean;
}

export class Http2Downstream implements Downstream {
  readonly method: string;
  readonly host: string;
  readonly authority: string;
  readonly path: string;
  readonly query: string;
  readonly problem: string | undefined;
  readonly isTls: boolean;
  readonly version = "2.0";
  readonly peerAddress: string;
  readonly rawHeaders: readonly string[];
  readonly bodyBytes: number | undefined;
  readonly hasBody: boolean;
  readonly upgrade = undefined;
  readonly out: ServerHttp2Stream;
  readonly #headers: IncomingHttpHeaders;
  #trailers: readonly string[] | undefined;

  constructor({ stream, headers, isTls }: Http2Client) {
    const { host, authority, path, query, problem } = parseTarget(headers[":path"] ?? "", headers[":authority"] ?? headers.host);
    this.method = headers[":method"] ?? "GET";
    this.host = host;
    this.authority = authority;
    this.path = path;
    this.query = query;
    this.problem = problem;
    this.isTls = isTls;
    this.peerAddress = stream.session === undefined ? "" : peerOf(stream.session.socket);
    this.rawHeaders = flatHeaders(headers);
    this.bodyBytes = lengthOf(headers["content-length"]);
    this.hasBody = !stream.readableEnded && !stream.endAfterHeaders;
    this.out = stream;
    this.#headers = headers;
    // A reset by the client is emitted as an error; the close event is sufficient.
    stream.on("error", () => {});
  }

  get body(): Readable {
    return this.out;
  }

  get isHeadSent(): boolean {
    return this.out.headersSent;
  }

  header(name: string): string | undefined {
    const value = this.#headers[name];
    return typeof value === "string" ? value : value?.join(", ");
  }

  expectBody(): void {
    if (this.#headers.expect === "100-continue") this.out.additionalHeaders({ ":status": 100 });
  }

  sendHead(
    status: number,
    _message: string,
    headers: readonly string[],
    { isEmpty = false, hasTrailers = false }: AnswerOptions = {},
  ): void {
    const { out } = this;
    if (out.closed || out.destroyed) return;
    out.respond({ ":status": status, ...http2Headers(headers) }, { endStream: isEmpty, waitForTrailers: hasTrailers && !isEmpty });
    if (hasTrailers && !isEmpty) out.on("wantTrailers", () => this.#writeTrailers());
  }

  /** Of an endpoint, so Node may refuse them. */
  #writeTrailers(): void {
    try {
      this.out.sendTrailers(http2Headers(this.#trailers ?? []));
    } catch {
      this.out.close(constants.NGHTTP2_INTERNAL_ERROR);
    }
  }

  flushHead(): void {}

  sendTrailers(headers: readonly string[]): void {
    this.#trailers = headers;
    this.out.end();
  }

  sendWhole(status: number, headers: readonly string[], body: string): void {
    const { out } = this;
    if (out.closed || out.destroyed) return;
    out.respond({ ":status": status, ...http2Headers(headers), "content-length": Buffer.byteLength(body) });
    // Resets the rest of the request's body, so that the client stops sending.
    if (!out.readableEnded) out.once("finish", () => out.close(constants.NGHTTP2_NO_ERROR));
    out.end(this.method === "HEAD" ? "" : body);
  }

  abort(): void {
    // With an error, so that the client receives a reset: otherwise Node would end the stream as complete.
    this.out.destroy(new Error("The answer was cut off"));
  }

  onClosed(listener: (isComplete: boolean) => void): void {
    const { out } = this;
    out.on("close", () => listener(out.writableFinished && !out.aborted && out.rstCode === constants.NGHTTP2_NO_ERROR));
  }
}
