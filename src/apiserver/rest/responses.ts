/** What the responses of all routes have in common: headers, and errors as a Status with the code of its reason. */
import type { StatusError } from "../../api/machinery/status-error.ts";
import type { RequestFlow } from "../framework/concurrency.ts";
import type { Document } from "../framework/document.ts";
import type { ExchangeAnswer, ExchangeRequest, WholeAnswer } from "../framework/exchange.ts";
import { OVERLOAD_MESSAGE, OverloadError } from "../framework/overload.ts";
import type { User } from "../framework/request.ts";
import { RequestTrail } from "../framework/recording/request-trail.ts";
import type { ServerContext } from "../framework/server-context.ts";
import { newUid } from "../../base/uuid.ts";
import type { LargeBodies } from "../limits/large-bodies.ts";
import type { Pipeline } from "../pipeline/pipeline.ts";
import type { Auditor } from "../shared/audit/auditor.ts";
import { isPretty } from "../shared/pretty-json.ts";
import type { Deadlines } from "./deadlines.ts";
import { Encoder } from "./encoder.ts";
import { answerForm } from "./negotiation.ts";
import type { WaitingBytes } from "./waiting-bytes.ts";
import { warningHeaders } from "./warnings.ts";

export interface RestDependencies {
  readonly server: ServerContext;
  readonly pipeline: Pipeline;
  readonly documents: readonly Document[];
  readonly deadlines: Deadlines;
  readonly waitingBytes: WaitingBytes;
  readonly largeBodies: LargeBodies;
  /** Absent: nothing is audited. */
  readonly audit?: Auditor | undefined;
  /** The user that the request acts as: the one authenticated, unless it has impersonation headers. Throws a StatusError. */
  impersonate(request: ExchangeRequest, user: User): User;
}

export type Headers = Record<string, string | readonly string[]>;

const STATUS_SCHEMA = "io.k8s.apimachinery.pkg.apis.meta.v1.Status";

/** Sets the headers that name the flow of the request, as upstream: by UIDs. */
export function withFlow(answer: ExchangeAnswer, flow: RequestFlow | undefined): ExchangeAnswer {
  return flow === undefined || !("headers" in answer) ? answer : { ...answer, headers: { ...answer.headers, ...flow.headers } };
}

export function commonHeaders(server: ServerContext, request: ExchangeRequest): Headers {
  return { "audit-id": request.auditId ?? newAuditId(server, request), "cache-control": "no-cache, private" };
}

/** The `Audit-Id` of a request that is recorded before its response has headers; the response gets the same. */
export function assignAuditId(server: ServerContext, request: ExchangeRequest): string {
  return (request.auditId ??= newAuditId(server, request));
}

function newAuditId({ random }: ServerContext, request: ExchangeRequest): string {
  return request.header("audit-id") ?? newUid(random);
}

/** For a request that only the audit log records. Undefined: it does not. */
export function auditTrailOf(
  { server, audit }: Pick<RestDependencies, "server" | "audit">,
  request: ExchangeRequest,
): RequestTrail | undefined {
  const record = audit?.of(request);
  if (record === undefined) return undefined;
  const trail = new RequestTrail(() => assignAuditId(server, request));
  trail.audit = record;
  return trail;
}

interface FailureOptions {
  readonly warnings?: readonly string[];
  readonly flow?: RequestFlow | undefined;
}

export function failure(
  { server, audit }: Pick<RestDependencies, "server" | "audit">,
  request: ExchangeRequest,
  error: StatusError,
  { warnings = [], flow }: FailureOptions = {},
): WholeAnswer {
  audit?.of(request)?.failed(error);
  const retryAfter = error.details?.retryAfterSeconds;
  const headers = {
    ...commonHeaders(server, request),
    ...flow?.headers,
    ...(retryAfter === undefined ? {} : { "retry-after": String(retryAfter) }),
  };
  if (error instanceof OverloadError) return { code: error.code, headers: { ...headers, ...PLAIN_TEXT }, body: [OVERLOADED] };
  const encoder = new Encoder({
    form: formOfFailure(request),
    schemas: server.schemas,
    includeObject: "None",
    pretty: isPretty(request),
    nowMs: () => server.clock.now(),
  });
  return {
    code: error.code,
    headers: { ...headers, "content-type": encoder.contentType, ...warningHeaders(warnings) },
    body: encoder.value(error.toStatus(), STATUS_SCHEMA),
  };
}

/** The response of Go's http.Error, which upstream uses outside the API. */
export const PLAIN_TEXT = { "content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff" } as const;
const OVERLOADED = new TextEncoder().encode(`${OVERLOAD_MESSAGE}\n`);

/** Errors are always encoded, in JSON if the requested media type is not supported. */
function formOfFailure(request: ExchangeRequest) {
  try {
    return answerForm(request.header("accept"), "value");
  } catch {
    return answerForm(undefined, "object");
  }
}
