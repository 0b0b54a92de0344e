/** One priority level: its object, limits, seats, queues and statistics. State only; decisions are elsewhere. */
import type { PriorityLevelConfiguration, PriorityLevelConfigurationSpec } from "../../api/generated/flowcontrol.apiserver.k8s.io/v1.ts";
import { deckProblem } from "./dealer.ts";
import { requestSeatsMax, type NominalLimits } from "./limits.ts";
import { QueueSet, type QueueSetConfig } from "./queue-set.ts";
import { RetryAfter } from "./retry-after.ts";
import { SeatDemand } from "./seat-demand.ts";
import { FlowStatistics, LevelStatistics } from "./statistics.ts";

export const EXEMPT_LEVEL = "exempt";

export class Level {
  readonly name: string;
  object: PriorityLevelConfiguration;
  limits: NominalLimits = { nominal: 0, min: 0, max: 0 };
  currentLimit = 0;
  /** Target of the last adjustment, for the metrics. */
  targetSeats = 0;
  /** Its object was deleted: removed with its last request. */
  isQuiescing = false;
  readonly demand: SeatDemand;
  readonly statistics: LevelStatistics;
  readonly queueSet: QueueSet;
  readonly retryAfter = new RetryAfter();
  /** Keyed by the name of the FlowSchema. */
  readonly flowStatistics = new Map<string, FlowStatistics>();
  /** Maximum seats of one request; undefined: only the estimator's own limit applies. */
  seatsMax: number | undefined;
  /** No limit was computed yet. */
  isNew = true;

  constructor(object: PriorityLevelConfiguration, nowMs: number) {
    this.name = object.metadata.name;
    this.object = object;
    this.demand = new SeatDemand(nowMs);
    this.statistics = new LevelStatistics(nowMs);
    this.queueSet = new QueueSet(queueSetConfig(specOf(object)), { statistics: this.statistics, demand: this.demand, nowMs });
  }

  get isExempt(): boolean {
    return this.name === EXEMPT_LEVEL;
  }

  setNominal(limits: NominalLimits): void {
    this.limits = limits;
    this.seatsMax = requestSeatsMax(specOf(this.object), limits.nominal);
  }

  /** `idleDenominator`: of the utilization metrics while the level has no seats. */
  setCurrent(limit: number, { nowMs, idleDenominator }: { readonly nowMs: number; readonly idleDenominator: number }): void {
    this.currentLimit = limit;
    this.isNew = false;
    const config = queueSetConfig(specOf(this.object));
    const denominator = limit > 0 ? limit : idleDenominator;
    const { statistics } = this;
    statistics.demand.setDenominator(denominator, nowMs);
    statistics.seatUtilization.setDenominator(denominator, nowMs);
    statistics.executingUtilization.setDenominator(denominator, nowMs);
    statistics.waitingUtilization.setDenominator(Math.max(config.queueLengthLimit, 1) * Math.max(config.queues, 1), nowMs);
    this.queueSet.configure(config, limit, nowMs);
  }

  statisticsOf(flowSchema: string): FlowStatistics {
    let found = this.flowStatistics.get(flowSchema);
    if (found === undefined) {
      found = new FlowStatistics();
      this.flowStatistics.set(flowSchema, found);
    }
    return found;
  }
}

export function specOf({ spec }: PriorityLevelConfiguration): PriorityLevelConfigurationSpec {
  return spec ?? { type: "Limited" };
}

export function queueSetConfig({ limited }: PriorityLevelConfigurationSpec): QueueSetConfig {
  if (limited === undefined) return { queues: -1, handSize: 1, queueLengthLimit: 1 };
  const { queues = 0, handSize = 1, queueLengthLimit = 1 } = limited.limitResponse?.queuing ?? {};
  return { queues, handSize, queueLengthLimit };
}

/**
 * Returns why the object is invalid; undefined if it is valid. Validation rejects such objects, but the store may hold some of other
 * servers.
 */
export function levelProblem({ metadata: { name }, spec }: PriorityLevelConfiguration): string | undefined {
  if (spec === undefined) return "it has no spec";
  if ((spec.type === "Limited") !== (spec.limited !== undefined)) return "broken union structure at the top, for Limited";
  if ((spec.type === "Exempt") !== (spec.exempt !== undefined)) return "broken union structure at the top, for Exempt";
  if ((spec.type === "Exempt") !== (name === EXEMPT_LEVEL)) return "non-alignment between name and type";
  if (spec.limited === undefined) return undefined;
  const { limitResponse } = spec.limited;
  if ((limitResponse?.type === "Reject") !== (limitResponse?.queuing === undefined)) return "broken union structure for limit response";
  const { queues, handSize } = queueSetConfig(spec);
  return queues > 0 ? deckProblem({ deckSize: queues, handSize }) : undefined;
}
