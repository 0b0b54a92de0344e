/**
 * The API over HTTP: converts an exchange to a request, runs the pipeline, and converts the outcome to an answer. Every failure is a Status
 * with the code of its reason.
 */
import { badRequest, internalError, isStatusError, noSuchPath, type StatusError } from "../../api/machinery/status-error.ts";
import { describeFieldError } from "../../api/machinery/field-error.ts";
import { readIncludeObject, type IncludeObject } from "../../api/machinery/table.ts";
import type { Verb } from "../../api/machinery/resource.ts";
import { bodyBytesMax } from "../limits/body-limits.ts";
import type { Authenticated } from "../framework/authentication.ts";
import type { DocumentRequest } from "../framework/document.ts";
import type { Endpoint } from "../framework/endpoints.ts";
import type { Exchange, ExchangeAnswer, ExchangeRequest, SwitchOffer, UpgradeOffer, WholeAnswer } from "../framework/exchange.ts";
import type { Outcome } from "../framework/outcome.ts";
import type { Auditor } from "../shared/audit/auditor.ts";
import { isPretty } from "../shared/pretty-json.ts";
import type { BodySource } from "../pipeline/pipeline.ts";
import { forbiddenAccess } from "../framework/access/forbidden-message.ts";
import type { ApiRequest, RequestContext, User } from "../framework/request.ts";
import { RequestTrail, type Arrived } from "../framework/recording/request-trail.ts";
import type { ResolvedResource } from "../framework/access/resolved-resource.ts";
import type { ServerContext } from "../framework/server-context.ts";
import { methodNotAllowed } from "../verbs/method-not-allowed.ts";
import { connectionVerb, pathBehind, type Connection } from "./connection-path.ts";
import { Encoder } from "./encoder.ts";
import { answerForm, type AnswerForm, type AskedFor } from "./negotiation.ts";
import { requestedAccess } from "../framework/access/requested-access.ts";
import { BodyReceiver } from "./receive-body.ts";
import { checkTimeout, parseQuery, type ParsedQuery } from "./request-options.ts";
import { verbOf, type ResourcePath } from "../framework/access/request-path.ts";
import { answerRemote } from "./remote.ts";
import { contextOf, traceOf } from "./request-context.ts";
import { assignAuditId, auditTrailOf, commonHeaders, failure, PLAIN_TEXT, withFlow, type RestDependencies } from "./responses.ts";
import { routeOf, type DocumentRoute } from "./route.ts";
import { warningHeaders } from "./warnings.ts";
import { streamWatch } from "./watch-stream.ts";
import type { RequestFlow } from "../framework/concurrency.ts";

export function restExchange(dependencies: RestDependencies): Exchange {
  const exchange = unauditedExchange(dependencies);
  const { audit } = dependencies;
  if (audit === undefined) return exchange;
  return async (request, offer, switching) => audit.answered(request, await exchange(request, offer, switching));
}

function unauditedExchange(dependencies: RestDependencies): Exchange {
  return async (request, offer, switching) => {
    try {
      return await answer(dependencies, request, { offer, switching });
    } catch (error) {
      const status = isStatusError(error) ? error : internalError(error);
      if (status.reason === "InternalError" && !isStatusError(error)) {
        const { method, path } = request;
        const requestID = assignAuditId(dependencies.server, request);
        dependencies.server.log.error("Unexpected error while handling a request", { requestID, method, path, error });
        dependencies.audit?.of(request)?.panicked(error);
      }
      return failure(dependencies, request, status);
    }
  };
}

/** Throws a StatusError, or rejects with one. Hot path: not async, which would cost every request more promises. */
function answer(dependencies: RestDependencies, request: ExchangeRequest, offers: Offers): Promise<ExchangeAnswer> {
  const { server, audit } = dependencies;
  const atMs = server.clock.monotonic();
  const authenticated = audit === undefined ? server.authenticator.authenticate(request) : authenticateAudited(server, audit, request);
  return authenticated instanceof Promise
    ? authenticated.then((known) => answerAuthenticated(dependencies, known, { request, offers, atMs }))
    : answerAuthenticated(dependencies, authenticated, { request, offers, atMs });
}

interface ArrivedRequest {
  readonly request: ExchangeRequest;
  readonly offers: Offers;
  readonly atMs: number;
}

