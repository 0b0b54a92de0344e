/**
 * The transport to a remote server. Every failure is a StatusError. Requests are retried when the server asks for it with Retry-After; an
 * unanswered request is retried only if it is read-only, or if the server certainly did not process it: no write ever happens twice. Not
 * here: connections (host/http/client/), credentials (credentials.ts), wire format (api/machinery/wire).
 */
import { JSON_TYPE } from "../../api/machinery/codec/media-type.ts";
import type { JsonObject } from "../../api/machinery/object.ts";
import { badRequest, isStatusError, StatusError } from "../../api/machinery/status-error.ts";
import type {
  Transport,
  TransportRequest,
  TransportResponse,
  TransportWatch,
  TransportWatchListener,
} from "../../api/machinery/transport.ts";
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import { execProgram, type ExecOptions, type ExecOutcome } from "../../host/processes/exec-program.ts";
import { readWhole } from "../../host/files/files.ts";
import { HttpClientError, type HttpClient, type HttpClientAnswer, type HttpClientLimits } from "../../host/http/client/contract.ts";
import { openHttpClient } from "../../host/http/client/pool.ts";
import { readObject, responseOf } from "../../api/machinery/wire/response-body.ts";
import type { ConnectionConfig, Impersonation } from "../kubeconfig/connection-config.ts";
import { Credentials, type Shown } from "./credentials.ts";
import { headerText, impersonationHeaders } from "./impersonation.ts";
import { requestLine, type RequestLine } from "../../api/machinery/wire/request-line.ts";
import { errorOfAnswer, type Asked } from "../../api/machinery/wire/status-response.ts";
import { WATCH_LINE_BYTES_MAX, WatchLines } from "../../api/machinery/wire/watch-lines.ts";
import { WatchStream } from "../../api/machinery/wire/watch-stream.ts";

export interface HttpsTransportOptions {
  readonly clock: Clock;
  readonly log: Logger;
  /** User agent, which is also the default field manager: "kube-controller-manager/v1.36.0". */
  readonly userAgent: string;
  readonly limits?: Partial<HttpClientLimits>;
  /** Default: the machine's. */
  readonly readFile?: (path: string) => Promise<Uint8Array>;
  /** Default: the machine's. */
  readonly run?: (options: ExecOptions) => Promise<ExecOutcome>;
}

/** Maximum retries per request because of Retry-After; as upstream's clients. */
const RETRIES_MAX = 10;
/** Longer Retry-After delays are returned to the caller instead of being waited for. */
const RETRY_AFTER_SECONDS_MAX = 30;

export interface HttpsTransport extends Transport, AsyncDisposable {
  /**
   * A transport with another identity over the same connections, if the server permits it, so that thousands can share one. Closed with
   * this one.
   */
  as(who: Impersonation): Transport;
  /**
   * Streams a document of one JSON value per line, until one side ends it: the causes of the explain API. `line` is called in order.
   * Rejects with a StatusError if the server rejects the request, and with an error for a line that is too long.
   */
  lines(path: string, options: { readonly signal?: AbortSignal; line(bytes: Uint8Array): void }): Promise<void>;
}

export function httpsTransport(config: ConnectionConfig, options: HttpsTransportOptions): HttpsTransport {
  const { clock, readFile = readWhole, run = execProgram, limits } = options;
  const { server, isInsecure, serverName, proxyUrl: proxy } = config;
  const credentials = new Credentials(config, { clock, readFile, run });
  const tls = async () => ({ isInsecure, serverName, ...(await credentials.tls()) });
  const client = openHttpClient({ server, tls, proxy, clock, limits });
  return new Sender({ config, options, credentials, client, watches: new Set() }, config.impersonate);
}

/** State shared by all identities on the same connections. */
interface Line {
  readonly config: ConnectionConfig;
  readonly options: HttpsTransportOptions;
  readonly credentials: Credentials;
  readonly client: HttpClient;
  readonly watches: Set<WatchStream>;
}

