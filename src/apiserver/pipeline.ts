/**
 * The road of every request, over HTTP or from this process, as named steps: may they, the body, room (are too many under way?), the verb,
 * which calls admission and the registry on its own way down. "Who" comes before: a transport says who its user is.
 * Later parts of the server fill these seams; none goes around them.
 */
import { onAbort } from "../base/abort.ts";
import { isStatusError, internalError, StatusError, tooManyRequests } from "../api/machinery/status-error.ts";
import { mustBeAllowed } from "./authorization/access.ts";
import { MASTERS } from "./authorization/chain.ts";
import { BodyRoom, RETRY_AFTER_SECONDS, type Room } from "./body-room.ts";
import type { ExchangeAnswer } from "./exchange.ts";
import { mustLead } from "./leadership.ts";
import type { Metrics } from "./metrics.ts";
import type { Outcome } from "./outcome.ts";
import type { ApiRequest, RequestBody, User } from "./request.ts";
import type { ServerContext } from "./server-context.ts";
import type { Verbs } from "./verbs/verbs.ts";

export type PipelineStep = "may they" | "body" | "room" | "verb";

const READING = ["get", "head", "list", "watch"];

export class Pipeline {
  readonly #server: ServerContext;
  readonly #verbs: Verbs;
  readonly #metrics: Metrics;
  readonly #bodies: BodyRoom;

  constructor(server: ServerContext, verbs: Verbs, metrics: Metrics) {
    this.#server = server;
    this.#verbs = verbs;
    this.#metrics = metrics;
    this.#bodies = new BodyRoom(server.config.maxMutatingRequestsInFlight);
  }

  /** Rejects with a StatusError, whatever went wrong. `receive`: takes in what is sent, once it is known that it may be. */
  async run(request: ApiRequest, receive?: () => Promise<RequestBody>): Promise<Outcome> {
    const started = this.#server.clock.monotonic();
    let step: PipelineStep = "may they";
    let room: Room | undefined;
    try {
      this.#authorize(request);
      step = "body";
      const received = receive === undefined ? request : { ...request, body: await this.#receive(request, receive) };
      step = "room";
      room = this.#takeRoom(request);
      step = "verb";
      const { leadership } = request.context;
      if (leadership !== undefined && !READING.includes(request.verb)) await mustLead(this.#server.objects, leadership);
      const outcome = await orAborted(request.context.signal, this.#verbs.handle(received));
      this.#count(request, codeOf(outcome), started);
      return outcome.is === "connection" ? { is: "connection", answer: this.#watched(request, outcome.answer) } : outcome;
    } catch (error) {
      const status = this.#statusOf(error, request, step);
      this.#count(request, status.code, started);
      throw status;
    } finally {
      room?.leave();
    }
  }

  async #receive({ context }: ApiRequest, receive: () => Promise<RequestBody>): Promise<RequestBody> {
    const room = this.#orRejected(() => this.#bodies.take(context.user));
    try {
      return await receive();
    } finally {
      room.leave();
    }
  }

  #orRejected<T>(take: () => T): T {
    try {
      return take();
    } catch (error) {
      this.#metrics.rejected++;
      throw error;
    }
  }

  /** Paths that lead nowhere are counted as one: their names come from outside, and there is no end of them. */
  #count(request: ApiRequest, code: number, startedMs: number): void {
    const { endpoints, clock } = this.#server;
    const endpoint = endpoints.find(request.group, request.version, request.plural);
    const { subresource } = request;
    const isKnown = endpoint !== undefined && (subresource === "" || Object.hasOwn(endpoint.resource.subresources, subresource));
    const counted = isKnown ? request : { ...request, group: "", version: "", plural: "", subresource: "" };
    this.#metrics.request(counted, code, clock.monotonic() - startedMs);
  }

  /** A connection counts as running from its beginning, which may never come, to its end. */
  #watched(request: ApiRequest, answer: ExchangeAnswer): ExchangeAnswer {
    const begun = (end: { onClosed(listener: () => void): void }): void => {
      this.#metrics.connectionStarted(request);
      end.onClosed(() => this.#metrics.connectionEnded(request));
    };
    if ("run" in answer) return { ...answer, run: (socket) => (begun(socket), answer.run(socket)) };
    if ("stream" in answer) return { ...answer, stream: (sink) => (begun(sink), answer.stream(sink)) };
    return answer;
  }

  /** Connections go on for as long as they like, and need no room; nor do parts of this process, whose requests hold no bodies. */
  #takeRoom({ verb, connection, context }: ApiRequest): Room | undefined {
    return connection === undefined && context.isInProcess !== true ? this.takeRoom(verb, context.user) : undefined;
  }

  /** Also for what is no resource. Throws if there is none (429). */
  takeRoom(verb: string, user: User): Room {
    const { config } = this.#server;
    const kind = READING.includes(verb) ? "readOnly" : "mutating";
    const max = kind === "readOnly" ? config.maxRequestsInFlight : config.maxMutatingRequestsInFlight;
    const { inFlight } = this.#metrics;
    // Whoever may do everything may be the one who comes to mend what fills the room.
    if (inFlight[kind] >= max && !user.groups.includes(MASTERS)) {
      this.#metrics.rejected++;
      throw tooManyRequests("Too many requests, please try again later.", RETRY_AFTER_SECONDS);
    }
    inFlight[kind]++;
    return { leave: () => void inFlight[kind]-- };
  }

  #authorize(request: ApiRequest): void {
    mustBeAllowed(this.#server.authorizer, request, accessVerb(request));
  }

  #statusOf(error: unknown, request: ApiRequest, step: PipelineStep): StatusError {
    if (isStatusError(error)) return error;
    const { signal, traceparent, cause } = request.context;
    if (signal?.aborted === true)
      return isStatusError(signal.reason) ? signal.reason : new StatusError("Timeout", "The client went away before the answer");
    const { verb, group, plural, namespace, name } = request;
    this.#server.log.error("A request failed in a way nobody foresaw", {
      step,
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

/** The answer, or the reason why nobody waits for it. What was begun comes to its own end: the signal decides until the commit, never after. */
function orAborted<T>(signal: AbortSignal | undefined, work: Promise<T>): Promise<T> {
  if (signal === undefined) return work;
  if (signal.aborted) {
    void work.catch(() => undefined); // Somebody is told already.
    return Promise.reject(signal.reason as Error);
  }
  return new Promise((resolve, reject) => {
    const stop = onAbort(signal, () => reject(signal.reason as Error));
    work.then(resolve, reject).finally(stop);
  });
}

/** Upstream has a verb for every method but OPTIONS, which only a proxy takes: whoever may do everything may do that. */
function accessVerb({ verb, connection }: ApiRequest): string {
  return connection?.exchange.method === "OPTIONS" ? "" : verb;
}

function codeOf(outcome: Outcome): number {
  if (outcome.is !== "connection") return "code" in outcome ? outcome.code : 200;
  return "code" in outcome.answer ? outcome.answer.code : SWITCHING_PROTOCOLS;
}

const SWITCHING_PROTOCOLS = 101;