function answerAuthenticated(
  dependencies: RestDependencies,
  { user: self, by: authenticator = "", warnings: said = [] }: Authenticated,
  { request, offers, atMs }: ArrivedRequest,
): Promise<ExchangeAnswer> {
  const { server, audit } = dependencies;
  const user = dependencies.impersonate(request, self);
  if (user !== self) audit?.of(request)?.impersonated(user);
  const { endpoints, aggregation } = server;
  const route = routeOf({ endpoints, aggregation, documents: dependencies.documents }, request.path);
  if (route.is === "remote") return answerRemote(dependencies, { request, user, route, switching: offers.switching });
  if (route.is === "document") return answerDocument(dependencies, request, user, route);
  const { path, resolved, connection } = route;
  const asked = { request, user, path, resolved, warnings: [...said], arrived: arrivedAs(self, user, { atMs, authenticator }) };
  return connection === undefined
    ? answerResource(dependencies, asked)
    : answerConnection(dependencies, { ...asked, connection, ...offers });
}

/** As upstream, the audit policy is evaluated for the authenticated user, and a failed authentication is an event, too. */
async function authenticateAudited(server: ServerContext, audit: Auditor, request: ExchangeRequest): Promise<Authenticated> {
  const id = assignAuditId(server, request);
  try {
    const authenticated = await server.authenticator.authenticate(request);
    audit.begin(request, authenticated.user, id);
    return authenticated;
  } catch (error) {
    if (isStatusError(error)) audit.rejected(request, error, id);
    throw error;
  }
}

/** The protocol upgrade that the client requests. */
interface Offers {
  readonly offer: UpgradeOffer | undefined;
  readonly switching: SwitchOffer | undefined;
}

/** A request for a resource, with its user. */
interface AskedResource {
  readonly request: ExchangeRequest;
  readonly user: User;
  readonly path: ResourcePath;
  readonly resolved: ResolvedResource;
  /** Messages for the `Warning` header, so far. */
  readonly warnings: string[];
  readonly arrived: Arrived;
}

export async function answerDocument(
  dependencies: RestDependencies,
  request: ExchangeRequest,
  user: User,
  route: DocumentRoute,
): Promise<ExchangeAnswer> {
  const { pipeline } = dependencies;
  // Before authorization, as upstream.
  checkTimeout(request.query);
  const asked = documentRequest(dependencies, request, user, route);
  const flow = pipeline.classify(asked);
  try {
    const outcome = await pipeline.run(asked, { flow });
    if (outcome.is !== "document") throw new Error(`Cannot read ${asked.path}: the outcome is a ${outcome.is}`);
    return withFlow(outcome.answer, flow);
  } catch (error) {
    if (!isStatusError(error)) throw error;
    return failure(dependencies, request, error, { flow });
  }
}

/** Without a signal and without leadership: a document is read from memory and writes nothing. */
function documentRequest(dependencies: RestDependencies, request: ExchangeRequest, user: User, route: DocumentRoute): DocumentRequest {
  const { server } = dependencies;
  const trail = auditTrailOf(dependencies, request);
  const context: RequestContext = {
    user,
    userAgent: request.header("user-agent") ?? "",
    ...traceOf(request),
    ...(trail === undefined ? {} : { trail }),
    warn() {},
  };
  return {
    ...NO_RESOURCE,
    verb: request.method.toLowerCase(),
    path: route.path.asked,
    context,
    answer: () => documentAt(server, request, route, context),
  };
}

const NO_RESOURCE = { group: "", version: "", plural: "", subresource: "", namespace: "", name: "", options: {} } as const;

async function documentAt(
  server: ServerContext,
  request: ExchangeRequest,
  { document, path: { path } }: DocumentRoute,
  context: RequestContext,
): Promise<ExchangeAnswer> {
  if ((document === undefined || path.startsWith("/apis/")) && !isServed(server, path)) return pageNotFound(server, request);
  if (document === undefined) throw noSuchPath();
  if (request.method !== "GET" && request.method !== "HEAD") throw methodNotAllowed();
  return document.answer(request, path, context);
}

