/**
 * The contract of calls to webhooks: admission and conversion of custom resources. The caller resolves the target (a URL, or a Service by
 * its EndpointSlices), sends one JSON document by POST, and returns the JSON document of the response. apiserver/webhooks implements it on
 * top of a transport, which is an argument: sockets (apiserver/http/webhook-transport.ts), or functions of a test.
 */
import type { CancelSignal } from "../../base/abort.ts";
import type { Json, JsonObject } from "../../api/machinery/object.ts";

/** Default limit of a response. The largest object has 1.5 MiB; its patch in base64, escaped in JSON, has a small multiple of that. */
export const WEBHOOK_ANSWER_BYTES_MAX = 16 * 1024 * 1024;

/** `clientConfig` of webhook configurations and of conversions. Either `url` or `service`. */
export interface WebhookClientConfig {
  /** "https://host:port/path". */
  readonly url?: string;
  readonly service?: WebhookService;
  /** PEM in base64, as in the API. Absent: the CAs that the machine trusts. */
  readonly caBundle?: string;
}

export interface WebhookService {
  readonly namespace: string;
  readonly name: string;
  readonly path?: string;
  /** Port of the Service. Default: 443. */
  readonly port?: number;
}

export interface WebhookCall {
  readonly client: WebhookClientConfig;
  readonly body: JsonObject;
  /** From the start of the call to the last byte of the response. */
  readonly timeoutMs: number;
  /** Adds `?timeout=10s` to the URL: admission webhooks get it, conversion webhooks do not. */
  readonly sendsTimeout?: boolean;
  /** Default: WEBHOOK_ANSWER_BYTES_MAX. A longer response is aborted as soon as it exceeds the limit. */
  readonly answerBytesMax?: number;
  /** Aborted when the client that waits for the result has disconnected. */
  readonly signal?: CancelSignal | undefined;
}

export interface WebhookCaller {
  /**
   * Resolves with the parsed body of a successful response. Rejects with an error whose message is upstream's: a StatusError if the server
   * responded with an error code, any other Error if there was no usable response ('Post "https://…": dial tcp …: connection refused',
   * '…: context deadline exceeded'). Redirects are not followed and count as errors.
   * Retries what the server asks to retry: 429 or a server error with Retry-After, within the timeout.
   */
  call(call: WebhookCall): Promise<Json>;
}

/** How requests leave the process. */
export interface WebhookTransport {
  /** Rejects with an Error whose message is the one of Go's HTTP client, without the URL; or with the signal's reason. */
  post(request: WebhookPost): Promise<WebhookReply>;
}

export interface WebhookPost {
  /** "host:port" of the URL, "name.namespace.svc:port" for a Service: the Host header, and the key of configured client credentials. */
  readonly target: string;
  readonly scheme: "http" | "https";
  /** Where to connect: the address of an endpoint, or the host of the URL. */
  readonly host: string;
  readonly port: number;
  /** The name that the server's certificate must have. */
  readonly serverName: string;
  /** With its query. */
  readonly path: string;
  readonly body: string;
  /** PEM. Absent: the CAs that the machine trusts. */
  readonly authorities?: string;
  readonly answerBytesMax: number;
  readonly signal: AbortSignal;
}

/** The response began, and ended before it was complete. */
export class IncompleteResponse extends Error {
  override readonly name = "IncompleteResponse";
}

export interface WebhookReply {
  readonly code: number;
  /** "" if the response has none. */
  readonly contentType: string;
  /** The header Retry-After; absent: none. */
  readonly retryAfter?: string;
  readonly body: Uint8Array;
}
