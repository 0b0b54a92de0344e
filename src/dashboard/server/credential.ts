/**
 * The credential of a request, kept by a session and presented again with the requests of its page: a client certificate whose key the TLS
 * handshake has verified, or a bearer token. The API server authenticates it again each time, so an expired certificate or a revoked token
 * ends the session's access at once.
 */
import { signalOf } from "../../base/abort.ts";
import { decodeBase64Url } from "../../api/machinery/codec/base64-url.ts";
import type { ExchangeRequest, Peer, PeerCertificate } from "../../apiserver/framework/exchange.ts";
import { SESSION_PREFIX } from "../data/paths.ts";

export interface Credential {
  readonly authorization?: string;
  readonly certificate?: PeerCertificate;
}

/** Undefined: the request has none. */
export function credentialOfRequest(request: ExchangeRequest): Credential | undefined {
  const authorization = request.header("authorization");
  const { certificate } = request.peer;
  if (authorization === undefined && certificate === undefined) return undefined;
  return { ...(authorization === undefined ? {} : { authorization }), ...(certificate === undefined ? {} : { certificate }) };
}

/** As kubectl and browsers send it with a WebSocket, for which they cannot set headers. */
const BEARER_PROTOCOL = "base64url.bearer.authorization.k8s.io.";

/** The session token of a request, in its Authorization header or in a subprotocol of its WebSocket. */
export function sessionTokenOf(request: ExchangeRequest): string | undefined {
  const header = request.header("authorization");
  if (header !== undefined) return sessionToken(/^bearer ([^ ]+)$/i.exec(header)?.[1]);
  const protocols = request.header("sec-websocket-protocol")?.split(",") ?? [];
  const shown = protocols.map((protocol) => protocol.trim()).find((protocol) => protocol.startsWith(BEARER_PROTOCOL));
  const bytes = shown === undefined ? undefined : decodeBase64Url(shown.slice(BEARER_PROTOCOL.length));
  return bytes === undefined ? undefined : sessionToken(new TextDecoder().decode(bytes));
}

function sessionToken(token: string | undefined): string | undefined {
  return token?.startsWith(SESSION_PREFIX) === true ? token : undefined;
}

/** The same request with another credential in the place of its own. */
export class RequestWithCredential implements ExchangeRequest {
  readonly #request: ExchangeRequest;
  readonly #credential: Credential;
  readonly peer: Peer;

  constructor(request: ExchangeRequest, credential: Credential) {
    this.#request = request;
    this.#credential = credential;
    const { certificate: _browser, ...peer } = request.peer;
    const { certificate } = credential;
    this.peer = certificate === undefined ? peer : { ...peer, certificate };
  }

  get method(): string {
    return this.#request.method;
  }

  get path(): string {
    return this.#request.path;
  }

  get query(): string {
    return this.#request.query;
  }

  get signal(): AbortSignal {
    return signalOf(this.#request.signal);
  }

  header(name: string): string | undefined {
    if (name === "authorization") return this.#credential.authorization;
    if (name !== "sec-websocket-protocol") return this.#request.header(name);
    const others = this.#protocols();
    return others.length === 0 ? undefined : others.join(", ");
  }

  headerValues(name: string): readonly string[] {
    if (name !== "authorization" && name !== "sec-websocket-protocol") return this.#request.headerValues(name);
    const value = this.header(name);
    return value === undefined ? [] : [value];
  }

  headerNames(): readonly string[] {
    const others = this.#request.headerNames().filter((name) => name !== "authorization");
    return this.#credential.authorization === undefined ? others : [...others, "authorization"];
  }

  body(bytesMax?: number): Uint8Array | Promise<Uint8Array> {
    return this.#request.body(bytesMax);
  }

  cancel(reason: unknown): void {
    this.#request.cancel(reason);
  }

  /** Without the one that carries the session token. */
  #protocols(): readonly string[] {
    const header = this.#request.header("sec-websocket-protocol") ?? "";
    return header
      .split(",")
      .map((protocol) => protocol.trim())
      .filter((protocol) => protocol !== "" && !protocol.startsWith(BEARER_PROTOCOL));
  }
}
