/**
 * The transport of components in this process, for all groups: requests for other API servers are encoded and forwarded as if they had come
 * over HTTPS, all others take the way within the process. The garbage collector, the autoscaler and all others need not know the difference.
 */
import { JSON_TYPE } from "../../api/machinery/codec/media-type.ts";
import type { JsonObject } from "../../api/machinery/object.ts";
import { internalError, type StatusError } from "../../api/machinery/status-error.ts";
import type { Transport, TransportRequest, TransportWatch, TransportWatchListener } from "../../api/machinery/transport.ts";
import { requestLine, type RequestLine } from "../../api/machinery/wire/request-line.ts";
import { readObject, responseOf } from "../../api/machinery/wire/response-body.ts";
import { errorOfAnswer } from "../../api/machinery/wire/status-response.ts";
import { WatchStream, type WatchBody } from "../../api/machinery/wire/watch-stream.ts";
import type { Clock } from "../../base/clock.ts";
import { mustHaveAccess } from "../framework/access/access.ts";
import type { Aggregation, RemoteApi } from "../framework/apis/aggregation.ts";
import type { Authorizer } from "../framework/authorization.ts";
import type { ExchangeAnswer, Sink } from "../framework/exchange.ts";
import type { User } from "../framework/request.ts";
import { answerBytes } from "../shared/answer-bytes.ts";
import { withTimeout } from "./remote-server.ts";

export interface RoutedTransportOptions {
  readonly aggregation: Aggregation;
  readonly authorizer: Authorizer;
  readonly clock: Clock;
  readonly user: User;
  readonly userAgent: string;
  /** Timeout of requests but watches. */
  readonly timeoutMs: number;
}

/** A list of a thousand large objects; informers request pages of 500. */
const BODY_BYTES_MAX = 256 << 20;

export function routedTransport(local: Transport, options: RoutedTransportOptions): Transport {
  const { aggregation } = options;
  return {
    request(request) {
      const remote = aggregation.remote(request.group, request.version);
      if (remote === undefined) return local.request(request);
      return requestFrom(remote, request, options);
    },
    document(path, given = {}) {
      const [, group = "", version] = DISCOVERY.exec(path) ?? [];
      const remote = version === undefined ? undefined : aggregation.remote(group, version);
      return remote === undefined ? local.document(path, given) : documentFrom(remote, path, options, given.signal);
    },
    watch(request, listener) {
      const remote = aggregation.remote(request.group, request.version);
      return remote === undefined ? local.watch(request, listener) : watchFrom(remote, request, listener, options);
    },
  };
}

const DISCOVERY = /^\/apis\/([^/]+)\/([^/?]+)$/;

async function requestFrom(remote: RemoteApi, request: TransportRequest, options: RoutedTransportOptions) {
  authorize(request, options);
  const line = requestLine(request);
  return withTimeout(options.clock, options.timeoutMs, request.signal, async (signal) => {
    const answer = await sent(remote, line, options, signal);
    const { code, body } = await wholeOf(answer, signal);
    if (code < 200 || code >= 300) throw refusal(line, request, { code, body });
    return responseOf({ verb: request.verb, code, body, warning: headerOf(answer, "warning") });
  });
}

async function documentFrom(remote: RemoteApi, path: string, options: RoutedTransportOptions, aborted?: AbortSignal): Promise<JsonObject> {
  mustHaveAccess(options.authorizer, { user: options.user, verb: "get", path });
  const line: RequestLine = { method: "GET", path, headers: {}, isRead: true };
  return withTimeout(options.clock, options.timeoutMs, aborted, async (signal) => {
    const answer = await sent(remote, line, options, signal);
    const { code, body } = await wholeOf(answer, signal);
    if (code !== 200) throw refusal(line, {}, { code, body });
    return readObject(body, { path, mediaType: headerOf(answer, "content-type") });
  });
}

async function watchFrom(
  remote: RemoteApi,
  request: Omit<TransportRequest, "verb">,
  listener: TransportWatchListener,
  options: RoutedTransportOptions,
): Promise<TransportWatch> {
  const asked: TransportRequest = { ...request, verb: "watch" };
  authorize(asked, options);
  const line = requestLine(asked);
  const answer = await sent(remote, line, options, request.signal ?? new AbortController().signal);
  if (!("stream" in answer) || answer.code !== 200) {
    const { code, body } = await wholeOf(answer, request.signal);
    throw refusal(line, request, { code, body });
  }
  const watch = new WatchStream(bodyOf(answer.stream), listener, () => undefined);
  // The caller runs before the first event is delivered.
  options.clock.soon(() => watch.start());
  return watch;
}

function authorize(request: TransportRequest, { authorizer, user }: RoutedTransportOptions): void {
  const { verb, group, version, plural, subresource = "", namespace = "", name = "", options: given = {} } = request;
  const { fieldSelector, labelSelector } = given;
  const selectors = {
    ...(fieldSelector === undefined ? {} : { fieldSelector }),
    ...(labelSelector === undefined ? {} : { labelSelector }),
  };
  mustHaveAccess(authorizer, { user, verb, resource: { group, version, plural, subresource, namespace, name, ...selectors }, path: "" });
}

function sent(
  remote: RemoteApi,
  line: RequestLine,
  { user, userAgent }: RoutedTransportOptions,
  signal: AbortSignal,
): Promise<ExchangeAnswer> {
  return remote.forward({
    user,
    method: line.method,
    target: line.path,
    headers: { accept: JSON_TYPE, "user-agent": userAgent, ...line.headers },
    ...(line.body === undefined ? {} : { body: new TextEncoder().encode(line.body) }),
    signal,
  });
}

async function wholeOf(
  answer: ExchangeAnswer,
  signal: AbortSignal | undefined,
): Promise<{ readonly code: number; readonly body: Uint8Array }> {
  if (!("code" in answer)) throw internalError(new Error("the server upgraded a connection that was not to be upgraded"));
  return { code: answer.code, body: await answerBytes(answer, BODY_BYTES_MAX, signal) };
}

function headerOf(answer: ExchangeAnswer, name: string): string | undefined {
  const value = "headers" in answer ? answer.headers[name] : undefined;
  return value === undefined ? undefined : [value].flat().join(", ");
}

function refusal(
  { method }: RequestLine,
  { group = "", plural = "", name = "" }: Partial<TransportRequest>,
  { code, body }: { readonly code: number; readonly body: Uint8Array },
): StatusError {
  return errorOfAnswer({ code, body, retryAfterSeconds: Infinity, asked: { method, group, plural, name } });
}

/** The stream of a forwarded answer as the body of a watch. */
function bodyOf(stream: (sink: Sink) => void): WatchBody {
  const closed: (() => void)[] = [];
  let isOver = false;
  const close = (): void => {
    if (isOver) return;
    isOver = true;
    closed.splice(0).forEach((listener) => listener());
  };
  return {
    stream({ piece, ended }) {
      const over = (): void => {
        if (isOver) return;
        close();
        ended();
      };
      stream({
        write({ bytes }) {
          if (!isOver) piece(bytes);
          return 0;
        },
        end: over,
        abort: over,
        onClosed: (listener) => (isOver ? listener() : void closed.push(listener)),
        onDrained() {},
      });
    },
    abort: close,
  };
}
