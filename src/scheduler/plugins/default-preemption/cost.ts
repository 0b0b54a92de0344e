/**
 * What it costs to evict some Pods of one node, so that nodes can be compared by upstream's criteria, the first that differs deciding:
 * fewest violated disruption budgets, lowest highest priority, smallest sum of priorities, fewest Pods, latest start of the most important.
 * The cost of some Pods is never above that of the same and one more. So whoever is not below the best so far can be left out early.
 */
import type { PodInfo } from "../../framework/pod-info.ts";
import { startOf } from "./importance.ts";

/** Added to every priority, so that none is below 0 and two Pods of negative priority do not cost less than one. */
const PRIORITY_OFFSET = 2 ** 31;

export class Cost {
  violations = 0;
  highestPriority = Number.NEGATIVE_INFINITY;
  prioritySum = 0;
  pods = 0;
  /** When the first of those with the highest priority started. */
  earliestStart = "";

  /** One more Pod is evicted. */
  add(pod: PodInfo, { isViolation }: { readonly isViolation: boolean }): void {
    const { priority } = pod;
    const start = startOf(pod);
    if (isViolation) this.violations++;
    this.prioritySum += priority + PRIORITY_OFFSET;
    this.pods++;
    if (priority < this.highestPriority || (priority === this.highestPriority && start >= this.earliestStart)) return;
    this.highestPriority = priority;
    this.earliestStart = start;
  }

  isBelow(other: Cost): boolean {
    if (this.violations !== other.violations) return this.violations < other.violations;
    if (this.highestPriority !== other.highestPriority) return this.highestPriority < other.highestPriority;
    if (this.prioritySum !== other.prioritySum) return this.prioritySum < other.prioritySum;
    if (this.pods !== other.pods) return this.pods < other.pods;
    return this.earliestStart > other.earliestStart;
  }
}

/** What evicting just this Pod costs if it violates nothing. */
export function leastCost(pod: PodInfo): Cost {
  const cost = new Cost();
  cost.add(pod, { isViolation: false });
  return cost;
}
