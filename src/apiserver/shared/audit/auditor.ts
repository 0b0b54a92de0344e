/**
 * Audits requests: evaluates the policy when a request arrives, follows the response to its end, and sends the events to a sink. A sink that
 * cannot take an event loses it, which is counted; no request waits for it, or fails because of it.
 */
import type { StatusError } from "../../../api/machinery/status-error.ts";
import type { Clock } from "../../../base/clock.ts";
import { Counter } from "../../../base/metrics/metric-series.ts";
import { accessOf } from "../../framework/access/access.ts";
import { requestedAccess } from "../../framework/access/requested-access.ts";
import type { AuditPolicy, AuditSink } from "../../framework/audit.ts";
import type { MetricFamilies } from "../../framework/document.ts";
import type { ExchangeAnswer, ExchangeRequest } from "../../framework/exchange.ts";
import type { Outcome } from "../../framework/outcome.ts";
import { RequestTrail } from "../../framework/recording/request-trail.ts";
import type { ApiRequest, User } from "../../framework/request.ts";
import type { WatchStart } from "../../framework/watch.ts";
import { auditDecision } from "./audit-policy.ts";
import { AuditRecord, type AuditedArrival } from "./audit-record.ts";
import { sourceAddresses } from "./source-addresses.ts";

const PLUGIN = "log";
const SWITCHING_PROTOCOLS = 101;

export interface AuditorOptions {
  readonly policy: AuditPolicy;
  readonly sink: AuditSink;
  readonly clock: Clock;
}

export class Auditor {
  readonly #options: AuditorOptions;
  /** Requests over HTTP that are recorded. */
  readonly #records = new WeakMap<ExchangeRequest, AuditRecord>();
  readonly #events = counter("event_total", "Counter of audit events generated and sent to the audit backend.");
  readonly #levels = counter("level_total", "Counter of policy levels for audit events (1 per request).");
  readonly #rejections = counter("requests_rejected_total", "Counter of requests rejected due to an error in the audit backend.");

  constructor(options: AuditorOptions) {
    this.#options = options;
    this.#rejections.add({}, 0);
  }

  /** A request over HTTP is authenticated. */
  begin(request: ExchangeRequest, user: User, id: string): void {
    const record = this.#recordOf({ ...this.#arrivalOf(request, id), access: requestedAccess(request, user) });
    if (record === undefined) return;
    this.#records.set(request, record);
    record.receivedRequest();
  }

  /** Undefined: the request is not recorded. */
  of(request: ExchangeRequest): AuditRecord | undefined {
    return this.#records.get(request);
  }

  /** The authentication of a request failed: one event without a user. */
  rejected(request: ExchangeRequest, error: StatusError, id: string): void {
    const access = { ...requestedAccess(request, UNAUTHENTICATED), user: undefined };
    this.#recordOf({ ...this.#arrivalOf(request, id), access })?.rejected(error);
  }

  /** The response of a request over HTTP, whose end is followed if it is a stream. */
  answered(request: ExchangeRequest, answer: ExchangeAnswer): ExchangeAnswer {
    const record = this.#records.get(request);
    if (record === undefined) return answer;
    record.started("code" in answer ? answer.code : SWITCHING_PROTOCOLS);
    const followed = { onClosed: () => record.completed() };
    if ("run" in answer) return { ...answer, run: (socket) => (socket.onClosed(followed.onClosed), answer.run(socket)) };
    if ("stream" in answer) return { ...answer, stream: (sink) => (sink.onClosed(followed.onClosed), answer.stream(sink)) };
    if ("tunnel" in answer) {
      const ended = () => record.completed();
      return {
        ...answer,
        tunnel: (client) => (void client.closed.then(ended, ended), answer.tunnel(client)),
        abort: () => (ended(), answer.abort()),
      };
    }
    record.completed();
    return answer;
  }

  /** A request of a component of this process. */
  async run(request: ApiRequest, newId: () => string, execute: (request: ApiRequest) => Promise<Outcome>): Promise<Outcome> {
    const { context, verb } = request;
    const trail = context.trail ?? new RequestTrail(newId);
    const record = this.#recordOf({
      id: trail.id,
      access: accessOf(request, verb),
      requestUri: pathOf(request),
      sourceAddresses: [],
      userAgent: context.userAgent,
      receivedMs: this.#options.clock.now(),
    });
    if (record === undefined) return execute(request);
    record.receivedRequest();
    trail.audit = record;
    try {
      const outcome = await execute({ ...request, context: { ...context, trail } });
      record.responded(outcome);
      record.started("code" in outcome ? outcome.code : OK);
      if (outcome.is === "watch") return { ...outcome, watch: followed(outcome.watch, record) };
      record.completed();
      return outcome;
    } catch (error) {
      const failure = error as StatusError;
      record.failed(failure);
      record.started(failure.code);
      record.completed();
      throw error;
    }
  }

  metricFamilies(): MetricFamilies {
    const errors = counter("error_total", "Counter of audit events that failed to be audited properly, by the affected plugin.");
    errors.add({ plugin: PLUGIN }, this.#options.sink.lostCount);
    return [this.#events, errors, this.#levels, this.#rejections].map((each) => each.family());
  }

  #arrivalOf(request: ExchangeRequest, id: string): Omit<AuditedArrival, "access"> {
    return {
      id,
      requestUri: request.query === "" ? request.path : `${request.path}?${request.query}`,
      sourceAddresses: sourceAddresses(request),
      userAgent: request.header("user-agent") ?? "",
      receivedMs: this.#options.clock.now(),
    };
  }

  #recordOf(arrival: AuditedArrival): AuditRecord | undefined {
    const { policy, clock } = this.#options;
    const decision = auditDecision(policy, arrival.access);
    this.#levels.add({ level: decision.level });
    if (decision.level === "None") return undefined;
    return new AuditRecord(arrival, decision, { emit: (event) => this.#send(event), nowMs: () => clock.now() });
  }

  #send(event: string): void {
    this.#events.add({});
    this.#options.sink.write(event);
  }
}

const OK = 200;
const UNAUTHENTICATED: User = { name: "", groups: [] };

function counter(name: string, help: string): Counter {
  return new Counter({ name: `apiserver_audit_${name}`, help });
}

function followed(watch: WatchStart, record: AuditRecord): WatchStart {
  return {
    start: (receiver) =>
      watch.start({
        event: (event) => receiver.event(event),
        ended: () => {
          record.completed();
          receiver.ended();
        },
      }),
  };
}

/** The path that the same request has over HTTP. */
function pathOf({ group, version, plural, subresource, namespace, name, verb }: ApiRequest): string {
  const root = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
  const inNamespace = namespace === "" ? "" : `/namespaces/${namespace}`;
  const rest = [plural, name, subresource].filter((part) => part !== "").join("/");
  return `${root}${inNamespace}/${rest}${verb === "watch" ? "?watch=true" : ""}`;
}
