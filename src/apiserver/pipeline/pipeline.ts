/**
 * The stages of every request, over HTTP or from this process, for a resource or a document: authorization, receiving the body, a seat (API
 * Priority and Fairness), and the verb, which calls admission and storage, or the document. Authentication comes before: the transport
 * passes the user. A body is received before the seat is acquired, so a slow client occupies none.
 */
import { onAbort, type CancelSignal } from "../../base/abort.ts";
import type { Random } from "../../base/random.ts";
import { newUid } from "../../base/uuid.ts";
import { isStatusError, internalError, StatusError } from "../../api/machinery/status-error.ts";
import { accessOf } from "../framework/access/access.ts";
import { forbiddenAccess } from "../framework/access/forbidden-message.ts";
import type { MaybePromise } from "../framework/authentication.ts";
import type { AccessAttributes } from "../framework/authorization.ts";
import type { ForwardedRequest } from "../framework/apis/aggregation.ts";
import type { DocumentRequest } from "../framework/document.ts";
import { BodyMemory, type BodyReservation } from "../limits/body-memory.ts";
import type { AdmitOptions, ConcurrencyGate, Seat, RequestFlow } from "../framework/concurrency.ts";
import type { ExchangeAnswer } from "../framework/exchange.ts";
import type { FlowRequest } from "../framework/flow-request.ts";
import { OverloadError } from "../framework/overload.ts";
import type { LeadershipCheck } from "../framework/leadership.ts";
import type { Metrics } from "../framework/metrics.ts";
import type { Outcome } from "../framework/outcome.ts";
import type { ApiRequest, RequestBody } from "../framework/request.ts";
import { resolveResource, type ResolvedResource } from "../framework/access/resolved-resource.ts";
import type { ServerContext } from "../framework/server-context.ts";
import type { Auditor } from "../shared/audit/auditor.ts";
import type { Verbs } from "../verbs/verbs.ts";

export type PipelineStep = "authorization" | "body" | "priority and fairness" | "verb";

export type PipelineRequest = ApiRequest | DocumentRequest | ForwardedRequest;

export const READING: readonly string[] = ["get", "head", "list", "watch"];

/** A body that has not been received yet. */
export interface BodySource {
  /** The declared length, or the maximum if it is unknown. */
  readonly sizeBytes: number;
  /** Without a promise if it arrived with the head. */
  receive(): MaybePromise<RequestBody>;
  /** Ends the request with this reason if it has not been answered yet. */
  cancel(reason: StatusError): void;
}

/** What a transport knows of a request beyond the request itself. */
export interface Arrival {
  /** The result of `resolveResource`, if the transport needed it. */
  readonly resolved?: ResolvedResource | undefined;
  readonly body?: BodySource | undefined;
  /** The result of `classify`. */
  readonly flow?: RequestFlow | undefined;
  /** The client's own timeout; a quarter of it may be spent waiting for a seat. */
  readonly timeoutMs?: number | undefined;
}

const NO_ARRIVAL: Arrival = {};

export interface PipelineParts {
  readonly metrics: Metrics;
  readonly gate: ConcurrencyGate;
  readonly checkLeadership: LeadershipCheck;
  /** Absent: nothing is audited. */
  readonly audit?: Auditor | undefined;
}

interface Counted {
  readonly code: number;
  readonly startedMs: number;
}

export class Pipeline {
  readonly #server: ServerContext;
  readonly #verbs: Verbs;
  readonly #metrics: Metrics;
  readonly #gate: ConcurrencyGate;
  readonly #checkLeadership: LeadershipCheck;
  readonly #audit: Auditor | undefined;
  readonly #bodies = new BodyMemory();
  readonly #requestIds: Random;
  #requestIdPrefix = "";
  #requestCount = 0;

  constructor(server: ServerContext, verbs: Verbs, { metrics, gate, checkLeadership, audit }: PipelineParts) {
    this.#server = server;
    this.#verbs = verbs;
    this.#metrics = metrics;
    this.#gate = gate;
    this.#checkLeadership = checkLeadership;
    this.#audit = audit;
    this.#requestIds = server.random.derive("request ids");
  }

