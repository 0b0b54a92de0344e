/**
 * Calls webhooks over the network: HTTP/1.1 with kept connections (as upstream, so that each call can go to another endpoint), TLS
 * verified by the webhook's CA, the configured client credentials. A response is read up to its limit and then aborted: a webhook cannot
 * fill the API server's memory. Not here: targets, timeouts, and the meaning of responses (apiserver/webhooks).
 */
import { onAbort } from "../../base/abort.ts";
import type { Clock } from "../../base/clock.ts";
import { goRoundTripError } from "../../base/go-network-errors.ts";
import { formatAddress } from "../../host/http/client/address.ts";
import type { ClientTls, HttpClient, HttpClientAnswer } from "../../host/http/client/contract.ts";
import { openHttpClient } from "../../host/http/client/pool.ts";
import { realClock } from "../../host/real-clock.ts";
import { IncompleteResponse, type WebhookPost, type WebhookReply, type WebhookTransport } from "../framework/webhook-caller.ts";

/** Kept clients; the one that was not used for longest is closed first. Upstream's number. */
const CLIENTS_MAX = 200;

/** Connections to one webhook. More concurrent calls wait: the API server's in-flight limits are of the same size. */
const CONNECTIONS_MAX = 256;

/** Longer than the longest timeout of a webhook (30 s): the caller's timeout comes first. */
const ANSWER_TIMEOUT_MS = 40_000;

/** What the API server presents to a webhook. */
export interface WebhookCredentials extends Pick<ClientTls, "certificate" | "key"> {
  readonly token?: string;
}

export interface WebhookTransportOptions {
  /** Virtual time does not advance while a call is pending. */
  readonly clock: Clock;
  /** For a target such as "name.namespace.svc:443". Called per connection. */
  credentials(target: string): Promise<WebhookCredentials>;
}

export type NetworkWebhookTransport = WebhookTransport & AsyncDisposable;

export function networkWebhookTransport(options: WebhookTransportOptions): NetworkWebhookTransport {
  const clients = new WebhookClients(options);
  return {
    post: (request) => options.clock.external(post(clients, options, request)),
    [Symbol.asyncDispose]: () => clients.close(),
  };
}

async function post(clients: WebhookClients, { credentials }: WebhookTransportOptions, request: WebhookPost): Promise<WebhookReply> {
  const { target, path, body, answerBytesMax, signal } = request;
  try {
    const { token } = await credentials(target);
    const answer = await clients.to(request).send({
      ...{ method: "POST", path, body, signal },
      headers: {
        "content-type": "application/json",
        accept: "application/json, */*",
        "user-agent": "kube-apiserver-admission",
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      },
    });
    const bytes = await bounded(answer, answerBytesMax, signal);
    const retryAfter = answer.header("retry-after");
    return {
      code: answer.code,
      contentType: answer.header("content-type") ?? "",
      ...(retryAfter === undefined ? {} : { retryAfter }),
      body: bytes,
    };
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (error instanceof IncompleteResponse) throw error;
    throw new Error(goRoundTripError(error, formatAddress(request)), { cause: error });
  }
}

/** The whole body, unless it is too long. */
function bounded(answer: HttpClientAnswer, bytesMax: number, signal: AbortSignal): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const pieces: Uint8Array[] = [];
    let size = 0;
    const stop = onAbort(signal, () => answer.abort());
    answer.stream({
      piece(bytes) {
        size += bytes.length;
        if (size <= bytesMax) return void pieces.push(bytes);
        pieces.length = 0;
        reject(new Error(`the response exceeds the limit of ${bytesMax} bytes`));
        answer.abort();
      },
      ended(error) {
        stop();
        if (error === undefined) resolve(Buffer.concat(pieces));
        else
          reject(
            new IncompleteResponse("unexpected error when reading response body. Please retry. Original error: unexpected EOF", {
              cause: error,
            }),
          );
      },
    });
  });
}

/** One client per server and CA. */
class WebhookClients {
  readonly #options: WebhookTransportOptions;
  /** In the order of use, oldest first. */
  readonly #clients = new Map<string, HttpClient>();

  constructor(options: WebhookTransportOptions) {
    this.#options = options;
  }

  to(request: WebhookPost): HttpClient {
    const key = keyOf(request);
    const client = this.#clients.get(key) ?? this.#open(request);
    this.#clients.delete(key);
    this.#clients.set(key, client);
    for (const [oldest, unused] of this.#clients) {
      if (this.#clients.size <= CLIENTS_MAX) break;
      this.#clients.delete(oldest);
      // Running calls complete.
      unused.renew();
    }
    return client;
  }

  async close(): Promise<void> {
    const clients = [...this.#clients.values()];
    this.#clients.clear();
    await Promise.all(clients.map((client) => client[Symbol.asyncDispose]()));
  }

  #open({ scheme, host, port, target, serverName, authorities }: WebhookPost): HttpClient {
    const { credentials } = this.#options;
    return openHttpClient({
      server: `${scheme}://${formatAddress({ host, port })}`,
      authority: target,
      isHttp1Only: true,
      tls: async () => {
        const { certificate, key } = await credentials(target);
        return { serverName, authorities, ...(certificate === undefined ? {} : { certificate, key }) };
      },
      // Sockets are in real time, whatever the cluster's is.
      clock: realClock,
      limits: { answerTimeoutMs: ANSWER_TIMEOUT_MS, connectionsMax: CONNECTIONS_MAX },
    });
  }
}

function keyOf({ scheme, host, port, target, serverName, authorities = "" }: WebhookPost): string {
  return JSON.stringify([scheme, host, port, target, serverName, authorities]);
}
