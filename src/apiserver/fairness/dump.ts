/**
 * The debug dumps of API Priority and Fairness: upstream's columns, one row per priority level, queue or request (apf_controller_debug.go).
 * Levels are sorted by name, where upstream has map order.
 */
import { durationOfMs, formatDuration } from "../../api/machinery/duration.ts";
import { flowNamespaceOf, type FlowRequest } from "../framework/flow-request.ts";
import type { Level } from "./level.ts";
import { alignedRows } from "./tab-writer.ts";
import type { RequestQueue, Ticket } from "./ticket.ts";

export function dumpPriorityLevels(levels: readonly Level[]): string {
  const rows = levels.map(({ name, isQuiescing, queueSet }) => {
    const { waiting, executing, dispatched, rejected, cancelled } = queueSet;
    const active = queueSet.queues.filter(({ length }) => length > 0).length;
    // Upstream counts queue timeouts as cancelled, and nothing as timed out.
    return [name, active, queueSet.isIdle, isQuiescing, waiting, executing, dispatched, rejected, 0, cancelled].map(String);
  });
  const columns = [
    "PriorityLevelName",
    "ActiveQueues",
    "IsIdle",
    "IsQuiescing",
    "WaitingRequests",
    "ExecutingRequests",
    "DispatchedRequests",
    "RejectedRequests",
    "TimedoutRequests",
    "CancelledRequests",
  ];
  return alignedRows([columns, ...rows]);
}

export function dumpQueues(levels: readonly Level[]): string {
  const rows = levels.flatMap(({ name, queueSet }) => queueSet.queues.map((queue) => queueRow(name, queue)));
  const columns = [
    "PriorityLevelName",
    "Index",
    "PendingRequests",
    "ExecutingRequests",
    "SeatsInUse",
    "NextDispatchR",
    "InitialSeatsSum",
    "MaxSeatsSum",
    "TotalWorkSum",
  ];
  return alignedRows([columns, ...rows]);
}

function queueRow(name: string, queue: RequestQueue): readonly string[] {
  const { index, length, executing, seatsInUse, nextDispatchR, waitingInitialSeats, waitingSeats, waitingWork } = queue;
  const counts = [index, length, executing.size, seatsInUse].map(String);
  return [name, ...counts, seatSeconds(nextDispatchR), String(waitingInitialSeats), String(waitingSeats), seatSeconds(waitingWork)];
}

const REQUEST_COLUMNS = [
  "PriorityLevelName",
  "FlowSchemaName",
  "QueueIndex",
  "RequestIndexInQueue",
  // Upstream's spelling.
  "FlowDistingsher",
  "ArriveTime",
  "InitialSeats",
  "FinalSeats",
  "AdditionalLatency",
  "StartTime",
];
const DETAIL_COLUMNS = ["UserName", "Verb", "APIPath", "Namespace", "Name", "APIVersion", "Resource", "SubResource"];

export interface RequestDumpOptions {
  readonly withDetails: boolean;
  /** Wall clock time of a monotonic timestamp. */
  wallMs(monotonicMs: number): number;
}

export function dumpRequests(levels: readonly Level[], options: RequestDumpOptions): string {
  const rows: (readonly string[])[] = [];
  for (const { name, queueSet } of levels) {
    const add = (ticket: Ticket, queue: number, place: number) => rows.push(requestRow(name, ticket, { queue, place }, options));
    for (const queue of queueSet.queues) {
      let place = 0;
      for (const ticket of queue.waiting()) add(ticket, queue.index, place++);
      for (const ticket of queue.executing) add(ticket, queue.index, -1);
    }
    for (const ticket of queueSet.executingWithoutQueue) add(ticket, -1, -1);
  }
  return alignedRows([[...REQUEST_COLUMNS, ...(options.withDetails ? DETAIL_COLUMNS : [])], ...rows]);
}

function requestRow(
  level: string,
  ticket: Ticket,
  at: { readonly queue: number; readonly place: number },
  { withDetails, wallMs }: RequestDumpOptions,
): readonly string[] {
  const { flow, estimate, request, arrivedMs, startedMs, state } = ticket;
  return [
    level,
    flow.flowSchema,
    String(at.queue),
    String(at.place),
    flow.distinguisher,
    timeText(wallMs(arrivedMs)),
    String(estimate.initialSeats),
    String(estimate.finalSeats),
    formatDuration(durationOfMs(estimate.additionalLatencyMs)),
    state === "executing" ? timeText(wallMs(startedMs)) : GO_ZERO_TIME,
    ...(withDetails ? detailsOf(request) : []),
  ];
}

const GO_ZERO_TIME = "0001-01-01T00:00:00Z";

function detailsOf(request: FlowRequest): readonly string[] {
  const { context, verb, group, version, plural, subresource, name } = request;
  const apiVersion = group === "" ? version : `${group}/${version}`;
  return [context.user.name, verb, pathOf(request), flowNamespaceOf(request), name, apiVersion, plural, subresource];
}

function pathOf({ path, group, version, namespace, plural, name, subresource }: FlowRequest): string {
  if (path !== undefined) return path;
  const root = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
  const place = namespace === "" ? [] : ["namespaces", namespace];
  return [root, ...place, plural, ...(name === "" ? [] : [name]), ...(subresource === "" ? [] : [subresource])].join("/");
}

/** RFC 3339 without trailing zeros in the fraction, as Go formats it. */
function timeText(ms: number): string {
  return new Date(ms).toISOString().replace(/\.?0+Z$/, "Z");
}

const DECIMALS = 8;

/** "0.00300000ss", upstream's unit of work. */
function seatSeconds(value: number): string {
  return `${value.toFixed(DECIMALS)}ss`;
}
