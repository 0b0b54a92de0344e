/** apiserver_flowcontrol_*: upstream's names, labels, buckets and help (flowcontrol/metrics/metrics.go), built when /metrics is read. */
import type { Family, HistogramFamily, HistogramSample, Labels, Sample } from "../../base/metrics/prometheus-text.ts";
import type { Fairness } from "./fairness.ts";
import type { Level } from "./level.ts";
import { BOUNDS, REJECT_REASONS, type FlowStatistics } from "./statistics.ts";
import type { HistogramValues } from "./timing-histogram.ts";

const PREFIX = "apiserver_flowcontrol_";

export function fairnessFamilies(fairness: Fairness, nowMs: number): readonly (Family | HistogramFamily)[] {
  const levels = fairness.levels();
  const flows = levels.flatMap((level) =>
    Array.from(level.flowStatistics, ([flowSchema, statistics]) => ({
      labels: { flow_schema: flowSchema, priority_level: level.name },
      statistics,
    })),
  );
  return [
    ...flowCounters(flows),
    ...flowGauges(flows),
    ...flowHistograms(flows),
    ...limitGauges(levels),
    ...demandGauges(levels),
    { ...family("seat_fair_frac", "gauge", HELP.fairFraction), samples: [{ labels: {}, value: fairness.fairFraction }] },
    ...virtualTimeGauges(levels),
    ...timingHistograms(levels, nowMs),
    readVersusWrite(fairness, nowMs),
  ];
}

interface CountedFlow {
  readonly labels: Labels;
  readonly statistics: FlowStatistics;
}

interface MoreLabels {
  readonly before?: Labels;
  readonly after?: Labels;
}

const HELP = {
  fairFraction: "Fair fraction of server's concurrency to allocate to each priority level that can use it",
  executingSeats:
    "Concurrency (number of seats) occupied by the currently executing (initial stage for a WATCH, any stage otherwise) requests in the API Priority and Fairness subsystem",
  nominal: "Nominal number of execution seats configured for each priority level",
} as const;

function flowCounters(flows: readonly CountedFlow[]): readonly Family[] {
  // Upstream creates a series at its first count.
  const rejected = flows.flatMap(({ labels, statistics }) =>
    REJECT_REASONS.flatMap((reason) => {
      const value = statistics.rejected[reason];
      return value === 0 ? [] : [{ labels: { ...labels, reason }, value }];
    }),
  );
  return [
    {
      ...family("rejected_requests_total", "counter", "Number of requests rejected by API Priority and Fairness subsystem"),
      samples: rejected,
    },
    perFlow(flows, "dispatched_requests_total", "counter", {
      help: "Number of requests executed by API Priority and Fairness subsystem",
      value: ({ dispatched }) => dispatched,
    }),
    perFlow(flows, "request_dispatch_no_accommodation_total", "counter", {
      help: "Number of times a dispatch attempt resulted in a non accommodation due to lack of available seats",
      value: ({ notAccommodated }) => notAccommodated,
    }),
  ];
}

function flowGauges(flows: readonly CountedFlow[]): readonly Family[] {
  return [
    perFlow(flows, "current_inqueue_requests", "gauge", {
      help: "Number of requests currently pending in queues of the API Priority and Fairness subsystem",
      value: ({ waiting }) => waiting,
    }),
    perFlow(flows, "current_inqueue_seats", "gauge", {
      help: "Number of seats currently pending in queues of the API Priority and Fairness subsystem",
      value: ({ waitingSeats }) => waitingSeats,
    }),
    perFlow(flows, "current_executing_requests", "gauge", {
      help: "Number of requests in initial (for a WATCH) or any (for a non-WATCH) execution stage in the API Priority and Fairness subsystem",
      value: ({ executing }) => executing,
    }),
    perFlow(flows, "current_executing_seats", "gauge", { help: HELP.executingSeats, value: ({ executingSeats }) => executingSeats }),
  ];
}

