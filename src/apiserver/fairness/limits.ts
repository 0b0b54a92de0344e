/**
 * The concurrency limits of priority levels: nominal ones from their shares of the server's total, and current ones, which move seats from
 * idle to busy levels (upstream: updateBorrowingLocked in apf_controller.go). Pure.
 */
import type { PriorityLevelConfigurationSpec } from "../../api/generated/flowcontrol.apiserver.k8s.io/v1.ts";
import { allocateSeats, type AllocationItem } from "./allocation.ts";
import type { DemandStatistics } from "./seat-demand.ts";

export interface NominalLimits {
  readonly nominal: number;
  /** Nominal minus the lendable seats. */
  readonly min: number;
  /** Nominal plus the borrowable seats. */
  readonly max: number;
}

/** Maximum fraction of the nominal limit for one request: 10 of the largest built-in level's seats at the default total. */
const REQUEST_SEATS_FRACTION_MAX = 0.15;

/** Shares of a spec; an exempt level may have some to lend. */
export function sharesOf({ limited, exempt }: PriorityLevelConfigurationSpec): number {
  return limited?.nominalConcurrencyShares ?? exempt?.nominalConcurrencyShares ?? 0;
}

/** Rounded up, so that every level with a share has a seat; the limits may exceed the total slightly. */
export function nominalLimits(spec: PriorityLevelConfigurationSpec, shareSum: number, serverTotal: number): NominalLimits {
  const nominal = shareSum === 0 ? 0 : Math.ceil((serverTotal * sharesOf(spec)) / shareSum);
  const { lendablePercent = 0 } = spec.limited ?? spec.exempt ?? {};
  const borrowingPercent = spec.limited?.borrowingLimitPercent;
  const lendable = Math.round((nominal * lendablePercent) / 100);
  const borrowable = borrowingPercent === undefined ? serverTotal : Math.round((nominal * borrowingPercent) / 100);
  return { nominal, min: nominal - lendable, max: nominal + borrowable };
}

/** Maximum seats of one request of the level for the work estimator; undefined: only the estimator's own limits apply. */
export function requestSeatsMax(spec: PriorityLevelConfigurationSpec, nominal: number): number | undefined {
  const queuing = spec.limited?.limitResponse?.queuing;
  if (queuing === undefined) return undefined;
  const { handSize = 1 } = queuing;
  return Math.max(1, Math.min(Math.ceil(nominal * REQUEST_SEATS_FRACTION_MAX), Math.floor(nominal / handSize)));
}

export interface LevelDemand extends NominalLimits {
  readonly isExempt: boolean;
  readonly demand: DemandStatistics;
  /** The previous limit, kept if none can be computed. */
  readonly current: number;
}

export interface CurrentLimits {
  /** In the order of the levels. */
  readonly limits: readonly number[];
  readonly targets: readonly number[];
  readonly fairFraction: number;
}

export function currentLimits(levels: readonly LevelDemand[]): CurrentLimits {
  const minimums = levels.map(currentMinimum);
  const nominalSum = levels.reduce((sum, { nominal }) => sum + nominal, 0);
  const targets = levels.map(({ demand, isExempt }, index) => {
    const minimum = minimums[index] as number;
    return isExempt ? minimum : Math.max(minimum, demand.smoothed);
  });
  const shared = levels.flatMap((level, index) => (level.isExempt ? [] : [{ level, index, minimum: minimums[index] as number }]));
  const exemptSum = levels.reduce((sum, { isExempt }, index) => sum + (isExempt ? (minimums[index] as number) : 0), 0);
  const remaining = nominalSum - exemptSum;
  const configuredSum = shared.reduce((sum, { level }) => sum + level.min, 0);
  const minimumSum = shared.reduce((sum, { minimum }) => sum + minimum, 0);
  const limits = [...minimums];
  if (remaining <= configuredSum) {
    for (const { level, index } of shared) limits[index] = level.min;
    return { limits, targets, fairFraction: 0 };
  }
  if (remaining <= minimumSum) {
    const fraction = (remaining - configuredSum) / (minimumSum - configuredSum);
    for (const { level, index, minimum } of shared) limits[index] = level.min + Math.round((minimum - level.min) * fraction);
    return { limits, targets, fairFraction: 0 };
  }
  const items: readonly AllocationItem[] = shared.map(({ level, index, minimum }) => ({
    target: targets[index] as number,
    lowerBound: minimum,
    upperBound: level.max,
  }));
  const allocation = allocateSeats(nominalSum, items);
  shared.forEach(({ level, index }, place) => (limits[index] = Math.round(allocation?.seats[place] ?? level.current)));
  return { limits, targets, fairFraction: allocation?.fairFraction ?? 0 };
}

/** A level keeps what it needed in the last period, up to its nominal limit; seats used by exempt requests cannot be lent. */
function currentMinimum({ isExempt, min, nominal, demand: { highWatermark } }: LevelDemand): number {
  return Math.max(min, isExempt ? highWatermark : Math.min(nominal, highWatermark));
}
