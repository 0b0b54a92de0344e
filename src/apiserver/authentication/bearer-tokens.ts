/**
 * Extracts the bearer tokens of a request: from the Authorization header and, for browsers, which cannot set headers on a WebSocket, from
 * its subprotocols. Never from the query: it would appear in logs.
 */
import type { ExchangeRequest } from "../framework/exchange.ts";
import { decodeBase64Url } from "../../api/machinery/codec/base64-url.ts";

export interface BearerTokens {
  /** In the order in which they are tried. */
  readonly tokens: readonly string[];
  /** Error in the presentation of a token. */
  readonly problems: readonly string[];
  /** Warnings for the client. */
  readonly warnings: readonly string[];
}

const NONE: readonly string[] = [];
const NOTHING: BearerTokens = { tokens: NONE, problems: NONE, warnings: NONE };

/** Upstream's message. */
const SPACE_BEFORE_TOKEN = "the provided Authorization header contains extra space before the bearer token, and is ignored";

const BEARER_PROTOCOL = "base64url.bearer.authorization.k8s.io.";

export function bearerTokensOf(request: ExchangeRequest): BearerTokens {
  const inHeader = tokenInHeader(request.header("authorization"));
  const protocols = request.header("sec-websocket-protocol");
  if (protocols === undefined || !isWebSocket(request)) return inHeader;
  const inProtocol = tokenInProtocols(protocols);
  return {
    tokens: [...inHeader.tokens, ...inProtocol.tokens],
    problems: inProtocol.problems,
    warnings: inHeader.warnings,
  };
}

/** Parsed as upstream: case-insensitive scheme, one space, the token; anything after another space is ignored. */
function tokenInHeader(header: string | undefined): BearerTokens {
  if (header === undefined) return NOTHING;
  const [scheme = "", token, ...more] = header.trim().split(" ");
  if (token === undefined || scheme.toLowerCase() !== "bearer") return NOTHING;
  if (token !== "") return { ...NOTHING, tokens: [token] };
  return more.length === 0 ? NOTHING : { ...NOTHING, warnings: [SPACE_BEFORE_TOKEN] };
}

function isWebSocket(request: ExchangeRequest): boolean {
  const connection = (request.header("connection") ?? "").toLowerCase();
  return request.header("upgrade")?.toLowerCase() === "websocket" && connection.split(",").some((word) => word.trim() === "upgrade");
}

function tokenInProtocols(header: string): BearerTokens {
  const protocols = header.split(",").map((protocol) => protocol.trim());
  const [shown, ...more] = protocols.filter((protocol) => protocol.startsWith(BEARER_PROTOCOL));
  if (shown === undefined) return NOTHING;
  if (more.length > 0) return wrong("multiple base64.bearer.authorization tokens specified");
  const bytes = decodeBase64Url(shown.slice(BEARER_PROTOCOL.length));
  if (bytes === undefined) return wrong("invalid base64.bearer.authorization token encoding");
  const token = textOf(bytes);
  if (token === undefined) return wrong("invalid base64.bearer.authorization token");
  if (token === "") return NOTHING;
  // One subprotocol must be left for the response.
  return protocols.length === 1 ? wrong("missing additional subprotocol") : { ...NOTHING, tokens: [token] };
}

function wrong(problem: string): BearerTokens {
  return { ...NOTHING, problems: [problem] };
}

function textOf(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
