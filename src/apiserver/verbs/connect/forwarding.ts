/**
 * Request and response as a proxy forwards them: the path is normalized, so that ".." cannot escape it; hop-by-hop headers are dropped; and
 * redirects of the backend go back through the proxy. Not here: links in pages (html-links.ts), rewritten by the code that moves the bytes.
 */
import type { ExchangeAnswer, ExchangeRequest } from "../../framework/exchange.ts";
import type { ApiRequest } from "../../framework/request.ts";
import { HOP_BY_HOP } from "../../shared/hop-by-hop-headers.ts";
import { rewriteLink, type ProxiedPlace } from "./proxied-links.ts";
import type { ConnectionTarget } from "../../framework/node-connector.ts";

/** Identity headers are for the API server only; length and WebSocket handshake are set by the outgoing request. */
const OWN = /^(?:authorization|content-length|host|impersonate-.*|sec-websocket-.*|x-remote-(?:extra-.*|group|uid|user))$/;

/** CORS is the API server's to decide, not the backend's. */
const SITES = /^access-control-allow-(?:credentials|headers|methods|origin)$/;

/** Percent-encoded like Go's URL paths. */
export function encodePath(path: string): string {
  return encodeURI(path.toWellFormed()).replace(/[!'()*?#[\]]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** `uri` is the path of the client's request. */
export function forwardedHeaders(request: ExchangeRequest, uri: string): Record<string, string> {
  const named = (request.header("connection") ?? "")
    .toLowerCase()
    .split(",")
    .map((name) => name.trim());
  const headers = request
    .headerNames()
    .filter((name) => !HOP_BY_HOP.has(name) && !named.includes(name) && !OWN.test(name))
    .map((name) => [name, request.header(name) ?? ""] as const);
  const before = request.header("x-forwarded-for");
  const { address } = request.peer;
  return {
    ...Object.fromEntries(headers),
    "x-forwarded-for": before === undefined ? address : `${before}, ${address}`,
    "x-forwarded-uri": uri,
  };
}

/** The path of the proxy itself: "/api/v1/namespaces/x/pods/y/proxy". */
export function proxyPath({ group, version, namespace, plural, name, subresource }: ApiRequest): string {
  const root = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
  return encodePath(`${root}${namespace === "" ? "" : `/namespaces/${namespace}`}/${plural}/${name}/${subresource}`);
}

export interface Forwarded {
  readonly request: ExchangeRequest;
  readonly target: ConnectionTarget;
  /** The path of the proxy. */
  readonly prefix: string;
}

/** The backend's response as the client receives it. */
export function forwardedAnswer(answer: ExchangeAnswer, forwarded: Forwarded): ExchangeAnswer {
  if ("run" in answer || "switching" in answer) return answer;
  const kept = Object.entries(answer.headers).filter(([name]) => !HOP_BY_HOP.has(name) && name !== "content-length" && !SITES.test(name));
  const headers = Object.fromEntries(kept);
  const location = headers["location"];
  if (typeof location !== "string") return { ...answer, headers };
  return { ...answer, headers: { ...headers, location: rewriteLink(location, proxiedPlace(forwarded)) } };
}

/** For links and redirects of the backend. */
export function proxiedPlace({ request, target, prefix }: Forwarded): ProxiedPlace {
  return { hosts: hostsOf(target), requestHost: request.header("host"), prefix };
}

function hostsOf(target: ConnectionTarget): readonly string[] {
  const { host, port } = target.is === "kubelet" ? target.node : target;
  const shown = host.includes(":") ? `[${host}]` : host;
  return [shown, `${shown}:${port}`];
}
