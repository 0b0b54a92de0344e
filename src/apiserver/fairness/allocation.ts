/**
 * Divides a number of seats among priority levels in proportion to their targets, within the bounds of each: upstream's water-filling
 * (apiserver/pkg/util/flowcontrol/conc_alloc.go). One factor, the fair fraction, applies to all levels that are not at a bound.
 */
export interface AllocationItem {
  /** At least `lowerBound`. */
  readonly target: number;
  readonly lowerBound: number;
  readonly upperBound: number;
}

export interface Allocation {
  /** Seats of each item, in the order of the items; not rounded. They add up to the required sum. */
  readonly seats: readonly number[];
  readonly fairFraction: number;
}

/** Minimum target: avoids a division by zero. */
const TARGET_MIN = 0.001;
const EPSILON = 1e-7;

interface RelativeItem extends AllocationItem {
  readonly relativeLower: number;
  readonly relativeUpper: number;
}

/** undefined: infeasible bounds. */
export function allocateSeats(requiredSum: number, items: readonly AllocationItem[]): Allocation | undefined {
  const relative = items.map(relativeOf);
  const lowSum = sum(items.map(({ lowerBound }) => lowerBound));
  const highSum = sum(items.map(({ upperBound }) => upperBound));
  const isImpossible = items.some(({ target, lowerBound, upperBound }) => lowerBound < 0 || target < lowerBound || upperBound < lowerBound);
  if (isImpossible || requiredSum < 0 || lowSum - requiredSum > EPSILON || requiredSum - highSum > EPSILON) return undefined;
  if (requiredSum === 0) return { seats: items.map(() => 0), fairFraction: 0 };
  if (lowSum - requiredSum > -EPSILON) {
    const fairFraction = Math.min(...relative.map(({ relativeLower }) => relativeLower));
    return { seats: items.map(({ lowerBound }) => lowerBound), fairFraction };
  }
  if (requiredSum - highSum > -EPSILON) {
    const fairFraction = Math.max(...relative.map(({ relativeUpper }) => relativeUpper));
    return { seats: items.map(({ upperBound }) => upperBound), fairFraction };
  }
  const fairFraction = fairFractionOf(requiredSum, relative, lowSum);
  const seats = relative.map(({ target, lowerBound, upperBound }) => Math.max(lowerBound, Math.min(upperBound, fairFraction * target)));
  return { seats, fairFraction };
}

function relativeOf(item: AllocationItem): RelativeItem {
  const target = Math.max(item.target, TARGET_MIN);
  return { ...item, target, relativeLower: item.lowerBound / target, relativeUpper: item.upperBound / target };
}

/** Raises the fraction from bound to bound; between two of them the sum grows with the targets of the items that are not at a bound. */
function fairFractionOf(requiredSum: number, items: readonly RelativeItem[], lowSum: number): number {
  const bounds = items
    .flatMap(({ target, relativeLower, relativeUpper }) => [
      { at: relativeLower, change: target },
      { at: relativeUpper, change: -target },
    ])
    .toSorted((a, b) => a.at - b.at);
  let fraction = Math.min(...items.map(({ relativeLower }) => relativeLower));
  let total = lowSum;
  let sensitive = 0;
  for (const { at, change } of bounds) {
    if (at > fraction) {
      if (sensitive > EPSILON) {
        const wanted = fraction + (requiredSum - total) / sensitive;
        if (wanted <= at) return wanted;
        total += (at - fraction) * sensitive;
      }
      fraction = at;
    }
    sensitive += change;
  }
  return fraction;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
