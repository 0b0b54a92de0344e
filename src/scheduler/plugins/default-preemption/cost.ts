/**
 * The cost of evicting Pods of one node, for comparing nodes by upstream's criteria, the first difference deciding: fewest violated
 * disruption budgets, lowest highest priority, smallest sum of priorities, fewest Pods, latest start of the most important. The cost never
 * decreases with another victim. So a node that is not below the best so far can be skipped early.
 */
import type { PodInfo } from "../../framework/pod-info.ts";
import { startOf } from "./importance.ts";

/** Added to every priority, so that none is negative and two Pods of negative priority do not cost less than one. */
const PRIORITY_OFFSET = 2 ** 31;

export class Cost {
  violations = 0;
  highestPriority = Number.NEGATIVE_INFINITY;
  prioritySum = 0;
  pods = 0;
  /** Start of the earliest Pod with the highest priority. */
  earliestStart = "";

  /** Adds a victim. */
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

/** Cost of evicting just this Pod without a violation. */
export function leastCost(pod: PodInfo): Cost {
  const cost = new Cost();
  cost.add(pod, { isViolation: false });
  return cost;
}
