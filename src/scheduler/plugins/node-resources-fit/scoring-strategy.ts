/**
 * Scores a node by its utilisation with the Pod: the lower the better (LeastAllocated), the higher the better (MostAllocated), or by a
 * curve (RequestedToCapacityRatio). Each resource gets 0 to 100, and the node their weighted average. All division is integer division, as
 * upstream, so that the same nodes win; exact up to 90 TB of memory.
 */
import type { NodeInfo } from "../../framework/node-info.ts";
import { SCORE_MAX } from "../../framework/plugin.ts";
import { resourceAmount, type ScoredResource } from "../../framework/scored-resources.ts";

export type StrategyType = "LeastAllocated" | "MostAllocated" | "RequestedToCapacityRatio";

/** In a configuration the score of a point is 0 to 10. */
export const SHAPE_SCORE_MAX = 10;

export interface ShapePoint {
  /** 0 to 100. */
  readonly utilization: number;
  /** 0 to SHAPE_SCORE_MAX. */
  readonly score: number;
}

export interface ScoringStrategy {
  readonly type: StrategyType;
  readonly resources: readonly ScoredResource[];
  /** Only for RequestedToCapacityRatio. Ordered by utilisation, at least one point. */
  readonly shape: readonly ShapePoint[];
}

/** `requests` are the Pod's, in the order of the strategy's resources. */
export type Scorer = (requests: readonly number[], node: NodeInfo) => number;

export function scorerOf({ type, resources, shape }: ScoringStrategy): Scorer {
  switch (type) {
    case "LeastAllocated":
      return (requests, node) => Math.floor(average(resources, requests, node, leastAllocated));
    case "MostAllocated":
      return (requests, node) => Math.floor(average(resources, requests, node, mostAllocated));
    case "RequestedToCapacityRatio": {
      const alongShape = shapeScore(shape);
      return (requests, node) => Math.round(average(resources, requests, node, alongShape));
    }
  }
}

/** Undefined: the resource does not count at all. */
type ResourceScore = (requested: number, capacity: number) => number | undefined;

function average(resources: readonly ScoredResource[], requests: readonly number[], node: NodeInfo, scoreOf: ResourceScore): number {
  let sum = 0;
  let weights = 0;
  for (let index = 0; index < resources.length; index++) {
    const { name, weight, isScalar } = resources[index] as ScoredResource;
    const request = requests[index] as number;
    if (isScalar && request === 0) continue;
    const capacity = resourceAmount(node.allocatable, name);
    if (capacity === 0) continue;
    const score = scoreOf(usedAmount(node, name) + request, capacity);
    if (score === undefined) continue;
    sum += score * weight;
    weights += weight;
  }
  return weights === 0 ? 0 : sum / weights;
}

/** Pods without CPU or memory requests use some nevertheless. */
function usedAmount(node: NodeInfo, name: string): number {
  if (name === "cpu") return node.nonZeroRequestedMilliCpu;
  if (name === "memory") return node.nonZeroRequestedMemoryBytes;
  return resourceAmount(node.requested, name);
}

function leastAllocated(requested: number, capacity: number): number {
  return requested > capacity ? 0 : Math.floor(((capacity - requested) * SCORE_MAX) / capacity);
}

function mostAllocated(requested: number, capacity: number): number {
  return Math.floor((Math.min(requested, capacity) * SCORE_MAX) / capacity);
}

/** A resource at the bottom of the curve does not count, upstream's rule: it does not lower the others. */
function shapeScore(shape: readonly ShapePoint[]): ResourceScore {
  const points = shape.map(({ utilization, score }) => ({ utilization, score: (score * SCORE_MAX) / SHAPE_SCORE_MAX }));
  return (requested, capacity) => {
    const utilization = requested > capacity ? 100 : Math.floor((requested * 100) / capacity);
    const score = alongLines(points, utilization);
    return score > 0 ? score : undefined;
  };
}

/** Linear between two points, constant before the first and after the last. */
function alongLines(points: readonly ShapePoint[], utilization: number): number {
  let left: ShapePoint | undefined;
  for (const right of points) {
    if (utilization <= right.utilization) {
      if (left === undefined) return right.score;
      const rise = (right.score - left.score) * (utilization - left.utilization);
      return left.score + Math.trunc(rise / (right.utilization - left.utilization));
    }
    left = right;
  }
  return left?.score ?? 0;
}
