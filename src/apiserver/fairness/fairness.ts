/**
 * API Priority and Fairness: decides which request executes now, which waits and which is rejected, by the FlowSchemas and
 * PriorityLevelConfigurations of the API. A request that finds a free seat gets it synchronously; only a waiting one costs a promise.
 *
 * Time is an argument (`clock`), and while nothing waits there is no timer: limits are adjusted at the next request, for all periods that
 * have passed, with the same result as upstream's timer. Not here: reading the objects and writing their status
 * (apiserver/fairness/flow-control.ts).
 */
import { NOT_NEEDED, onAbort } from "../../base/abort.ts";
import type { Clock } from "../../base/clock.ts";
import type { Flow } from "./classifier.ts";
import { digest, type Configuration, type ConfigurationObjects } from "./configuration.ts";
import type { FlowRequest } from "../framework/flow-request.ts";
import type { Level } from "./level.ts";
import { currentLimits } from "./limits.ts";
import { OverloadError } from "../framework/overload.ts";
import { ReadWriteStatistics } from "./read-write-statistics.ts";
import { Ticket } from "./ticket.ts";
import type { AdmitOptions, Seat } from "../framework/concurrency.ts";
import type { Endpoint } from "../framework/endpoints.ts";
import { estimateWork, maxSeatsOf, type EstimateInputs, type WorkEstimate } from "./work-estimate.ts";

/** Interval at which seats move between levels: upstream's. */
const ADJUSTMENT_PERIOD_MS = 10_000;
/** Maximum wait for a seat, whatever a request's timeout is: upstream's. */
const WAIT_MS_MAX = 60_000;

export interface FairnessOptions {
  readonly clock: Clock;
  /** Seats of all levels together. */
  readonly serverTotal: number;
  /** Maximum wait of a request without a timeout. */
  readonly waitLimitMs: number;
  readonly estimate: EstimateInputs;
  /** Reports an invalid object. */
  ignored(kind: string, name: string, problem: string): void;
}

export class Fairness {
  readonly #options: FairnessOptions;
  readonly #closed = new AbortController();
  readonly readWrite: ReadWriteStatistics;
  #objects: () => ConfigurationObjects = () => ({ levels: [], schemas: [] });
  #isChanged = true;
  #configuration: Configuration | undefined;
  #nextAdjustmentMs: number;
  #alarm: { readonly dueMs: number; readonly timer: AbortController } | undefined;
  #waiting = 0;
  #nominalSum = 1;
  fairFraction = 0;

  constructor(options: FairnessOptions) {
    this.#options = options;
    const nowMs = options.clock.monotonic();
    this.#nextAdjustmentMs = nowMs + ADJUSTMENT_PERIOD_MS;
    this.readWrite = new ReadWriteStatistics(nowMs);
  }

  /** Source of the objects; `changed` signals that they must be read again. */
  setObjects(objects: () => ConfigurationObjects): void {
    this.#objects = objects;
    this.#isChanged = true;
  }

