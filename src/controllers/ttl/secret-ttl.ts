/**
 * How long kubelets may use a cached Secret or ConfigMap, in seconds: the larger the cluster, the longer. The thresholds overlap, so that a
 * cluster whose size is about one of them does not change all its Nodes again and again. Pure.
 */
interface Step {
  /** Below this number of Nodes the previous step applies. */
  readonly nodesMin: number;
  readonly nodesMax: number;
  readonly ttlSeconds: number;
}

const STEPS: readonly Step[] = [
  { nodesMin: 0, nodesMax: 100, ttlSeconds: 0 },
  { nodesMin: 90, nodesMax: 500, ttlSeconds: 15 },
  { nodesMin: 450, nodesMax: 1_000, ttlSeconds: 30 },
  { nodesMin: 900, nodesMax: 2_000, ttlSeconds: 60 },
  { nodesMin: 1_800, nodesMax: Infinity, ttlSeconds: 300 },
];

/** `current` is that of most Nodes: it stays while the number of Nodes is within its step. */
export function secretTtlSeconds(nodeCount: number, current: number | undefined): number {
  const step = STEPS.find(({ ttlSeconds }) => ttlSeconds === current);
  if (step !== undefined && nodeCount >= step.nodesMin && nodeCount <= step.nodesMax) return step.ttlSeconds;
  return (STEPS.find(({ nodesMax }) => nodeCount <= nodesMax) ?? STEPS[0])?.ttlSeconds ?? 0;
}
