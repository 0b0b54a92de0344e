/**
 * Headers on their way through the proxy: those of one connection are removed, those that describe the client are set by the proxy alone.
 * Lists are flat, as Node has them: name, value, name, value.
 */
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http2";

/** Of the connection, not of the message (RFC 9110, 7.6.1), and what frames the message: each side frames its own. */
const CONNECTION_HEADERS: ReadonlySet<string> = new Set([
  "connection",
  "http2-settings",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** Set by the proxy: a client must not choose them. */
const OWN_HEADERS: ReadonlySet<string> = new Set([
  "expect",
  "forwarded",
  "host",
  "x-forwarded-for",
  "x-forwarded-host",
  "x-forwarded-port",
  "x-forwarded-proto",
  "x-forwarded-server",
  "x-real-ip",
  "x-request-id",
]);

export interface ClientFacts {
  /** Host and port as the client wrote them. */
  readonly authority: string;
  readonly peerAddress: string;
  readonly isTls: boolean;
  readonly port: number;
  readonly requestId: string;
}

/** The headers of a request for an endpoint. Content-Length stays: it is the length that was parsed. */
export function requestHeaders(raw: readonly string[], facts: ClientFacts): string[] {
  const named = connectionNames(raw);
  const headers = ["host", facts.authority];
  let cookies = "";
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const name = (raw[index] as string).toLowerCase();
    if (name.charCodeAt(0) === COLON || CONNECTION_HEADERS.has(name) || isOwn(name) || named?.has(name) === true) continue;
    // HTTP/2 clients split cookies; HTTP/1.1 has one header.
    if (name === "cookie") cookies = cookies === "" ? (raw[index + 1] as string) : `${cookies}; ${raw[index + 1]}`;
    else headers.push(raw[index] as string, raw[index + 1] as string);
  }
  if (cookies !== "") headers.push("cookie", cookies);
  headers.push("x-forwarded-for", facts.peerAddress, "x-real-ip", facts.peerAddress);
  headers.push("x-forwarded-host", facts.authority, "x-forwarded-proto", facts.isTls ? "https" : "http");
  headers.push("x-forwarded-port", String(facts.port), "x-request-id", facts.requestId);
  return headers;
}

const COLON = 0x3a;

/** CGI and WSGI servers read "X_Real_IP" as X-Real-IP. */
function isOwn(name: string): boolean {
  return OWN_HEADERS.has(name) || (name.includes("_") && OWN_HEADERS.has(name.replaceAll("_", "-")));
}

/** The headers of an endpoint's answer for the client. */
export function answerHeaders(raw: readonly string[], more: readonly string[]): string[] {
  const named = connectionNames(raw);
  const headers: string[] = [];
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const name = (raw[index] as string).toLowerCase();
    if (name.charCodeAt(0) === COLON || CONNECTION_HEADERS.has(name) || named?.has(name) === true) continue;
    headers.push(raw[index] as string, raw[index + 1] as string);
  }
  for (const text of more) headers.push(text);
  return headers;
}

/** Headers that the Connection header declares to be of the connection. Undefined: none, which is the rule. */
function connectionNames(raw: readonly string[]): ReadonlySet<string> | undefined {
  let names: Set<string> | undefined;
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const name = raw[index] as string;
    if (name.length !== CONNECTION_LENGTH || name.toLowerCase() !== "connection") continue;
    const value = (raw[index + 1] as string).toLowerCase();
    if (value === "keep-alive" || value === "close") continue;
    names ??= new Set();
    for (const token of value.split(",")) names.add(token.trim());
  }
  // The length that was parsed frames the message; without it, the rest would be read as another request.
  names?.delete("content-length");
  return names;
}

const CONNECTION_LENGTH = "connection".length;

/** As HTTP/2 has them: lower case, several of one name in a list. */
export function http2Headers(flat: readonly string[]): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = {};
  for (let index = 0; index + 1 < flat.length; index += 2) {
    const name = (flat[index] as string).toLowerCase();
    const value = flat[index + 1] as string;
    const known = headers[name];
    if (known === undefined) headers[name] = value;
    else if (Array.isArray(known)) known.push(value);
    else headers[name] = [String(known), value];
  }
  return headers;
}

/** Headers of an HTTP/2 message, flat, without pseudo headers. */
export function flatHeaders(headers: IncomingHttpHeaders): string[] {
  const flat: string[] = [];
  for (const [name, value] of Object.entries(headers)) {
    if (name.startsWith(":") || value === undefined) continue;
    if (Array.isArray(value)) for (const one of value) flat.push(name, one);
    else flat.push(name, value);
  }
  return flat;
}

/** Content-Length by its digits; undefined: absent or not a number. */
export function lengthOf(value: string | undefined): number | undefined {
  return value !== undefined && /^\d{1,15}$/.test(value) ? Number(value) : undefined;
}