  /** Applies from the next request on; waiting requests are then dispatched by the new limits, too. */
  changed(): void {
    this.#isChanged = true;
    if (this.#waiting > 0) this.#current(this.#options.clock.monotonic());
  }

  /** All levels, up to date, sorted by name. */
  levels(): readonly Level[] {
    const nowMs = this.#options.clock.monotonic();
    const levels = [...this.#current(nowMs).levels.values()];
    for (const { queueSet } of levels) queueSet.advance(nowMs);
    return levels.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** The level's share of all seats, from 0 to 1. */
  shareOf({ limits }: Level): number {
    return limits.nominal / this.#nominalSum;
  }

  classify(request: FlowRequest): Flow {
    return this.#current(this.#options.clock.monotonic()).classifier.classify(request);
  }

  /** Throws or rejects with an OverloadError. Returns a promise only for a request that must wait. */
  admit(request: FlowRequest, classified: Flow, options: AdmitOptions = {}): Seat | Promise<Seat> {
    const nowMs = this.#options.clock.monotonic();
    const { classifier } = this.#current(nowMs);
    // The objects may have changed while the body was received.
    const flow = classified.classifier === classifier ? classified : classifier.classify(request);
    const { level, statistics } = flow;
    const ticket = new Ticket(flow, request, this.#estimate(request, flow, options.endpoint), nowMs);
    const reason = level.queueSet.start(ticket, nowMs);
    if (reason !== undefined) {
      if (!level.isExempt) statistics.waitOfRejected.observe(0);
      throw this.#overload(level);
    }
    if (ticket.state === "waiting") return this.#wait(flow, ticket, options);
    if (!level.isExempt) statistics.waitOfDispatched.observe(0);
    return this.#seat(flow, ticket, nowMs);
  }

  /** Waiting requests are rejected. */
  close(): void {
    this.#closed.abort();
    this.#alarm?.timer.abort(NOT_NEEDED);
  }

  #estimate(request: FlowRequest, { level, statistics }: Flow, endpoint: Endpoint | undefined): WorkEstimate {
    const estimate = estimateWork(request, this.#options.estimate, { endpoint, seatsMax: level.seatsMax });
    statistics.estimatedSeats.observe(maxSeatsOf(estimate));
    if (estimate.watchCount !== undefined) statistics.watchCount.observe(estimate.watchCount);
    return estimate;
  }

  #seat(flow: Flow, ticket: Ticket, nowMs: number): Seat {
    this.readWrite.executing(ticket.request.verb, 1, nowMs);
    return { release: () => this.#release(flow, ticket) };
  }

  #release({ level, statistics }: Flow, ticket: Ticket): void {
    if (ticket.state !== "executing") return;
    const nowMs = this.#options.clock.monotonic();
    const { verb } = ticket.request;
    this.readWrite.executing(verb, -1, nowMs);
    (verb === "watch" ? statistics.watchExecution : statistics.execution).observe((nowMs - ticket.startedMs) / 1_000);
    level.queueSet.finish(ticket, nowMs);
    if (level.isQuiescing && level.queueSet.isIdle) this.#isChanged = true;
    if (this.#waiting > 0) this.#setAlarm(nowMs);
  }

  #wait(flow: Flow, ticket: Ticket, { signal, timeoutMs }: AdmitOptions): Promise<Seat> {
    const { clock, waitLimitMs } = this.#options;
    const { level, statistics } = flow;
    const { verb } = ticket.request;
    const limitMs = Math.min(timeoutMs === undefined ? waitLimitMs : timeoutMs / 4, WAIT_MS_MAX);
    return new Promise((resolve, reject) => {
      const timer = new AbortController();
      const stops: (() => void)[] = [];
      const over = (): number => {
        for (const stop of stops) stop();
        timer.abort(NOT_NEEDED);
        const nowMs = clock.monotonic();
        this.#waiting--;
        this.readWrite.waiting(verb, -1, nowMs);
        return nowMs;
      };
      const giveUp = (): void => {
        if (ticket.state !== "waiting") return;
        const nowMs = over();
        level.queueSet.cancel(ticket, nowMs);
        statistics.waitOfRejected.observe((nowMs - ticket.arrivedMs) / 1_000);
        reject(this.#overload(level));
      };
      ticket.dispatched = () => {
        const nowMs = over();
        statistics.waitOfDispatched.observe((nowMs - ticket.arrivedMs) / 1_000);
        resolve(this.#seat(flow, ticket, nowMs));
      };
      this.#waiting++;
      this.readWrite.waiting(verb, 1, clock.monotonic());
      for (const ending of [signal, this.#closed.signal]) {
        if (ending?.aborted === true) return giveUp();
        if (ending !== undefined) stops.push(onAbort(ending, giveUp));
      }
      clock.sleep(limitMs, timer.signal).then(giveUp, () => undefined);
      this.#setAlarm(clock.monotonic());
    });
  }

  #overload(level: Level): OverloadError {
    level.retryAfter.rejected(this.#options.clock.now());
    return new OverloadError(level.retryAfter.seconds);
  }

  /** The current configuration, with changed objects and ended periods applied. Hot path: mostly two comparisons. */
  #current(nowMs: number): Configuration {
    if (nowMs >= this.#nextAdjustmentMs) this.#adjust(nowMs);
    if (this.#configuration === undefined || this.#isChanged) this.#configure(nowMs);
    return this.#configuration as Configuration;
  }

  #configure(nowMs: number): void {
    this.#isChanged = false;
    const { serverTotal, ignored } = this.#options;
    const before = this.#configuration?.levels ?? new Map<string, Level>();
    this.#configuration = digest(this.#objects(), before, { serverTotal, nowMs, ignored });
    for (const { demand, queueSet } of this.#configuration.levels.values()) {
      queueSet.advance(nowMs);
      demand.endPeriod(nowMs);
    }
    this.#setLimits(nowMs);
  }

  /** Ends all periods that have passed. Since the first of them ended only lingering seats of writes have changed. */
  #adjust(nowMs: number): void {
    const levels = [...(this.#configuration?.levels.values() ?? [])];
    const periods = 1 + Math.floor((nowMs - this.#nextAdjustmentMs) / ADJUSTMENT_PERIOD_MS);
    const single = Math.min(periods, 2);
    for (const { demand, queueSet } of levels) {
      for (let period = 0; period < single; period++) {
        const endMs = this.#nextAdjustmentMs + period * ADJUSTMENT_PERIOD_MS;
        queueSet.advance(endMs);
        demand.endPeriod(endMs);
      }
      demand.endUnchangedPeriods(periods - single, this.#nextAdjustmentMs + (periods - 1) * ADJUSTMENT_PERIOD_MS);
    }
    this.#nextAdjustmentMs += periods * ADJUSTMENT_PERIOD_MS;
    this.#setLimits(nowMs);
  }

  #setLimits(nowMs: number): void {
    const levels = [...(this.#configuration?.levels.values() ?? [])];
    const computed = currentLimits(
      levels.map(({ isExempt, limits, demand, currentLimit }) => ({
        ...limits,
        isExempt,
        demand: demand.statistics,
        current: currentLimit,
      })),
    );
    this.fairFraction = computed.fairFraction;
    this.#nominalSum = Math.max(
      1,
      levels.reduce((sum, { limits }) => sum + limits.nominal, 0),
    );
    const idleDenominator = Math.max(1, Math.round(this.#options.serverTotal / 10));
    levels.forEach((level, index) => {
      level.targetSeats = computed.targets[index] as number;
      level.setCurrent(computed.limits[index] as number, { nowMs, idleDenominator });
    });
    this.readWrite.setLimits(levels, nowMs);
  }

  /** While requests wait: the next time at which lingering seats become free. */
  #setAlarm(nowMs: number): void {
    let dueMs = this.#nextAdjustmentMs;
    for (const { queueSet } of this.#configuration?.levels.values() ?? []) {
      if (queueSet.waiting > 0) dueMs = Math.min(dueMs, queueSet.nextReleaseMs ?? Infinity);
    }
    if (this.#closed.signal.aborted || (this.#alarm !== undefined && this.#alarm.dueMs <= dueMs)) return;
    this.#alarm?.timer.abort(NOT_NEEDED);
    const timer = new AbortController();
    this.#alarm = { dueMs, timer };
    this.#options.clock.sleep(Math.max(0, dueMs - nowMs), timer.signal).then(
      () => this.#ring(),
      () => undefined, // The alarm is already set.
    );
  }

  #ring(): void {
    this.#alarm = undefined;
    const nowMs = this.#options.clock.monotonic();
    for (const { queueSet } of this.#current(nowMs).levels.values()) queueSet.advance(nowMs);
    if (this.#waiting > 0) this.#setAlarm(nowMs);
  }
}