async function answerResource(dependencies: RestDependencies, asked: AskedResource): Promise<ExchangeAnswer> {
  const { request, user, path, resolved, warnings } = asked;
  const { server, pipeline, deadlines } = dependencies;
  const { verb, query, form, includeObject } = orRefused(dependencies, asked, () => understood(asked));
  const body = new BodyReceiver(dependencies.largeBodies, request, user);
  const deadline = mayHang(server, verb) ? deadlines.start(query.timeoutMs, (reason) => request.cancel(reason)) : undefined;
  let flow: RequestFlow | undefined;
  try {
    const api: ApiRequest = {
      verb,
      group: path.group,
      version: path.version,
      plural: path.plural,
      subresource: path.subresource,
      namespace: path.namespace,
      name: path.name,
      options: query.options,
      context: contextOf(request, user, {
        server,
        signal: deadline === undefined ? undefined : request.signal,
        warnings,
        trail: trailOf(dependencies, request, asked.arrived),
      }),
    };
    flow = pipeline.classify(api);
    const source = hasBody(verb) ? bodySource(request, body, bodyBytesMax(resolved, verb)) : undefined;
    const outcome = await pipeline.run(api, { resolved, body: source, flow, timeoutMs: query.timeoutMs });
    dependencies.audit?.of(request)?.responded(outcome);
    // One line per watch event.
    const pretty = verb !== "watch" && isPretty(request);
    const omitsManagedFields = query.parameters.get("omitManagedFields") === "true";
    const encoder = new Encoder({
      form,
      schemas: server.schemas,
      includeObject,
      omitsManagedFields,
      pretty,
      nowMs: () => server.clock.now(),
    });
    return present(dependencies, outcome, { encoder, warnings, request, flow });
  } catch (error) {
    const status = isStatusError(error) ? error : internalError(error);
    if (status.reason === "NotFound" && !isServed(server, request.path)) return pageNotFound(server, request);
    return failure(dependencies, request, status, { warnings, flow });
  } finally {
    body.release();
    deadline?.clear();
  }
}

interface Understood {
  readonly verb: Verb;
  readonly query: ParsedQuery;
  readonly form: AnswerForm;
  readonly includeObject: IncludeObject;
}

function understood({ request, path, resolved: { endpoint } }: AskedResource): Understood {
  const query = parseQuery(request.query);
  const verb = verbOf(request.method, path, query.isWatch);
  if (verb === undefined) throw endpoint === undefined ? noSuchPath() : methodNotAllowed();
  if (path.rest.length > 0) throw noSuchPath();
  const form = answerForm(request.header("accept"), askedFor(endpoint, verb));
  return { verb, query, form, includeObject: form.as === "Table" ? includeObjectOf(query) : "None" };
}

/** A user without permission gets Forbidden and no other error, whatever is wrong with the request. */
function orRefused<T>(dependencies: RestDependencies, asked: AskedResource, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw refusalOf(dependencies, asked) ?? error;
  }
}

function refusalOf({ server, audit }: RestDependencies, { request, user }: AskedResource): StatusError | undefined {
  const access = requestedAccess(request, user);
  const decision = server.authorizer.authorize(access);
  audit?.of(request)?.authorized(decision);
  return decision.allowed ? undefined : forbiddenAccess(access, decision.reason ?? "");
}

interface AskedConnection extends AskedResource, Offers {
  readonly connection: Connection;
}

/** A long-running request has no deadline. */
async function answerConnection(dependencies: RestDependencies, asked: AskedConnection): Promise<ExchangeAnswer> {
  const { server, pipeline } = dependencies;
  const { request, user, path, resolved, warnings, offer, switching } = asked;
  const verb = orRefused(dependencies, asked, () => connectionVerbOf(asked));
  const { group, version, plural, subresource, namespace, name } = path;
  const connecting: ApiRequest = {
    verb,
    group,
    version,
    plural,
    subresource,
    namespace,
    name,
    options: {},
    connection: {
      exchange: request,
      path: pathBehind(path, request.path),
      ...(offer === undefined ? {} : { offer }),
      ...(switching === undefined ? {} : { switching }),
    },
    context: contextOf(request, user, { server, signal: request.signal, warnings, trail: trailOf(dependencies, request, asked.arrived) }),
  };
  const outcome = await pipeline.run(connecting, { resolved });
  if (outcome.is !== "connection") throw new Error(`Cannot connect to ${plural}/${subresource}: the response is not a connection`);
  const { answer: connected } = outcome;
  if ("run" in connected || "switching" in connected) return connected;
  return { ...connected, headers: { ...commonHeaders(server, request), ...connected.headers, ...warningHeaders(warnings) } };
}

function connectionVerbOf({ request, connection }: AskedConnection): Verb {
  const verb = connectionVerb(request.method, connection);
  if (verb === undefined) throw methodNotAllowed();
  // Text is not negotiated, but upstream checks the Accept header as for every read.
  if (connection.answersText === true) answerForm(request.header("accept"), "object");
  return verb;
}

