/**
 * Connects the API server to nodes, Pods and Services over the network. Kubelets are called over HTTPS with the API server's client
 * certificate; upgraded protocols (WebSockets of exec, attach and portforward, SPDY of older clients) are passed through byte by byte, so
 * that only the two ends need to understand them. Not here: authorization and target resolution (apiserver/connections).
 */
import { isForwardable } from "../shared/forwardable.ts";
import { HtmlLinks } from "./html-links.ts";
import type { ByteStream } from "../../base/byte-stream.ts";
import { goRoundTripError } from "../../base/go-network-errors.ts";
import { joinStreams } from "../../host/network/byte-streams.ts";
import type { ClientTls } from "../../host/http/client/contract.ts";
import { forwardRequest, type ForwardReply } from "../../host/http/forward.ts";
import { canRecode, recoded, type BodyChange } from "../../host/http/recode.ts";
import { resolveName } from "../../host/network/network-address.ts";
import { openTunnel } from "../../host/http/client/upgrade-client.ts";
import type { ExchangeAnswer, SwitchOffer } from "../framework/exchange.ts";
import { streamedAnswer } from "../shared/streamed-response.ts";
import { kubeletPath } from "./kubelet-path.ts";
import type { ConnectionCall, ConnectionTarget, NodeConnector } from "../framework/node-connector.ts";

export interface NetworkConnectorOptions {
  /** Client certificate for kubelets, and the CA to verify them. Read for each call: certificates are rotated. */
  kubeletTls(): ClientTls;
}

export function networkConnector({ kubeletTls }: NetworkConnectorOptions): NodeConnector {
  return {
    async connect(call) {
      const place = await placeOf(call, kubeletTls);
      try {
        if (call.switching === undefined || call.subresource === "log") return await forward(call, place);
        return await tunnel(call, place, call.switching);
      } catch (error) {
        // The client has disconnected: there is no response to translate.
        if (call.signal.aborted) throw error;
        throw new Error(unreachableMessage(error, call, place), { cause: error });
      }
    },
  };
}

interface Place {
  readonly scheme: "http" | "https";
  readonly host: string;
  readonly port: number;
  readonly tls: ClientTls;
  readonly path: string;
}

/** Upstream's messages for an unreachable backend. */
function unreachableMessage(error: unknown, { subresource, target }: ConnectionCall, { host, port, path }: Place): string {
  const address = `${host.includes(":") ? `[${host}]` : host}:${port}`;
  const message = goRoundTripError(error, address);
  if (target.is === "server" || subresource === "proxy") return message;
  return subresource === "log" ? `Get "https://${address}${path}": ${message}` : `error dialing backend: ${message}`;
}

/** The certificate of a Pod is not verified: it is reached by address, for which no CA vouches. As upstream. */
const UNVERIFIED: ClientTls = { isInsecure: true };

async function placeOf(call: ConnectionCall, kubeletTls: () => ClientTls): Promise<Place> {
  const { target, path, query } = call;
  const forwarded = `${path === "" ? "/" : path}${query === "" ? "" : `?${query}`}`;
  if (target.is === "server") {
    const { scheme, host, port } = target;
    return { scheme, host: await callable(target, host), port, tls: UNVERIFIED, path: forwarded };
  }
  const { host, port } = target.node;
  const isProxy = call.subresource === "proxy";
  const isForwarded = isProxy || call.subresource === "metrics" || call.subresource === "kubelet";
  const at = isProxy ? await callable(target, host) : host;
  return { scheme: "https", host: at, port, tls: kubeletTls(), path: isForwarded ? forwarded : kubeletPath(call) };
}

/** A node name may resolve to the API server's own host, which must not be reachable with permission for nodes only. */
async function callable(target: ConnectionTarget, host: string): Promise<string> {
  if (target.is === "server" && target.nodeName === undefined) return host;
  const address = await resolveName(host);
  if (!isForwardable(address)) throw new Error("address not allowed");
  return address;
}

async function forward(call: ConnectionCall, place: Place): Promise<ExchangeAnswer> {
  const { method, headers, signal } = call;
  const body = method === "GET" || method === "HEAD" ? undefined : await call.body();
  const reply = await forwardRequest({ ...place, method, headers, signal, ...(body === undefined ? {} : { body }) });
  const { code } = reply;
  if (call.subresource !== "log") return streamedAnswer(reply, piecesOf(call, reply), { reportsFailure: false });
  if (code === 200) return streamedAnswer({ code, headers: {} }, reply.pieces, { reportsFailure: true });
  return { code, headers: {}, body: await gathered(reply.pieces(signal)) };
}

/** Unchanged or, for a page, with its links rewritten; pages of redirects are not rewritten, as upstream. */
function piecesOf({ method, rewriteLink }: ConnectionCall, { code, headers, pieces }: ForwardReply): ForwardReply["pieces"] {
  const encoding = String(headers["content-encoding"] ?? "");
  const [type = ""] = String(headers["content-type"] ?? "").split(";", 1);
  const isPage = type.trim() === "text/html" && headers["location"] === undefined && mayHaveBody(method, code);
  if (rewriteLink === undefined || !isPage || !canRecode(encoding)) return pieces;
  return (signal) => recoded(pieces(signal), encoding, pageChange(rewriteLink));
}

function mayHaveBody(method: string, code: number): boolean {
  return method !== "HEAD" && code !== 204 && code !== 304;
}

/** As latin1: pages have various encodings, in all of which links are ASCII. */
function pageChange(rewrite: (link: string) => string): BodyChange {
  const links = new HtmlLinks(rewrite);
  return {
    write: (piece) => Buffer.from(links.write(Buffer.from(piece.buffer, piece.byteOffset, piece.length).toString("latin1")), "latin1"),
    end: () => Buffer.from(links.end(), "latin1"),
  };
}

/** A kubelet's error response in place of a log is short. */
const WORDS_BYTES_MAX = 64 << 10;

async function gathered(pieces: AsyncIterable<Uint8Array>): Promise<readonly Uint8Array[]> {
  const kept: Uint8Array[] = [];
  let leftBytes = WORDS_BYTES_MAX;
  for await (const piece of pieces) {
    kept.push(piece.subarray(0, leftBytes));
    leftBytes -= piece.length;
    if (leftBytes <= 0) break;
  }
  return kept;
}

async function tunnel(call: ConnectionCall, place: Place, { protocol, headers }: SwitchOffer): Promise<ExchangeAnswer> {
  const { method, signal } = call;
  const answer = await openTunnel({
    ...{ ...place, method, signal },
    headers: { ...call.headers, ...headers, connection: "Upgrade", upgrade: protocol },
  });
  if (!("stream" in answer)) return { code: answer.code, headers: contentTypeOnly(answer.headers), body: [answer.body] };
  const { stream } = answer;
  return {
    switching: answer.headers,
    tunnel: (client: ByteStream) => void joinStreams(client, stream),
    abort: () => stream.abort(),
  };
}

/** Headers of a rejected upgrade: only the content type is passed on. */
function contentTypeOnly(headers: Readonly<Record<string, string>>): Record<string, string> {
  const type = headers["content-type"];
  return type === undefined ? {} : { "content-type": type };
}
