/**
 * Plugin `metrics`: counts queries and responses and measures durations, under CoreDNS' names, so that its dashboards and alerts work; the
 * page /metrics has the metrics of all plugins. Counting is on the path of every query: it adds to numbers in arrays, and the labels are
 * made when the page is read.
 */
import { PROMETHEUS_TYPE, prometheusText, type Family, type HistogramFamily, type Sample } from "../../../base/metrics/prometheus-text.ts";
import type { DnsPlugin, Observation, RunningPlugin } from "../../plugin.ts";
import { rcodeName, typeName } from "../../wire/codes.ts";

/** Upper bounds in seconds, CoreDNS': 0.25 ms to 8 s. */
const DURATION_BOUNDS_S: readonly number[] = Array.from({ length: 16 }, (_, index) => 0.000_25 * 2 ** index);

const TYPES = 256;
const RCODES = 32;
const TRANSPORTS = ["udp", "tcp"] as const;

export const metrics: DnsPlugin = {
  name: "metrics",
  order: 20,
  async start(context): Promise<RunningPlugin> {
    const counts = new ResponseCounts();
    return {
      observed: (observation) => counts.add(observation),
      metrics: () => counts.families(),
      pages: { "/metrics": () => ({ code: 200, type: PROMETHEUS_TYPE, text: prometheusText(context.metrics()) }) },
      async [Symbol.asyncDispose]() {},
    };
  },
};

export class ResponseCounts {
  readonly #requests: Readonly<Record<"udp" | "tcp", Float64Array>> = { udp: new Float64Array(TYPES), tcp: new Float64Array(TYPES) };
  readonly #responses: Readonly<Record<"udp" | "tcp", Float64Array>> = { udp: new Float64Array(RCODES), tcp: new Float64Array(RCODES) };
  readonly #durations = new Float64Array(DURATION_BOUNDS_S.length + 1);
  #durationSumS = 0;
  #count = 0;
  #bytes = 0;

  add({ transport, type, rcode, durationMs, responseBytes }: Observation): void {
    const requests = this.#requests[transport];
    const responses = this.#responses[transport];
    // Types above are counted as 0, which is written as "other".
    const slot = type < TYPES ? type : 0;
    requests[slot] = (requests[slot] as number) + 1;
    responses[rcode] = (responses[rcode] as number) + 1;
    const seconds = durationMs / 1_000;
    let bucket = 0;
    while (bucket < DURATION_BOUNDS_S.length && seconds > (DURATION_BOUNDS_S[bucket] as number)) bucket++;
    this.#durations[bucket] = (this.#durations[bucket] as number) + 1;
    this.#durationSumS += seconds;
    this.#count++;
    this.#bytes += responseBytes;
  }

  families(): readonly (Family | HistogramFamily)[] {
    return [
      {
        ...{ name: "coredns_dns_requests_total", type: "counter", help: "Counter of DNS requests made per protocol and type." },
        samples: TRANSPORTS.flatMap((proto) => samplesOf(this.#requests[proto], (type) => ({ proto, type: typeName(type) }))),
      },
      {
        ...{ name: "coredns_dns_responses_total", type: "counter", help: "Counter of response status codes." },
        samples: TRANSPORTS.flatMap((proto) => samplesOf(this.#responses[proto], (rcode) => ({ proto, rcode: rcodeName(rcode) }))),
      },
      {
        ...{ name: "coredns_dns_response_size_bytes_total", type: "counter", help: "Sum of the sizes of all responses." },
        samples: [{ labels: {}, value: this.#bytes }],
      },
      {
        ...{ name: "coredns_dns_request_duration_seconds", type: "histogram", bounds: DURATION_BOUNDS_S },
        help: "Histogram of the time each request took.",
        samples: [{ labels: {}, counts: [...this.#durations], sum: this.#durationSumS, count: this.#count }],
      },
    ];
  }
}

/** Of the same labels one sample: several types are "other". */
function samplesOf(counts: Float64Array, labelsOf: (index: number) => Record<string, string>): readonly Sample[] {
  const samples = new Map<string, { labels: Record<string, string>; value: number }>();
  counts.forEach((value, index) => {
    if (value === 0) return;
    const labels = labelsOf(index);
    const key = JSON.stringify(labels);
    const known = samples.get(key);
    if (known === undefined) samples.set(key, { labels, value });
    else known.value += value;
  });
  return [...samples.values()];
}
