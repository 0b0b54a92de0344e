/**
 * Counts the requests of a component to the API server, under upstream's names (rest_client_*), over HTTPS and in one process alike. Counting
 * is a map lookup and an addition, and costs the caller no tick.
 */
import type { Transport, TransportRequest } from "../api/machinery/transport.ts";
import { isStatusError } from "../api/machinery/status-error.ts";
import type { Clock } from "../base/clock.ts";
import { MetricSet, type CounterDefinition, type HistogramDefinition } from "../base/metrics/metric-set.ts";
import type { Family, HistogramFamily } from "../base/metrics/prometheus-text.ts";

const REQUESTS: CounterDefinition = {
  type: "counter",
  name: "rest_client_requests_total",
  help: "Number of HTTP requests, partitioned by status code, method, and host.",
};
const DURATION: HistogramDefinition = {
  type: "histogram",
  name: "rest_client_request_duration_seconds",
  help: "Request latency in seconds. Broken down by verb, and host.",
  // Upstream's.
  bounds: [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60],
};

const METHODS: Readonly<Record<TransportRequest["verb"], string>> = {
  get: "GET",
  list: "GET",
  watch: "GET",
  create: "POST",
  update: "PUT",
  patch: "PATCH",
  delete: "DELETE",
  deletecollection: "DELETE",
};

/** Host of requests within one process. */
export const IN_PROCESS_HOST = "in-process";
/** As upstream: no response. */
const NO_RESPONSE = "<error>";

export class RequestMetrics {
  readonly #clock: Clock;
  readonly #metrics = new MetricSet();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The same transport, counted. `host`: of the API server, "127.0.0.1:6443". */
  counted(transport: Transport, host: string): Transport {
    return {
      request: (request) => this.#count(METHODS[request.verb], host, transport.request(request)),
      watch: (request, listener) => this.#count(METHODS.watch, host, transport.watch(request, listener)),
      document: (path, options) => this.#count(METHODS.get, host, transport.document(path, options)),
    };
  }

  families(): readonly (Family | HistogramFamily)[] {
    return this.#metrics.families();
  }

  #count<T>(method: string, host: string, response: Promise<T>): Promise<T> {
    const startedMs = this.#clock.monotonic();
    const ended = (code: string): void => {
      this.#metrics.count(REQUESTS, { code, host, method });
      this.#metrics.observe(DURATION, { host, verb: method }, (this.#clock.monotonic() - startedMs) / 1_000);
    };
    response.then(
      (answer) => ended(isCreated(answer) ? "201" : "200"),
      (error: unknown) => ended(codeOf(error)),
    );
    return response;
  }
}

function isCreated(answer: unknown): boolean {
  return typeof answer === "object" && answer !== null && "created" in answer && answer.created === true;
}

/** An error that the transport made, because the server did not respond, has the original one as its cause. */
function codeOf(error: unknown): string {
  return isStatusError(error) && error.cause === undefined ? String(error.code) : NO_RESPONSE;
}
