/**
 * Requests for other API servers: authorized, limited and counted like all others, then forwarded with the user's identity. Long-running
 * ones have no deadline; all others end like those that this server answers itself.
 */
import { signalOf } from "../../base/abort.ts";
import { isStatusError, type StatusError } from "../../api/machinery/status-error.ts";
import type { RequestFlow } from "../framework/concurrency.ts";
import { requestedAccess } from "../framework/access/requested-access.ts";
import type { ResourcePath } from "../framework/access/request-path.ts";
import type { ForwardedRequest, RemoteApi, RemoteHeaders } from "../framework/apis/aggregation.ts";
import type { DocumentRequest } from "../framework/document.ts";
import type { ExchangeAnswer, ExchangeRequest, Sink, StreamedAnswer, SwitchOffer } from "../framework/exchange.ts";
import type { FlowRequestOptions } from "../framework/flow-request.ts";
import type { User } from "../framework/request.ts";
import type { ServerContext } from "../framework/server-context.ts";
import type { BodySource } from "../pipeline/pipeline.ts";
import type { Deadline } from "./deadlines.ts";
import type { RequestTrail } from "../framework/recording/request-trail.ts";
import { contextOf } from "./request-context.ts";
import { auditTrailOf, commonHeaders, failure, withFlow, type RestDependencies } from "./responses.ts";
import type { RemoteRoute } from "./route.ts";

export interface AskedRemote {
  readonly request: ExchangeRequest;
  readonly user: User;
  readonly route: RemoteRoute;
  readonly switching: SwitchOffer | undefined;
}

export async function answerRemote(dependencies: RestDependencies, asked: AskedRemote): Promise<ExchangeAnswer> {
  const { server, pipeline, deadlines } = dependencies;
  const { request, route, switching } = asked;
  const { path } = route;
  const trail = auditTrailOf(dependencies, request);
  const forwarded = path.is === "document" ? documentOf(server, asked, trail) : resourceOf(server, { ...asked, trail }, path);
  const isLong = switching !== undefined || isLongRunning(forwarded);
  const streamed: { sink?: Sink } = {};
  const expire = (reason: StatusError): void => {
    request.cancel(reason);
    // The head has been sent, so the client gets an incomplete response. As upstream.
    streamed.sink?.abort();
  };
  let deadline = isLong ? undefined : deadlines.start(timeoutOf(request), expire);
  let flow: RequestFlow | undefined;
  try {
    flow = pipeline.classify(forwarded);
    const body = switching !== undefined || isBodyless(request) ? undefined : bodySource(request);
    const outcome = await pipeline.run(forwarded, { flow, body });
    if (outcome.is !== "document") throw new Error(`Cannot forward ${request.path}: the outcome is a ${outcome.is}`);
    const { answer } = outcome;
    if (!("headers" in answer)) return answer;
    const complete = { ...answer, headers: { ...commonHeaders(server, request), ...answer.headers } };
    if (deadline === undefined || !("stream" in complete)) return withFlow(complete, flow);
    const bounded = untilClosed(complete, deadline, streamed);
    deadline = undefined;
    return withFlow(bounded, flow);
  } catch (error) {
    if (!isStatusError(error)) throw error;
    return failure(dependencies, request, error, { flow });
  } finally {
    deadline?.clear();
  }
}

/** A body that is streamed has the same deadline. */
function untilClosed(answer: StreamedAnswer, deadline: Deadline, streamed: { sink?: Sink }): StreamedAnswer {
  return {
    ...answer,
    stream(sink) {
      streamed.sink = sink;
      sink.onClosed(() => deadline.clear());
      answer.stream(sink);
    },
  };
}

