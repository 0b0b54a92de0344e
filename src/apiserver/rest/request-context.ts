/** The context of a request from its headers: trace, cause, leadership, and where its warnings go. */
import { CAUSE_HEADER, parseCause } from "../../api/machinery/cause.ts";
import { LEADERSHIP_HEADER, parseLeadership } from "../../api/machinery/leadership.ts";
import { badRequest } from "../../api/machinery/status-error.ts";
import type { ExchangeRequest } from "../framework/exchange.ts";
import type { RequestContext, User } from "../framework/request.ts";

export interface ContextOptions {
  readonly signal: AbortSignal | undefined;
  readonly warnings: string[];
}

export function contextOf(request: ExchangeRequest, user: User, { signal, warnings }: ContextOptions): RequestContext {
  return {
    user,
    ...(signal === undefined ? {} : { signal }),
    userAgent: request.header("user-agent") ?? "",
    ...traceOf(request),
    ...causeOf(request),
    ...leadershipOf(request),
    warn: (sentence) => void warnings.push(sentence),
  };
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

export function causeOf(request: ExchangeRequest): Pick<RequestContext, "cause"> {
  const text = request.header(CAUSE_HEADER);
  const cause = text === undefined || text.length > CARRIED_LENGTH_MAX ? undefined : parseCause(text);
  return cause === undefined ? {} : { cause };
}

/** For headers that are forwarded unchanged. */
const CARRIED_LENGTH_MAX = 1_024;
