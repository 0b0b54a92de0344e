/**
 * The seats and queues of one priority level: fair queuing by virtual time, as upstream's queueset. Virtual time R advances at the rate at
 * which every active queue is served; the queue whose next request would finish first in virtual time is served next, so a light flow
 * precedes a heavy one.
 *
 * A request that finds a free seat and no waiting request gets it immediately, without visiting the queues. Seats that a write keeps after
 * its response are released lazily, so no timer is needed; `nextReleaseMs` returns the next release time.
 */
import { Heap } from "../../base/heap.ts";
import type { LevelStatistics, RejectReason } from "./statistics.ts";
import type { SeatDemand } from "./seat-demand.ts";
import { RequestQueue, SERVICE_DURATION_S, type Ticket } from "./ticket.ts";

export interface QueueSetConfig {
  /** -1: exempt, everything executes immediately; 0: requests without a free seat are rejected. */
  readonly queues: number;
  readonly handSize: number;
  readonly queueLengthLimit: number;
}

/** Virtual time at which it is rebased, long before a double loses the hundredth of a microsecond that upstream counts in. */
const EPOCH_R = 1e7;

export class QueueSet {
  readonly #statistics: LevelStatistics;
  readonly #demand: SeatDemand;
  #config: QueueSetConfig;
  #limit = 0;
  #queues: RequestQueue[] = [];
  /** Queues with waiting or executing requests. */
  #active = 0;
  #currentR = 0;
  #syncedMs: number;
  /** The queue served last. */
  #robin = 0;
  #enqueued = 0;
  readonly #executingWithoutQueue = new Set<Ticket>();
  readonly #lingering = new Heap<Ticket>((a, b) => a.lingersUntilMs - b.lingersUntilMs);
  waiting = 0;
  executing = 0;
  seatsInUse = 0;
  seatsWaiting = 0;
  dispatched = 0;
  rejected = 0;
  cancelled = 0;

  constructor(
    config: QueueSetConfig,
    parts: { readonly statistics: LevelStatistics; readonly demand: SeatDemand; readonly nowMs: number },
  ) {
    this.#config = config;
    this.#statistics = parts.statistics;
    this.#demand = parts.demand;
    this.#syncedMs = parts.nowMs;
  }

  get isIdle(): boolean {
    return this.waiting === 0 && this.executing === 0;
  }

  get queues(): readonly RequestQueue[] {
    return this.#queues;
  }

  get executingWithoutQueue(): ReadonlySet<Ticket> {
    return this.#executingWithoutQueue;
  }

  get currentR(): number {
    return this.#currentR;
  }

  /** When lingering seats become free; undefined: none exist. */
  get nextReleaseMs(): number | undefined {
    return this.#lingering.peek()?.lingersUntilMs;
  }