class Sender implements HttpsTransport {
  readonly #line: Line;
  readonly #options: HttpsTransportOptions;
  readonly #server: string;
  readonly #prefix: string;
  readonly #credentials: Credentials;
  readonly #client: HttpClient;
  readonly #watches: Set<WatchStream>;
  readonly #headers: Readonly<Record<string, string | readonly string[]>>;
  readonly #packedHeaders: Readonly<Record<string, string | readonly string[]>>;

  constructor(line: Line, impersonate: Impersonation | undefined) {
    const { config, options, credentials, client, watches } = line;
    this.#line = line;
    this.#options = options;
    this.#server = config.server;
    this.#prefix = new URL(config.server).pathname.replace(/\/+$/, "");
    this.#credentials = credentials;
    this.#client = client;
    this.#watches = watches;
    this.#headers = {
      accept: JSON_TYPE,
      "user-agent": headerText(options.userAgent),
      ...(impersonate === undefined ? {} : impersonationHeaders(impersonate)),
    };
    this.#packedHeaders = config.disableCompression === true ? this.#headers : { ...this.#headers, "accept-encoding": "gzip" };
  }

  as(who: Impersonation): Transport {
    return new Sender(this.#line, who);
  }

  async request(request: TransportRequest): Promise<TransportResponse> {
    if (request.verb === "watch") throw badRequest("a watch is started with watch()");
    const line = requestLine(request);
    const answer = await this.#exchange(line, { headers: this.#packedHeaders, signal: request.signal, asked: askedOf(line, request) });
    const { code } = answer;
    return responseOf({ verb: request.verb, code, body: await this.#body(answer, request.signal), warning: answer.header("warning") });
  }

  async document(path: string, { signal }: { readonly signal?: AbortSignal } = {}): Promise<JsonObject> {
    if (!path.startsWith("/")) throw badRequest(`Cannot request ${JSON.stringify(path)}: a path must begin with a slash`);
    const line: RequestLine = { method: "GET", path, headers: {}, isRead: true };
    const answer = await this.#exchange(line, { headers: this.#packedHeaders, signal, asked: line });
    return readObject(await this.#body(answer, signal), { path, mediaType: answer.header("content-type") });
  }

  async watch(request: Omit<TransportRequest, "verb">, listener: TransportWatchListener): Promise<TransportWatch> {
    const line = requestLine({ ...request, verb: "watch" });
    // Compression would only delay events.
    const answer = await this.#exchange(line, { headers: this.#headers, signal: request.signal, asked: askedOf(line, request) });
    const watch: WatchStream = new WatchStream(answer, listener, () => void this.#watches.delete(watch));
    this.#watches.add(watch);
    // The caller runs before the first event is delivered.
    this.#options.clock.soon(() => watch.start());
    return watch;
  }

  async lines(path: string, { signal, line }: { readonly signal?: AbortSignal; line(bytes: Uint8Array): void }): Promise<void> {
    const request: RequestLine = { method: "GET", path, headers: {}, isRead: true };
    const answer = await this.#exchange(request, { headers: this.#headers, signal, asked: request });
    const lines = new WatchLines();
    await new Promise<void>((resolve, reject) => {
      signal?.addEventListener("abort", () => answer.abort(), { once: true });
      answer.stream({
        piece(bytes) {
          try {
            if (lines.push(bytes, (one) => (line(one), true))) return;
            throw new Error(`Cannot read ${path}: a line has more than ${WATCH_LINE_BYTES_MAX} bytes`);
          } catch (error) {
            reject(error);
            answer.abort();
          }
        },
        // A watch that the connection ends is repeated by the caller, whatever the reason.
        ended: () => resolve(),
      });
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const watch of [...this.#watches]) watch.stop();
    await this.#client[Symbol.asyncDispose]();
  }

  /** A successful response. Rejects with a StatusError. */
  async #exchange(line: RequestLine, call: Call): Promise<HttpClientAnswer> {
    const { signal } = call;
    const tried = { resent: false, renewed: false, retries: 0 };
    for (;;) {
      if (signal?.aborted === true) throw gaveUp(signal);
      const shown = await this.#shown();
      const answer = await this.#send(line, call, shown).catch((error: unknown) => this.#lost(error, line, call, tried));
      if (answer === undefined) continue;
      if (answer.code >= 200 && answer.code < 300) return answer;
      const body = await this.#body(answer, signal);
      if (answer.code === 401 && !tried.renewed && (await this.#renew(shown))) {
        tried.renewed = true;
        continue;
      }
      const retryAfterSeconds = retryAfterOf(answer);
      const isWorthIt = retryAfterSeconds <= RETRY_AFTER_SECONDS_MAX && tried.retries < RETRIES_MAX;
      if (!isRefusal(answer.code) || !isWorthIt) throw errorOfAnswer({ code: answer.code, body, retryAfterSeconds, asked: call.asked });
      tried.retries++;
      this.#options.log.debug("Retrying a request after the delay in Retry-After", {
        path: line.path,
        code: answer.code,
        retryAfterSeconds,
      });
      await this.#options.clock.sleep(retryAfterSeconds * 1_000, signal).catch(() => undefined);
    }
  }

  #send({ method, path, headers, body }: RequestLine, call: Call, { authorization }: Shown): Promise<HttpClientAnswer> {
    const { signal } = call;
    return this.#client.send({
      method,
      path: `${this.#prefix}${path}`,
      headers: { ...call.headers, ...headers, ...(authorization === undefined ? {} : { authorization }) },
      ...(body === undefined ? {} : { body }),
      ...(signal === undefined ? {} : { signal }),
    });
  }

  /** There was no response. Undefined: safe to retry. */
  #lost(error: unknown, line: RequestLine, { signal }: Call, tried: { resent: boolean }): undefined {
    if (signal?.aborted === true) throw gaveUp(signal);
    if (!(error instanceof HttpClientError)) throw error;
    const isSafe = error.loss === "unprocessed" || (error.loss === "lost" && line.isRead);
    if (!isSafe || tried.resent) throw this.#noAnswer(error);
    tried.resent = true;
    this.#options.log.debug("Retrying a request whose connection was lost", { path: line.path, error });
    return undefined;
  }

  async #body(answer: HttpClientAnswer, signal: AbortSignal | undefined): Promise<Uint8Array> {
    try {
      return await answer.body();
    } catch (error) {
      if (signal?.aborted === true) throw gaveUp(signal);
      throw this.#noAnswer(error);
    }
  }

  async #shown(): Promise<Shown> {
    try {
      const shown = this.#credentials.show();
      return shown instanceof Promise ? await shown : shown;
    } catch (error) {
      throw new StatusError("Unauthorized", `getting credentials: ${(error as Error).message}`, { cause: error });
    }
  }

  /** Whether there are other credentials to try. */
  async #renew(shown: Shown): Promise<boolean> {
    try {
      const next = await this.#credentials.refused(shown);
      if (next === "again-reconnected") this.#client.renew();
      return next !== "give-up";
    } catch (error) {
      this.#options.log.warn("Cannot renew rejected credentials", { server: this.#server, error });
      return false;
    }
  }

  #noAnswer(error: unknown): StatusError {
    if (isStatusError(error)) return error;
    return new StatusError("ServiceUnavailable", `Cannot reach ${this.#server}: ${(error as Error).message}`, { cause: error });
  }
}

interface Call {
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly signal: AbortSignal | undefined;
  readonly asked: Asked;
}

function askedOf({ method }: RequestLine, { group, plural, name }: Omit<TransportRequest, "verb">): Asked {
  return { method, group, plural, name };
}

function gaveUp({ reason }: AbortSignal): StatusError {
  return isStatusError(reason) ? reason : new StatusError("Timeout", "The client disconnected before the response", { cause: reason });
}

/** Infinity if it is not a number of seconds; dates are not used in practice. */
function retryAfterOf(answer: HttpClientAnswer): number {
  const text = answer.header("retry-after") ?? "";
  return /^\d{1,9}$/.test(text) ? Number(text) : Infinity;
}

/** These state that nothing was done; after others the outcome is unknown. */
function isRefusal(code: number): boolean {
  return code === 429 || code === 503;
}
