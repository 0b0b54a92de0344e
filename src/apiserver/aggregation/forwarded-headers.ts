/** Headers of a request and response as they are forwarded: without those that are about the connection, the user, or CORS. */
import type { ExchangeAnswer } from "../framework/exchange.ts";
import { HOP_BY_HOP } from "../shared/hop-by-hop-headers.ts";
import type { RemoteHeaders } from "../framework/apis/aggregation.ts";

/** Credentials and identity are for this server only; length and WebSocket handshake are set by the outgoing request. */
const OWN = /^(?:authorization|content-length|expect|host|impersonate-.*|sec-websocket-.*|x-remote-.*)$/;

/** CORS is this server's to decide. */
const SITES = /^access-control-allow-(?:credentials|headers|methods|origin)$/;

export function requestHeaders(received: RemoteHeaders): RemoteHeaders {
  const connection = [received["connection"] ?? []].flat().join(",");
  const named = connection.split(",").map((name) => name.trim().toLowerCase());
  return Object.fromEntries(Object.entries(received).filter(([name]) => !HOP_BY_HOP.has(name) && !named.includes(name) && !OWN.test(name)));
}

export function responseHeaders(answer: ExchangeAnswer): ExchangeAnswer {
  if ("run" in answer || "switching" in answer) return answer;
  const kept = Object.entries(answer.headers).filter(([name]) => !HOP_BY_HOP.has(name) && name !== "content-length" && !SITES.test(name));
  return { ...answer, headers: Object.fromEntries(kept) };
}