  /** Queues are added immediately and removed when empty. Waiting requests are dispatched as far as the new limit allows. */
  configure(config: QueueSetConfig, limit: number, nowMs: number): void {
    this.advance(nowMs);
    while (this.#queues.length < config.queues) this.#queues.push(new RequestQueue(this.#queues.length));
    this.#config = config;
    this.#limit = limit;
    this.#removeEmptyQueues();
    this.#dispatchAll(nowMs);
  }

  /** Advances virtual time and lingering seats to now. */
  advance(nowMs: number): void {
    for (let next = this.#lingering.peek(); next !== undefined && next.lingersUntilMs <= nowMs; next = this.#lingering.peek()) {
      this.#lingering.pop();
      this.#sync(next.lingersUntilMs);
      this.#releaseSeats(next, next.lingersUntilMs);
      this.#dispatchAll(next.lingersUntilMs);
      this.#noteDemand(next.lingersUntilMs);
    }
    this.#sync(nowMs);
  }

  /** The ticket executes or waits afterwards, unless a reason is returned: then it is rejected. */
  start(ticket: Ticket, nowMs: number): RejectReason | undefined {
    this.advance(nowMs);
    if (this.#config.queues < 1) return this.#startWithoutQueue(ticket, nowMs);
    const queue = this.#queueOf(ticket.flow.hand);
    if (this.seatsInUse >= this.#limit && queue.length >= this.#config.queueLengthLimit) return this.#reject(ticket, "queue-full");
    this.#enqueue(ticket, queue);
    // A single waiting request is the next one: no need to compare queues.
    if (this.waiting > 1) this.#dispatchAll(nowMs);
    else if (this.seatsInUse < this.#limit) {
      if (this.#fits(ticket.seats)) {
        this.#robin = queue.index;
        this.#noteDispatch(queue.nextDispatchR, queue.nextDispatchR, this.#discounted(queue), this.#discounted(queue), queue);
        this.#dispatch(ticket, queue, nowMs);
      } else ticket.flow.statistics.notAccommodated++;
    }
    this.#noteDemand(nowMs);
    return undefined;
  }

  /** For a waiting ticket. */
  cancel(ticket: Ticket, nowMs: number): void {
    this.advance(nowMs);
    const { queue } = ticket;
    if (ticket.state !== "waiting" || queue === undefined) return;
    this.#leaveQueue(ticket, queue);
    ticket.state = "over";
    this.cancelled++;
    this.#reject(ticket, "time-out");
    this.#bound(queue);
    if (!queue.isActive) this.#active--;
    this.#removeEmptyQueues();
    this.#dispatchAll(nowMs);
    this.#noteDemand(nowMs);
  }

  /** For an executing ticket: its seats are given to waiting ones. */
  finish(ticket: Ticket, nowMs: number): void {
    if (ticket.state !== "executing") return;
    this.advance(nowMs);
    ticket.state = "over";
    this.executing--;
    ticket.flow.statistics.executing--;
    this.#statistics.executingUtilization.set(this.executing, nowMs);
    const { queue, estimate } = ticket;
    if (queue === undefined) this.#executingWithoutQueue.delete(ticket);
    else {
      queue.executing.delete(ticket);
      queue.nextDispatchR -= estimate.initialSeats * (SERVICE_DURATION_S - (nowMs - ticket.startedMs) / 1_000);
      this.#bound(queue);
      if (!queue.isActive) this.#active--;
    }
    if (estimate.additionalLatencyMs > 0) {
      ticket.lingersUntilMs = nowMs + estimate.additionalLatencyMs;
      this.#lingering.push(ticket);
    } else this.#releaseSeats(ticket, nowMs);
    if (this.waiting > 0) this.#dispatchAll(nowMs);
    this.#noteDemand(nowMs);
  }

  #startWithoutQueue(ticket: Ticket, nowMs: number): RejectReason | undefined {
    if (!this.#fits(ticket.seats)) return this.#reject(ticket, "concurrency-limit");
    ticket.arrivalR = this.#currentR;
    this.#executingWithoutQueue.add(ticket);
    this.#execute(ticket, nowMs);
    this.#noteDemand(nowMs);
    return undefined;
  }

  #reject(ticket: Ticket, reason: RejectReason): RejectReason {
    this.rejected++;
    ticket.flow.statistics.rejected[reason]++;
    return reason;
  }

  /** Returns the queue of the hand with the least waiting work; rotates the start, so that overlapping hands are treated equally. */
  #queueOf(hand: readonly number[]): RequestQueue {
    const offset = this.#enqueued++ % hand.length;
    let best = this.#queues[hand[offset] as number] as RequestQueue;
    if (this.waiting === 0) return best;
    for (let place = 1; place < hand.length; place++) {
      const queue = this.#queues[hand[(offset + place) % hand.length] as number] as RequestQueue;
      if (queue.waitingWork < best.waitingWork) best = queue;
    }
    return best;
  }

  #enqueue(ticket: Ticket, queue: RequestQueue): void {
    ticket.arrivalR = this.#currentR;
    ticket.queue = queue;
    if (!queue.isActive) {
      queue.nextDispatchR = this.#currentR;
      this.#active++;
    }
    queue.push(ticket);
    this.waiting++;
    this.seatsWaiting += ticket.seats;
    const { statistics } = ticket.flow;
    statistics.waiting++;
    statistics.waitingSeats += ticket.seats;
    statistics.queueLength.observe(queue.length);
    this.#bound(queue);
  }