  /** Names a request of this process, as `Audit-Id` names one over HTTP: unique across restarts, and cheaper. */
  newRequestId(): string {
    if (this.#requestIdPrefix === "") this.#requestIdPrefix = newUid(this.#requestIds).slice(0, REQUEST_ID_PREFIX_LENGTH);
    return `${this.#requestIdPrefix}-${++this.#requestCount}`;
  }

  /** Runs a request of this process, which is audited like those over HTTP. */
  runInProcess(request: ApiRequest): Promise<Outcome> {
    const audit = this.#audit;
    if (audit === undefined) return this.run(request);
    return audit.run(
      request,
      () => this.newRequestId(),
      (audited) => this.run(audited),
    );
  }

  /** Rejects with a StatusError, whatever the failure. */
  async run(request: PipelineRequest, arrival: Arrival = NO_ARRIVAL): Promise<Outcome> {
    const started = this.#server.clock.monotonic();
    const resolved = arrival.resolved ?? this.#resolve(request);
    let step: PipelineStep = "authorization";
    let body: BodyReservation | undefined;
    let seat: Seat | undefined;
    try {
      this.#authorize(request, started);
      const flow = arrival.flow ?? this.classify(request);
      let received: RequestBody | undefined;
      if (arrival.body !== undefined) {
        step = "body";
        body = this.#reserve(request, flow, arrival.body);
        const receiving = arrival.body.receive();
        if (receiving instanceof Promise) received = await orAborted(request.context.signal, receiving);
        else {
          request.context.signal?.throwIfAborted();
          received = receiving;
        }
      }
      step = "priority and fairness";
      if (!isConnection(request)) {
        const { endpoint } = resolved;
        const admitted = this.#admit(request, flow, { signal: request.context.signal, timeoutMs: arrival.timeoutMs, endpoint });
        seat = admitted instanceof Promise ? await admitted : admitted;
      }
      body?.keep();
      step = "verb";
      const { leadership } = request.context;
      if (leadership !== undefined && !READING.includes(request.verb)) await this.#checkLeadership(leadership);
      const executing = this.#execute(request, resolved, received);
      if (!(executing instanceof Promise)) request.context.signal?.throwIfAborted();
      const outcome = executing instanceof Promise ? await orAborted(request.context.signal, executing) : executing;
      this.#count(request, resolved, { code: codeOf(outcome), startedMs: started });
      return outcome.is === "connection" && isForResource(request) ? this.#watched(request, outcome.answer) : outcome;
    } catch (error) {
      const status = this.#statusOf(error, request, step);
      if (status instanceof OverloadError) this.#metrics.rejected++;
      this.#count(request, resolved, { code: status.code, startedMs: started });
      this.#recordRefusal(request, status, step);
      throw status;
    } finally {
      seat?.release();
      body?.release();
    }
  }

  /** The flow of a request; undefined for connections, which have no time limit, and if the gate does not distinguish flows. */
  classify(request: PipelineRequest): RequestFlow | undefined {
    return isConnection(request) ? undefined : this.#gate.classify(request);
  }

  /** Hot path: not async, which would cost every request microtasks. */
  #execute(request: PipelineRequest, resolved: ResolvedResource, body: RequestBody | undefined): MaybePromise<Outcome> {
    if (isDocument(request)) return request.answer().then((answer) => ({ is: "document", answer }));
    if (isForwarded(request)) return request.forward(bytesOf(body)).then((answer) => ({ is: "document", answer }));
    return this.#verbs.handle(this.#current(resolved, request), body === undefined ? request : withBody(request, body));
  }

  #resolve(request: PipelineRequest): ResolvedResource {
    return !isForResource(request) ? NOT_A_RESOURCE : resolveResource(this.#server.endpoints, request);
  }

