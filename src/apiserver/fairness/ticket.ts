/**
 * A request in a priority level: waiting in a queue, executing on seats, or lingering on them. And the queue, a FIFO from which a cancelled
 * request is removed at constant cost.
 */
import type { FlowRequest } from "../framework/flow-request.ts";
import type { FlowStatistics } from "./statistics.ts";
import { maxSeatsOf, type WorkEstimate } from "./work-estimate.ts";

/** Assumed duration of a request until it is known: upstream's. Virtual time is corrected when the request ends. */
export const SERVICE_DURATION_S = 0.003;

/** One flow of one FlowSchema, as the queues see it. */
export interface QueuedFlow {
  readonly flowSchema: string;
  readonly distinguisher: string;
  /** Queues that the flow may use; empty where none exist. */
  readonly hand: readonly number[];
  readonly statistics: FlowStatistics;
}

export class Ticket {
  readonly flow: QueuedFlow;
  readonly request: FlowRequest;
  readonly estimate: WorkEstimate;
  readonly seats: number;
  readonly arrivedMs: number;
  /** Work in seat-seconds, as estimated before the request ran. */
  readonly totalWork: number;
  state: "waiting" | "executing" | "over" = "waiting";
  queue: RequestQueue | undefined;
  /** Virtual arrival time. */
  arrivalR = 0;
  startedMs = 0;
  /** When the lingering seats of a finished request become free. */
  lingersUntilMs = 0;
  /** Called when a waiting request may execute. */
  dispatched: (() => void) | undefined;
  before: Ticket | undefined;
  after: Ticket | undefined;

  constructor(flow: QueuedFlow, request: FlowRequest, estimate: WorkEstimate, nowMs: number) {
    this.flow = flow;
    this.request = request;
    this.estimate = estimate;
    this.seats = maxSeatsOf(estimate);
    this.arrivedMs = nowMs;
    this.totalWork = estimate.initialSeats * SERVICE_DURATION_S + (estimate.finalSeats * estimate.additionalLatencyMs) / 1_000;
  }
}

export class RequestQueue {
  index: number;
  readonly executing = new Set<Ticket>();
  seatsInUse = 0;
  /** Virtual start time of the next request of this queue. */
  nextDispatchR = 0;
  /** Sums over waiting requests. */
  length = 0;
  waitingInitialSeats = 0;
  waitingSeats = 0;
  waitingWork = 0;
  #oldest: Ticket | undefined;
  #newest: Ticket | undefined;

  constructor(index: number) {
    this.index = index;
  }

  get isActive(): boolean {
    return this.length > 0 || this.executing.size > 0;
  }

  peek(): Ticket | undefined {
    return this.#oldest;
  }

  push(ticket: Ticket): void {
    ticket.before = this.#newest;
    if (this.#newest === undefined) this.#oldest = ticket;
    else this.#newest.after = ticket;
    this.#newest = ticket;
    this.#count(ticket, 1);
  }

  /** For a ticket that waits in this queue. */
  remove(ticket: Ticket): void {
    if (ticket.before === undefined) this.#oldest = ticket.after;
    else ticket.before.after = ticket.after;
    if (ticket.after === undefined) this.#newest = ticket.before;
    else ticket.after.before = ticket.before;
    ticket.before = undefined;
    ticket.after = undefined;
    this.#count(ticket, -1);
  }

  *waiting(): IterableIterator<Ticket> {
    for (let ticket = this.#oldest; ticket !== undefined; ticket = ticket.after) yield ticket;
  }

  #count({ estimate, seats, totalWork }: Ticket, sign: 1 | -1): void {
    this.length += sign;
    this.waitingInitialSeats += sign * estimate.initialSeats;
    this.waitingSeats += sign * seats;
    // Resets the accumulated rounding error: an empty queue has no work.
    this.waitingWork = this.length === 0 ? 0 : this.waitingWork + sign * totalWork;
  }
}