function flowHistograms(flows: readonly CountedFlow[]): readonly HistogramFamily[] {
  // Labels are sorted by name, as upstream's.
  const samples = (
    of: (statistics: FlowStatistics) => HistogramValues,
    { before = {}, after = {} }: MoreLabels = {},
  ): readonly HistogramSample[] =>
    flows.flatMap(({ labels, statistics }) => {
      const values = of(statistics);
      return values.count === 0 ? [] : [{ ...values, labels: { ...before, ...labels, ...after } }];
    });
  return [
    histogram("request_wait_duration_seconds", "Length of time a request spent waiting in its queue", BOUNDS.durationS, [
      ...samples(({ waitOfRejected }) => waitOfRejected, { before: { execute: "false" } }),
      ...samples(({ waitOfDispatched }) => waitOfDispatched, { before: { execute: "true" } }),
    ]),
    histogram(
      "request_execution_seconds",
      "Duration of initial stage (for a WATCH) or any (for a non-WATCH) stage of request execution in the API Priority and Fairness subsystem",
      BOUNDS.durationS,
      [
        ...samples(({ execution }) => execution, { after: { type: "regular" } }),
        ...samples(({ watchExecution }) => watchExecution, { after: { type: "watch" } }),
      ],
    ),
    histogram(
      "request_queue_length_after_enqueue",
      "Length of queue in the API Priority and Fairness subsystem, as seen by each request after it is enqueued",
      BOUNDS.queueLength,
      samples(({ queueLength }) => queueLength),
    ),
    histogram(
      "watch_count_samples",
      "count of watchers for mutating requests in API Priority and Fairness",
      BOUNDS.watchCount,
      samples(({ watchCount }) => watchCount),
    ),
    histogram(
      "work_estimated_seats",
      "Number of estimated seats (maximum of initial and final seats) associated with requests in API Priority and Fairness",
      BOUNDS.estimatedSeats,
      samples(({ estimatedSeats }) => estimatedSeats),
    ),
  ];
}

function limitGauges(levels: readonly Level[]): readonly Family[] {
  return [
    perLevel(levels, "nominal_limit_seats", HELP.nominal, ({ limits }) => limits.nominal),
    perLevel(
      levels,
      "lower_limit_seats",
      "Configured lower bound on number of execution seats available to each priority level",
      ({ limits }) => limits.min,
    ),
    perLevel(
      levels,
      "upper_limit_seats",
      "Configured upper bound on number of execution seats available to each priority level",
      ({ limits }) => limits.max,
    ),
    perLevel(
      levels,
      "current_limit_seats",
      "current derived number of execution seats available to each priority level",
      ({ currentLimit }) => currentLimit,
    ),
  ];
}

function demandGauges(levels: readonly Level[]): readonly Family[] {
  return [
    perLevel(
      levels,
      "demand_seats_high_watermark",
      "High watermark, over last adjustment period, of demand_seats",
      ({ demand }) => demand.statistics.highWatermark,
    ),
    perLevel(
      levels,
      "demand_seats_average",
      "Time-weighted average, over last adjustment period, of demand_seats",
      ({ demand }) => demand.statistics.average,
    ),
    perLevel(
      levels,
      "demand_seats_stdev",
      "Time-weighted standard deviation, over last adjustment period, of demand_seats",
      ({ demand }) => demand.statistics.deviation,
    ),
    perLevel(levels, "demand_seats_smoothed", "Smoothed seat demands", ({ demand }) => demand.statistics.smoothed),
    perLevel(levels, "target_seats", "Seat allocation targets", ({ targetSeats }) => targetSeats),
  ];
}