  #leaveQueue(ticket: Ticket, queue: RequestQueue): void {
    queue.remove(ticket);
    this.waiting--;
    this.seatsWaiting -= ticket.seats;
    ticket.flow.statistics.waiting--;
    ticket.flow.statistics.waitingSeats -= ticket.seats;
  }

  #dispatchAll(nowMs: number): void {
    while (this.waiting > 0 && this.seatsInUse < this.#limit) {
      const next = this.#nextQueue();
      const ticket = next?.peek();
      if (next === undefined || ticket === undefined) return;
      this.#dispatch(ticket, next, nowMs);
    }
  }

  /** Returns the queue whose oldest request would finish first; ties go to the first after the queue served last. */
  #nextQueue(): RequestQueue | undefined {
    let best: RequestQueue | undefined;
    let bestFinish = Infinity;
    let [minS, maxS, minDiscounted, maxDiscounted] = [Infinity, -Infinity, Infinity, -Infinity];
    const count = this.#queues.length;
    for (let step = 1; step <= count; step++) {
      const queue = this.#queues[(this.#robin + step) % count] as RequestQueue;
      const oldest = queue.peek();
      if (oldest === undefined) continue;
      const discounted = this.#discounted(queue);
      minS = Math.min(minS, queue.nextDispatchR);
      maxS = Math.max(maxS, queue.nextDispatchR);
      minDiscounted = Math.min(minDiscounted, discounted);
      maxDiscounted = Math.max(maxDiscounted, discounted);
      const finish = queue.nextDispatchR + oldest.totalWork;
      if (finish < bestFinish) {
        bestFinish = finish;
        best = queue;
      }
    }
    const ticket = best?.peek();
    if (best === undefined || ticket === undefined) return undefined;
    if (!this.#fits(ticket.seats)) {
      ticket.flow.statistics.notAccommodated++;
      return undefined;
    }
    this.#robin = best.index;
    this.#noteDispatch(minS, maxS, minDiscounted, maxDiscounted, best);
    return best;
  }

  #discounted(queue: RequestQueue): number {
    return queue.nextDispatchR - queue.seatsInUse * SERVICE_DURATION_S;
  }

  #noteDispatch(minS: number, maxS: number, minDiscountedS: number, maxDiscountedS: number, { nextDispatchR }: RequestQueue): void {
    const { lastDispatch } = this.#statistics;
    lastDispatch.currentR = this.#currentR;
    lastDispatch.latestS = nextDispatchR;
    lastDispatch.minS = minS;
    lastDispatch.maxS = maxS;
    lastDispatch.minDiscountedS = minDiscountedS;
    lastDispatch.maxDiscountedS = maxDiscountedS;
  }

  #dispatch(ticket: Ticket, queue: RequestQueue, nowMs: number): void {
    this.#leaveQueue(ticket, queue);
    queue.executing.add(ticket);
    queue.seatsInUse += ticket.seats;
    queue.nextDispatchR += ticket.totalWork;
    this.#bound(queue);
    this.#execute(ticket, nowMs);
    ticket.dispatched?.();
  }

  #execute(ticket: Ticket, nowMs: number): void {
    ticket.state = "executing";
    ticket.startedMs = nowMs;
    this.executing++;
    this.dispatched++;
    this.seatsInUse += ticket.seats;
    const { statistics } = ticket.flow;
    statistics.executing++;
    statistics.executingSeats += ticket.seats;
    statistics.dispatched++;
    this.#statistics.executingUtilization.set(this.executing, nowMs);
    this.#statistics.seatUtilization.set(this.seatsInUse, nowMs);
  }

  #releaseSeats(ticket: Ticket, nowMs: number): void {
    this.seatsInUse -= ticket.seats;
    ticket.flow.statistics.executingSeats -= ticket.seats;
    this.#statistics.seatUtilization.set(this.seatsInUse, nowMs);
    if (ticket.queue === undefined) return;
    ticket.queue.seatsInUse -= ticket.seats;
    this.#removeEmptyQueues();
  }

  /** A request wider than the whole limit executes alone. */
  #fits(seats: number): boolean {
    if (this.#config.queues < 0) return true;
    return seats > this.#limit ? this.executing === 0 : this.seatsInUse + seats <= this.#limit;
  }

  /** No request starts in virtual time before it arrived: an idle queue must not accumulate credit. */
  #bound(queue: RequestQueue): void {
    const oldest = queue.peek();
    if (oldest !== undefined && queue.nextDispatchR < oldest.arrivalR) queue.nextDispatchR = oldest.arrivalR;
  }

  #removeEmptyQueues(): void {
    if (this.#queues.length <= Math.max(this.#config.queues, 0)) return;
    const surplus = this.#queues.length - Math.max(this.#config.queues, 0);
    const removed = new Set(this.#queues.filter((queue) => !queue.isActive && queue.seatsInUse === 0).slice(-surplus));
    const served = this.#queues[this.#robin];
    this.#queues = this.#queues.filter((queue) => !removed.has(queue));
    this.#queues.forEach((queue, index) => (queue.index = index));
    this.#robin = served === undefined || removed.has(served) ? 0 : served.index;
  }

  #sync(nowMs: number): void {
    const passedS = (nowMs - this.#syncedMs) / 1_000;
    this.#syncedMs = nowMs;
    if (this.#active === 0 || passedS <= 0) return;
    this.#currentR += (Math.min(this.seatsInUse + this.seatsWaiting, this.#limit) / this.#active) * passedS;
    if (this.#currentR >= EPOCH_R) this.#advanceEpoch();
  }

  #advanceEpoch(): void {
    this.#currentR -= EPOCH_R;
    for (const queue of this.#queues) {
      queue.nextDispatchR = queue.isActive ? queue.nextDispatchR - EPOCH_R : 0;
      for (const ticket of queue.waiting()) ticket.arrivalR -= EPOCH_R;
    }
    this.#statistics.epochAdvances++;
  }

  #noteDemand(nowMs: number): void {
    const seats = this.seatsInUse + this.seatsWaiting;
    this.#demand.set(seats, nowMs);
    this.#statistics.demand.set(seats, nowMs);
    this.#statistics.waitingUtilization.set(this.waiting, nowMs);
  }
}
