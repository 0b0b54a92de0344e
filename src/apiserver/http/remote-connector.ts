/**
 * Connects the API server to aggregated API servers over TLS, with the client certificate of a front proxy: it is what lets the other server
 * trust the headers that name the user. Upgraded protocols are passed through byte by byte.
 */
import type { ByteStream } from "../../base/byte-stream.ts";
import { goRoundTripError } from "../../base/go-network-errors.ts";
import type { ClientTls } from "../../host/http/client/contract.ts";
import { forwardRequest } from "../../host/http/forward.ts";
import { openTunnel } from "../../host/http/client/upgrade-client.ts";
import { joinStreams } from "../../host/network/byte-streams.ts";
import type { RemoteCall, RemoteConnector } from "../framework/apis/aggregation.ts";
import type { ExchangeAnswer, SwitchOffer } from "../framework/exchange.ts";
import { streamedAnswer } from "../shared/streamed-response.ts";

export interface RemoteConnectorOptions {
  /** The certificate of this server as a front proxy, and its key. Read for each call: certificates are rotated. */
  proxyCertificate(): Pick<ClientTls, "certificate" | "key">;
}

export function remoteConnector({ proxyCertificate }: RemoteConnectorOptions): RemoteConnector {
  return {
    async send(call) {
      const { host, port, serverName, authorities, isInsecure, signal } = call;
      const tls: ClientTls = { ...proxyCertificate(), serverName, isInsecure, ...(authorities === undefined ? {} : { authorities }) };
      try {
        return await (call.switching === undefined ? forward(call, tls) : tunnel(call, tls, call.switching));
      } catch (error) {
        signal.throwIfAborted();
        throw new Error(goRoundTripError(error, `${host.includes(":") ? `[${host}]` : host}:${port}`), { cause: error });
      }
    },
  };
}

async function forward({ host, port, method, target, headers, body, signal }: RemoteCall, tls: ClientTls): Promise<ExchangeAnswer> {
  const request = { scheme: "https", host, port, tls, method, path: target, headers, signal } as const;
  const reply = await forwardRequest({ ...request, ...(body === undefined ? {} : { body }) });
  return streamedAnswer(reply, reply.pieces, { reportsFailure: false });
}

async function tunnel(call: RemoteCall, tls: ClientTls, { protocol, headers }: SwitchOffer): Promise<ExchangeAnswer> {
  const { host, port, method, target, signal } = call;
  const answer = await openTunnel({
    ...{ scheme: "https", host, port, tls, method, path: target, signal },
    headers: { ...call.headers, ...headers, connection: "Upgrade", upgrade: protocol },
  });
  if (!("stream" in answer)) return { code: answer.code, headers: answer.headers, body: [answer.body] };
  const { stream } = answer;
  return {
    switching: answer.headers,
    tunnel: (client: ByteStream) => void joinStreams(client, stream),
    abort: () => stream.abort(),
  };
}