function virtualTimeGauges(levels: readonly Level[]): readonly Family[] {
  // Upstream creates dispatch series at the first dispatch.
  const used = levels.filter(({ queueSet: { queues, dispatched } }) => queues.length > 0 && dispatched > 0);
  const bounds = (name: string, help: string, of: (level: Level) => readonly [min: number, max: number]): Family => ({
    ...family(name, "gauge", help),
    samples: used.flatMap((level) => {
      const [min, max] = of(level);
      return [
        { labels: { bound: "max", priority_level: level.name }, value: max },
        { labels: { bound: "min", priority_level: level.name }, value: min },
      ];
    }),
  });
  return [
    perLevel(levels, "current_r", "R(time of last change)", ({ queueSet }) => queueSet.currentR),
    perLevel(used, "dispatch_r", "R(time of last dispatch)", ({ statistics }) => statistics.lastDispatch.currentR),
    perLevel(used, "latest_s", "S(most recently dispatched request)", ({ statistics }) => statistics.lastDispatch.latestS),
    bounds("next_s_bounds", "min and max, over queues, of S(oldest waiting request in queue)", ({ statistics: { lastDispatch } }) => [
      lastDispatch.minS,
      lastDispatch.maxS,
    ]),
    bounds(
      "next_discounted_s_bounds",
      "min and max, over queues, of S(oldest waiting request in queue) - estimated work in progress",
      ({ statistics: { lastDispatch } }) => [lastDispatch.minDiscountedS, lastDispatch.maxDiscountedS],
    ),
    {
      ...family("epoch_advance_total", "counter", "Number of times the queueset's progress meter jumped backward"),
      samples: levels.flatMap(({ name, statistics: { epochAdvances } }) =>
        epochAdvances === 0 ? [] : [{ labels: { priority_level: name, success: "true" }, value: epochAdvances }],
      ),
    },
  ];
}

function timingHistograms(levels: readonly Level[], nowMs: number): readonly HistogramFamily[] {
  const ofLevel = (labels: (name: string) => Labels, of: (level: Level) => HistogramValues): readonly HistogramSample[] =>
    levels.map((level) => ({ labels: labels(level.name), ...of(level) }));
  const phase = (name: string) => (level: string) => ({ phase: name, priority_level: level });
  return [
    histogram(
      "priority_level_seat_utilization",
      "Observations, at the end of every nanosecond, of utilization of seats for any stage of execution (but only initial stage for WATCHes)",
      BOUNDS.seatUtilization,
      ofLevel(phase("executing"), ({ statistics }) => statistics.seatUtilization.values(nowMs)),
    ),
    histogram(
      "priority_level_request_utilization",
      "Observations, at the end of every nanosecond, of number of requests (as a fraction of the relevant limit) waiting or in any stage of execution (but only initial stage for WATCHes)",
      BOUNDS.requestUtilization,
      [
        ...ofLevel(phase("executing"), ({ statistics }) => statistics.executingUtilization.values(nowMs)),
        ...ofLevel(phase("waiting"), ({ statistics }) => statistics.waitingUtilization.values(nowMs)),
      ],
    ),
    histogram(
      "demand_seats",
      "Observations, at the end of every nanosecond, of (the number of seats each priority level could use) / (nominal number of seats for that level)",
      BOUNDS.demand,
      ofLevel(
        (name) => ({ priority_level: name }),
        ({ statistics }) => statistics.demand.values(nowMs),
      ),
    ),
  ];
}

function readVersusWrite({ readWrite: { histograms } }: Fairness, nowMs: number): HistogramFamily {
  const samples = (["executing", "waiting"] as const).flatMap((phase) =>
    (["mutating", "readOnly"] as const).map((kind) => ({
      labels: { phase, request_kind: kind },
      ...histograms[phase][kind].values(nowMs),
    })),
  );
  return histogram(
    "read_vs_write_current_requests",
    "Observations, at the end of every nanosecond, of the number of requests (as a fraction of the relevant limit) waiting or in regular stage of execution",
    BOUNDS.readVersusWrite,
    samples,
  );
}

function perFlow(
  flows: readonly CountedFlow[],
  name: string,
  type: Family["type"],
  { help, value }: { readonly help: string; readonly value: (statistics: FlowStatistics) => number },
): Family {
  // Upstream creates a series at the first request.
  const used = flows.filter(({ statistics }) => statistics.estimatedSeats.count > 0);
  return { ...family(name, type, help), samples: used.map(({ labels, statistics }): Sample => ({ labels, value: value(statistics) })) };
}

function perLevel(levels: readonly Level[], name: string, help: string, value: (level: Level) => number): Family {
  return {
    ...family(name, "gauge", help),
    samples: levels.map((level) => ({ labels: { priority_level: level.name }, value: value(level) })),
  };
}

function family(name: string, type: Family["type"], help: string): Omit<Family, "samples"> {
  return { name: `${PREFIX}${name}`, type, help };
}

function histogram(name: string, help: string, bounds: readonly number[], samples: readonly HistogramSample[]): HistogramFamily {
  return { name: `${PREFIX}${name}`, help, type: "histogram", bounds, samples };
}