  #reserve(request: PipelineRequest, flow: RequestFlow | undefined, { sizeBytes, cancel }: BodySource): BodyReservation {
    return this.#bodies.reserve(this.#gate.bodyOwner(request, flow), { sizeBytes, displace: cancel });
  }

  #admit(request: PipelineRequest, flow: RequestFlow | undefined, options: AdmitOptions): Seat | Promise<Seat> {
    const admitted = this.#gate.admit(request, flow, options);
    return admitted instanceof Promise ? admitted.then((seat) => this.#inFlight(request, seat)) : this.#inFlight(request, admitted);
  }

  #inFlight({ verb }: FlowRequest, seat: Seat): Seat {
    const { inFlight } = this.#metrics;
    const kind = READING.includes(verb) ? "readOnly" : "mutating";
    inFlight[kind]++;
    return {
      release() {
        inFlight[kind]--;
        seat.release();
      },
    };
  }

  /** Resolves again if the resource was removed or replaced while the request waited for its body or a seat. */
  #current(resolved: ResolvedResource, request: ApiRequest): ResolvedResource {
    const { endpoints } = this.#server;
    return resolved.endpoint !== undefined && endpoints.serves(resolved.endpoint) ? resolved : resolveResource(endpoints, request);
  }

  /**
   * Unknown resources are counted as one: clients choose their names, so the number of series would be unbounded. Documents are not counted:
   * upstream's request metrics are of resources, and forwarded ones are counted by the server that serves them.
   */
  #count(request: PipelineRequest, { endpoint, subresource }: ResolvedResource, { code, startedMs }: Counted): void {
    if (!isForResource(request)) return;
    const isKnown = endpoint !== undefined && (request.subresource === "" || subresource !== undefined);
    const counted = isKnown ? request : { ...request, group: "", version: "", plural: "", subresource: "" };
    this.#metrics.request(counted, code, this.#server.clock.monotonic() - startedMs);
  }

  /** A connection counts as running from its start, which may never come, to its end. */
  #watched(request: ApiRequest, answer: ExchangeAnswer): Outcome {
    const begun = (end: { onClosed(listener: () => void): void }): void => {
      this.#metrics.connectionStarted(request);
      end.onClosed(() => this.#metrics.connectionEnded(request));
    };
    if ("run" in answer) return { is: "connection", answer: { ...answer, run: (socket) => (begun(socket), answer.run(socket)) } };
    if ("stream" in answer) return { is: "connection", answer: { ...answer, stream: (sink) => (begun(sink), answer.stream(sink)) } };
    return { is: "connection", answer };
  }

  #authorize(request: PipelineRequest, authenticatedMs: number): void {
    const { trail } = request.context;
    trail?.authenticated(authenticatedMs);
    const access = requestedAccessOf(request);
    const decision = this.#server.authorizer.authorize(access);
    trail?.audit?.authorized(decision);
    if (!decision.allowed) throw forbiddenAccess(access, decision.reason ?? "");
    trail?.authorized(decision, this.#server.clock.monotonic());
  }

  /** Not found is the answer to a question rather than a refusal, and overload is counted, not recorded: both come in floods. */
  #recordRefusal(request: PipelineRequest, error: StatusError, step: PipelineStep): void {
    if (!isForResource(request) || error instanceof OverloadError) return;
    const isRefusedByPlugin = request.context.trail?.refusedBy !== undefined;
    if (error.reason === "NotFound" && !isRefusedByPlugin) return;
    const isDenied = step === "authorization";
    if (READING.includes(request.verb) && !isDenied) return;
    const stage = isDenied ? "authorization" : isRefusedByPlugin ? "admission" : "write";
    this.#server.causes.refuse({ request, error, stage });
  }

  #statusOf(error: unknown, request: PipelineRequest, step: PipelineStep): StatusError {
    if (isStatusError(error)) return error;
    const { signal, traceparent, cause, trail } = request.context;
    if (signal?.aborted === true)
      return isStatusError(signal.reason) ? signal.reason : new StatusError("Timeout", "The client disconnected before the response");
    trail?.audit?.panicked(error);
    const { verb, group, plural, namespace, name } = request;
    const path = isDocument(request) ? { path: request.path } : {};
    this.#server.log.error("Unexpected error while handling a request", {
      requestID: trail?.id,
      step,
      ...path,
      verb,
      group,
      plural,
      namespace,
      name,
      traceparent,
      cause,
      error,
    });
    return internalError(error);
  }
}

/** Enough to distinguish the processes of one cluster. */
const REQUEST_ID_PREFIX_LENGTH = 8;

const NOT_A_RESOURCE: ResolvedResource = { endpoint: undefined, subresource: undefined };

/** Hot path: listed, since a member after a spread costs as much as all others. A connection has no body. */
function withBody(request: ApiRequest, body: RequestBody): ApiRequest {
  const { verb, group, version, plural, subresource, namespace, name, options, context } = request;
  return { verb, group, version, plural, subresource, namespace, name, options, context, body };
}

function isDocument(request: PipelineRequest): request is DocumentRequest {
  return "path" in request;
}

/** For another server. */
function isForwarded(request: PipelineRequest): request is ForwardedRequest {
  return "forward" in request;
}

function isForResource(request: PipelineRequest): request is ApiRequest {
  return !isDocument(request) && !isForwarded(request);
}

function isConnection(request: PipelineRequest): boolean {
  return isForResource(request) && request.connection !== undefined;
}

function bytesOf(body: RequestBody | undefined): Uint8Array | undefined {
  return body?.form === "bytes" ? body.bytes : undefined;
}

function requestedAccessOf(request: PipelineRequest): AccessAttributes {
  if (isForwarded(request)) return request.access;
  if (!isDocument(request)) return accessOf(request, accessVerb(request));
  return { user: request.context.user, verb: request.verb, path: request.path };
}

/** The result, or the reason of the abort. Work in progress ends by itself: the signal is checked until the commit, never after. */
function orAborted<T>(signal: CancelSignal | undefined, work: Promise<T>): Promise<T> {
  if (signal === undefined) return work;
  if (signal.aborted) {
    void work.catch(() => undefined); // The client already has the answer.
    return Promise.reject(signal.reason);
  }
  // Hot path: both outcomes are handled in one step, since `finally` would allocate four more promises.
  return new Promise((resolve, reject) => {
    const stop = onAbort(signal, () => reject(signal.reason));
    work.then(
      (value) => {
        stop();
        resolve(value);
      },
      (error: unknown) => {
        stop();
        reject(error);
      },
    );
  });
}

/** Upstream has a verb for every method but OPTIONS, which only a proxy accepts: it needs the permission for all verbs. */
function accessVerb({ verb, connection }: ApiRequest): string {
  return connection?.exchange.method === "OPTIONS" ? "" : verb;
}

function codeOf(outcome: Outcome): number {
  if (!("answer" in outcome)) return "code" in outcome ? outcome.code : 200;
  return "code" in outcome.answer ? outcome.answer.code : SWITCHING_PROTOCOLS;
}

const SWITCHING_PROTOCOLS = 101;
