/** Serves an exchange with faults, and keeps a list of its running watches, which can be dropped. */
import { signalOf } from "../../base/abort.ts";
import { reasonNamed, StatusError, type Reason } from "../../api/machinery/status-error.ts";
import { ConnectionReset, type Exchange, type ExchangeAnswer, type Sink, type StreamedAnswer } from "../../apiserver/framework/exchange.ts";
import type { Clock } from "../../base/clock.ts";
import { statusAnswer } from "../status-answer.ts";
import { matches, type Fault, type FaultMatch, type FaultSpec } from "./fault.ts";
import type { Faults } from "./faults.ts";
import { factsOf, type RequestFacts } from "./request-facts.ts";

export interface Served {
  readonly exchange: Exchange;
  readonly clock: Clock;
  /** Aborted when the exchange is replaced. */
  readonly signal: AbortSignal;
}

/** "end": as a server that closes the watch. "reset": the connection breaks. */
export type DropMode = "end" | "reset";

interface RunningWatch {
  readonly facts: RequestFacts;
  readonly sink: Sink;
}

export class FaultyExchange {
  readonly #faults: Faults;
  readonly #watches = new Set<RunningWatch>();

  constructor(faults: Faults) {
    this.#faults = faults;
  }

  around(served: Served): Exchange {
    return async (request, offer, switching) => {
      const facts = factsOf(request);
      const fault = this.#faults.isEmpty ? undefined : this.#faults.chosenFor(facts);
      const injected = fault === undefined ? undefined : await before(fault, request, served);
      if (injected !== undefined) return injected;
      const answer = await served.exchange(request, offer, switching);
      return "stream" in answer && facts.resource?.verb === "watch" ? this.#watched(answer, { facts, fault, served }) : answer;
    };
  }

  /** Drops the running watches that match; returns their number. */
  dropWatches(match: FaultMatch, how: DropMode): number {
    const dropped = [...this.#watches].filter(({ facts }) => matches(match, facts));
    for (const { sink } of dropped) drop(sink, how);
    return dropped.length;
  }

  #watched(
    answer: StreamedAnswer,
    { facts, fault, served }: { readonly facts: RequestFacts; readonly fault: Fault | undefined; readonly served: Served },
  ): ExchangeAnswer {
    return {
      ...answer,
      stream: (sink) => {
        const watch = { facts, sink };
        this.#watches.add(watch);
        sink.onClosed(() => this.#watches.delete(watch));
        const { dropWatch } = fault?.spec ?? {};
        answer.stream(dropWatch === undefined ? sink : droppedSink(sink, dropWatch, served));
      },
    };
  }
}

/** Undefined: the request is served. */
async function before({ id, spec }: Fault, request: Parameters<Exchange>[0], served: Served): Promise<ExchangeAnswer | undefined> {
  const { delay, status, resetConnection } = spec;
  if (delay !== undefined)
    await served.clock.sleep(delay, AbortSignal.any([signalOf(request.signal), served.signal])).catch(() => undefined);
  if (resetConnection === true) throw new ConnectionReset(`Injected by ${id}`);
  return status === undefined ? undefined : statusAnswer(statusError(id, status));
}

/** The usual reasons of codes. */
const REASONS: Readonly<Record<number, Reason>> = {
  400: "BadRequest",
  401: "Unauthorized",
  403: "Forbidden",
  404: "NotFound",
  405: "MethodNotAllowed",
  406: "NotAcceptable",
  409: "Conflict",
  410: "Expired",
  413: "RequestEntityTooLarge",
  415: "UnsupportedMediaType",
  422: "Invalid",
  429: "TooManyRequests",
  500: "InternalError",
  503: "ServiceUnavailable",
  504: "Timeout",
};

export function statusError(id: string, { code, reason = "", message, retryAfterSeconds }: NonNullable<FaultSpec["status"]>): StatusError {
  const details = retryAfterSeconds === undefined ? {} : { details: { retryAfterSeconds } };
  const known = reasonNamed(reason) ?? REASONS[code] ?? "Unknown";
  return new StatusError(known, message ?? `Injected by ${id} of test control`, { code, ...details });
}

/** Passes events until the watch is dropped. */
function droppedSink(
  sink: Sink,
  { afterEvents, after, how = "end" }: NonNullable<FaultSpec["dropWatch"]>,
  { clock, signal }: Served,
): Sink {
  const mode: DropMode = how === "reset" ? "reset" : "end";
  let left = afterEvents ?? (after === undefined ? 0 : Infinity);
  if (left === 0) drop(sink, mode);
  if (after !== undefined) {
    const closed = new AbortController();
    sink.onClosed(() => closed.abort());
    clock.sleep(after, AbortSignal.any([closed.signal, signal])).then(
      () => drop(sink, mode),
      () => undefined,
    );
  }
  return {
    write(chunk) {
      if (left <= 0) return 0;
      const waiting = sink.write(chunk);
      if (--left <= 0) drop(sink, mode);
      return waiting;
    },
    end: () => sink.end(),
    abort: () => sink.abort(),
    onClosed: (listener) => sink.onClosed(listener),
    onDrained: (listener) => sink.onDrained(listener),
  };
}

function drop(sink: Sink, how: DropMode): void {
  if (how === "reset") sink.abort();
  else sink.end();
}
