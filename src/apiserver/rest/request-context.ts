/** The context of a request from its headers: trace, cause, leadership, and where its warnings go. */
import type { CancelSignal } from "../../base/abort.ts";
import { CAUSE_HEADER, parseCause } from "../../api/machinery/cause.ts";
import { LEADERSHIP_HEADER, parseLeadership } from "../../api/machinery/leadership.ts";
import { badRequest } from "../../api/machinery/status-error.ts";
import type { ExchangeRequest } from "../framework/exchange.ts";
import type { RequestContext, User } from "../framework/request.ts";
import type { RequestTrail } from "../framework/recording/request-trail.ts";
import type { ServerContext } from "../framework/server-context.ts";
import { mayNameCause } from "../shared/explain/trusted-causes.ts";

export interface ContextOptions {
  readonly server: Pick<ServerContext, "authorizer">;
  readonly signal: CancelSignal | undefined;
  readonly warnings: string[];
  /** Absent: another server answers the request. */
  readonly trail?: RequestTrail | undefined;
}

export function contextOf(request: ExchangeRequest, user: User, { server, signal, warnings, trail }: ContextOptions): RequestContext {
  // Hot path: members are added one by one, since each object that is spread costs a copy.
  const context: { -readonly [Member in keyof RequestContext]: RequestContext[Member] } = {
    user,
    userAgent: request.header("user-agent") ?? "",
    warn: (sentence) => void warnings.push(sentence),
  };
  if (signal !== undefined) context.signal = signal;
  if (trail !== undefined) context.trail = trail;
  const { traceparent } = traceOf(request);
  if (traceparent !== undefined) context.traceparent = traceparent;
  const { cause } = causeOf(server, request, user);
  if (cause !== undefined) context.cause = cause;
  const { leadership } = leadershipOf(request);
  if (leadership !== undefined) context.leadership = leadership;
  return context;
}

export function traceOf(request: ExchangeRequest): Pick<RequestContext, "traceparent"> {
  const traceparent = request.header("traceparent");
  return traceparent === undefined ? {} : { traceparent: traceparent.slice(0, CARRIED_LENGTH_MAX) };
}

/** An invalid header must not be ignored: the write would be executed. */
function leadershipOf(request: ExchangeRequest): Pick<RequestContext, "leadership"> {
  const text = request.header(LEADERSHIP_HEADER);
  if (text === undefined) return {};
  const leadership = parseLeadership(text);
  if (leadership === undefined)
    throw badRequest(`the header ${LEADERSHIP_HEADER} must be NAMESPACE/NAME/HOLDER of a lease, each percent-encoded`);
  return { leadership };
}

/** Only a trusted component's: anyone else could blame another for what they wrote. */
export function causeOf(
  { authorizer }: Pick<ServerContext, "authorizer">,
  request: ExchangeRequest,
  user: User,
): Pick<RequestContext, "cause"> {
  const text = request.header(CAUSE_HEADER);
  if (text === undefined || text.length > CARRIED_LENGTH_MAX || !mayNameCause(authorizer, user)) return {};
  const cause = parseCause(text);
  return cause === undefined ? {} : { cause };
}

/** For headers that are forwarded unchanged. */
const CARRIED_LENGTH_MAX = 1_024;