/** Reading from a store that this process owns is reading from memory; a signal for each would cost more than the response. */
function mayHang({ store }: ServerContext, verb: string): boolean {
  return hasBody(verb) || (verb !== "watch" && store.capabilities.shared);
}

function askedFor(endpoint: Endpoint | undefined, verb: string): AskedFor {
  if (endpoint !== undefined && !endpoint.resource.stored && verb === "create") return "value";
  if (verb === "watch" || verb === "list") return verb;
  return verb === "deletecollection" ? "list" : "object";
}

function arrivedAs(authenticated: User, user: User, arrived: Arrived): Arrived {
  return user === authenticated ? arrived : { ...arrived, impersonator: authenticated.name };
}

function trailOf({ server, audit }: RestDependencies, request: ExchangeRequest, arrived: Arrived): RequestTrail {
  const trail = new RequestTrail(() => assignAuditId(server, request), arrived);
  if (audit !== undefined) trail.audit = audit.of(request);
  return trail;
}

function hasBody(verb: string): boolean {
  return verb !== "get" && verb !== "list" && verb !== "watch";
}

function bodySource(request: ExchangeRequest, receiver: BodyReceiver, bytesMax: number = BODY_BYTES_MAX): BodySource {
  const declared = Number(request.header("content-length") ?? Number.NaN);
  return {
    sizeBytes: Number.isSafeInteger(declared) && declared >= 0 ? Math.min(declared, bytesMax) : bytesMax,
    receive: () => receiver.receive(bytesMax),
    cancel: (reason) => request.cancel(reason),
  };
}

/** Size of a body without Content-Length: the maximum that the HTTP server accepts. */
const BODY_BYTES_MAX = 3 * 1024 * 1024;

function includeObjectOf({ parameters }: ParsedQuery): IncludeObject {
  const read = readIncludeObject(parameters.get("includeObject") ?? undefined);
  if (typeof read !== "string") throw badRequest(`Unable to convert to Table as requested: ${describeFieldError(read)}`);
  return read;
}

interface Presentation {
  readonly encoder: Encoder;
  readonly warnings: readonly string[];
  readonly request: ExchangeRequest;
  readonly flow: RequestFlow | undefined;
}

function present(
  { server, waitingBytes }: RestDependencies,
  outcome: Outcome,
  { encoder, warnings, request, flow }: Presentation,
): ExchangeAnswer {
  const headers = commonHeaders(server, request);
  // Hot path: members are added one by one, since each object that is spread costs a copy.
  if (flow !== undefined) {
    headers["x-kubernetes-pf-flowschema-uid"] = flow.headers["x-kubernetes-pf-flowschema-uid"];
    headers["x-kubernetes-pf-prioritylevel-uid"] = flow.headers["x-kubernetes-pf-prioritylevel-uid"];
  }
  headers["content-type"] = encoder.contentType;
  if (warnings.length > 0) Object.assign(headers, warningHeaders(warnings));
  switch (outcome.is) {
    case "object":
      return { code: outcome.code, headers, body: encoder.object(outcome.endpoint, outcome.object) };
    case "list":
      return { code: 200, headers, body: encoder.list(outcome.endpoint, outcome.list) };
    case "value":
      return { code: outcome.code, headers, body: encoder.value(outcome.value, outcome.schema, outcome.columns) };
    case "connection":
    case "document":
      return outcome.answer;
    case "watch":
      return {
        code: 200,
        headers: { ...headers, "content-type": encoder.streamType },
        stream: (sink) => streamWatch(outcome, { encoder, sink, waitingBytes }),
      };
  }
}

/** True if the path is under an existing group; upstream answers other paths outside the API. */
function isServed({ endpoints, dynamicApis, aggregation }: ServerContext, path: string): boolean {
  const [, root, group, version] = path.split("/");
  if (root !== "apis") return root === "api";
  for (const api of [...dynamicApis, ...aggregation.all()]) {
    if (api.group === group) return true;
  }
  for (const { served } of endpoints.all()) {
    if (served.group === group) return true;
  }
  // Nothing but the document of the group exists.
  if (version === undefined) for (const api of aggregation.local()) if (api.group === group) return true;
  return false;
}

function pageNotFound(server: ServerContext, request: ExchangeRequest): WholeAnswer {
  const headers = { ...commonHeaders(server, request), ...PLAIN_TEXT };
  return { code: 404, headers, body: [PAGE_NOT_FOUND] };
}

const PAGE_NOT_FOUND = new TextEncoder().encode("404 page not found\n");