/** Authorized by its path, like the discovery documents of this server. */
function documentOf(server: ServerContext, asked: AskedRemote, trail: RequestTrail | undefined): DocumentRequest {
  const { request, user, route } = asked;
  return {
    ...{ group: "", version: "", plural: "", subresource: "", namespace: "", name: "", options: {} },
    verb: request.method.toLowerCase(),
    path: route.path.is === "document" ? route.path.asked : request.path,
    context: contextOf(request, user, { server, signal: request.signal, warnings: [], trail }),
    answer: () => forward(route.remote, asked, undefined),
  };
}

function resourceOf(
  server: ServerContext,
  asked: AskedRemote & { readonly trail: RequestTrail | undefined },
  { group, version, plural, subresource, namespace, name }: ResourcePath,
): ForwardedRequest {
  const { request, user, route, trail } = asked;
  const access = requestedAccess(request, user);
  return {
    ...{ group, version, plural, subresource, namespace, name },
    verb: access.verb,
    options: flowOptions(request.query),
    access,
    context: contextOf(request, user, { server, signal: request.signal, warnings: [], trail }),
    forward: (body) => forward(route.remote, asked, body),
  };
}

function forward(remote: RemoteApi, { request, user, switching }: AskedRemote, body: Uint8Array | undefined): Promise<ExchangeAnswer> {
  return remote.forward({
    user,
    method: request.method,
    target: request.query === "" ? request.path : `${request.path}?${request.query}`,
    headers: headersOf(request),
    ...(body === undefined ? {} : { body }),
    ...(switching === undefined ? {} : { switching }),
    signal: signalOf(request.signal),
  });
}

function headersOf(request: ExchangeRequest): RemoteHeaders {
  const before = request.header("x-forwarded-for");
  const { address } = request.peer;
  return {
    ...Object.fromEntries(request.headerNames().map((name) => [name, request.headerValues(name)])),
    "x-forwarded-for": before === undefined ? address : `${before}, ${address}`,
  };
}

/** Those of the query that determine the work of a list; the other server parses all of them. */
function flowOptions(query: string): FlowRequestOptions {
  if (query === "") return {};
  const parameters = new URLSearchParams(query);
  const limit = Number(parameters.get("limit") ?? Number.NaN);
  const names = ["continue", "resourceVersion", "resourceVersionMatch", "labelSelector", "fieldSelector"] as const;
  const texts = names.flatMap((name) => (parameters.has(name) ? [[name, parameters.get(name) ?? ""] as const] : []));
  return { ...Object.fromEntries(texts), ...(Number.isSafeInteger(limit) && limit > 0 ? { limit } : {}) };
}

/** Subresources that may take any time, as upstream. */
const LONG_RUNNING: readonly string[] = ["attach", "exec", "log", "portforward", "proxy"];

function isLongRunning({ verb, subresource }: Pick<ForwardedRequest, "verb" | "subresource">): boolean {
  return verb === "watch" || LONG_RUNNING.includes(subresource);
}

/** The client's own timeout ("10s"), if it is one; the other server rejects others. */
function timeoutOf({ query }: ExchangeRequest): number | undefined {
  const seconds = /(?:^|&)timeout=(\d+(?:\.\d+)?)s(?:&|$)/.exec(query)?.[1];
  return seconds === undefined ? undefined : Number(seconds) * 1_000;
}

function isBodyless({ method }: ExchangeRequest): boolean {
  return method === "GET" || method === "HEAD" || method === "OPTIONS";
}

/** As for requests that this server answers itself. */
const BODY_BYTES_MAX = 3 * 1024 * 1024;

function bodySource(request: ExchangeRequest): BodySource {
  const declared = Number(request.header("content-length") ?? Number.NaN);
  return {
    sizeBytes: Number.isSafeInteger(declared) && declared >= 0 ? Math.min(declared, BODY_BYTES_MAX) : BODY_BYTES_MAX,
    receive: async () => ({ form: "bytes", bytes: await request.body(BODY_BYTES_MAX), contentType: request.header("content-type") ?? "" }),
    cancel: (reason) => request.cancel(reason),
  };
}
