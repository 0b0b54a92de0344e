/**
 * Sends requests to the API server behind an APIService: to a ready endpoint of its Service, over TLS verified by `caBundle`, with the user
 * in front-proxy headers. Failures are answers with upstream's messages, so that a broken server affects its own groups only.
 */
import type { APIService } from "../../api/generated/apiregistration.k8s.io/v1.ts";
import { decodeBase64 } from "../../api/machinery/codec/base64.ts";
import { anySignal } from "../../base/abort.ts";
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import type { Random } from "../../base/random.ts";
import type { RemoteConnector, RemoteRequest } from "../framework/apis/aggregation.ts";
import type { ExchangeAnswer, WholeAnswer } from "../framework/exchange.ts";
import type { Objects } from "../framework/objects.ts";
import { resolveService, type ServiceAddress } from "../shared/service-endpoint.ts";
import { discoveryPath, isAvailable, placeOf, serviceOf, type ServiceReference } from "./api-service.ts";
import { requestHeaders, responseHeaders } from "./forwarded-headers.ts";
import { identityHeaders } from "./identity-headers.ts";

/** Discovery is cheap on every server; a short timeout keeps all clients responsive. As upstream. */
const DISCOVERY_TIMEOUT_MS = 5_000;

export interface RemoteContext {
  readonly objects: Objects;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Absent: this server has no network. */
  readonly connector: RemoteConnector | undefined;
}

export class RemoteServer {
  readonly #context: RemoteContext;
  readonly #apiService: APIService;
  readonly #service: ServiceReference;

  constructor(context: RemoteContext, apiService: APIService, service: ServiceReference) {
    this.#context = context;
    this.#apiService = apiService;
    this.#service = service;
  }

  /** As a client sees it: an unavailable server is not asked. */
  async forward(request: RemoteRequest): Promise<ExchangeAnswer> {
    if (!isAvailable(this.#apiService)) return plainText(503, "service unavailable");
    let endpoint: ServiceAddress;
    try {
      endpoint = await this.resolve();
    } catch (error) {
      this.#context.log.warn("Resolving the Service of an APIService failed", { apiService: this.#apiService.metadata.name, error });
      return plainText(503, "service unavailable");
    }
    const isDiscovery = request.target.split("?", 1)[0] === discoveryPath(placeOf(this.#apiService));
    try {
      const answer = await (isDiscovery ? this.#within(DISCOVERY_TIMEOUT_MS, endpoint, request) : this.send(endpoint, request));
      return isRedirect(answer) ? this.#refusedRedirect(answer) : responseHeaders(answer);
    } catch (error) {
      request.signal.throwIfAborted();
      return plainText(503, `error trying to reach service: ${messageOf(error)}`);
    }
  }

  /** Rejects with a StatusError. */
  resolve(): Promise<ServiceAddress> {
    return resolveService(this.#context, this.#service);
  }

  /** Rejects with the reason in upstream's words. */
  async send(endpoint: ServiceAddress, { user, headers, ...request }: RemoteRequest): Promise<ExchangeAnswer> {
    const { connector } = this.#context;
    if (connector === undefined) throw new Error("this API server has no network; start it with one to use aggregated API servers");
    const { name, namespace } = this.#service;
    const { caBundle = "", insecureSkipTLSVerify = false } = this.#apiService.spec ?? {};
    const call = {
      ...request,
      ...endpoint,
      headers: { ...requestHeaders(headers), ...identityHeaders(user) },
      serverName: `${name}.${namespace}.svc`,
      isInsecure: insecureSkipTLSVerify,
      ...(caBundle === "" ? {} : { authorities: new TextDecoder().decode(decodeBase64(caBundle)) }),
    };
    return connector.send(call);
  }

  async #within(timeoutMs: number, endpoint: ServiceAddress, request: RemoteRequest): Promise<ExchangeAnswer> {
    return withTimeout(this.#context.clock, timeoutMs, request.signal, (signal) => this.send(endpoint, { ...request, signal }));
  }

  /** A redirect would make this server send credentials elsewhere. As upstream. */
  #refusedRedirect(answer: ExchangeAnswer): ExchangeAnswer {
    discard(answer);
    const body = new TextEncoder().encode("the backend attempted to redirect this request, which is not permitted");
    return { code: 502, headers: {}, body: [body] };
  }
}

/** The work must end when its signal aborts: with upstream's message if it was too slow. */
export async function withTimeout<T>(
  clock: Clock,
  timeoutMs: number,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const [late, done] = [new AbortController(), new AbortController()];
  clock.sleep(timeoutMs, done.signal).then(
    () => late.abort(new Error("context deadline exceeded")),
    () => undefined, // It finished in time.
  );
  try {
    return await work(anySignal(late.signal, signal) as AbortSignal);
  } catch (error) {
    throw late.signal.aborted ? (late.signal.reason as Error) : error;
  } finally {
    done.abort();
  }
}

/** Go's http.Error. */
function plainText(code: number, text: string): WholeAnswer {
  const headers = { "content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff" };
  return { code, headers, body: [new TextEncoder().encode(`${text}\n`)] };
}

function isRedirect(answer: ExchangeAnswer): boolean {
  return "code" in answer && answer.code >= 300 && answer.code <= 399 && answer.headers["location"] !== undefined;
}

/** Releases the connection of an answer that is not read. */
export function discard(answer: ExchangeAnswer): void {
  if ("switching" in answer) return answer.abort();
  if (!("stream" in answer)) return;
  answer.stream({ write: () => 0, end() {}, abort() {}, onClosed: (listener) => listener(), onDrained() {} });
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Only remote APIServices have a server. */
export function remoteServerOf(context: RemoteContext, apiService: APIService): RemoteServer | undefined {
  const service = serviceOf(apiService);
  return service === undefined ? undefined : new RemoteServer(context, apiService, service);
}
