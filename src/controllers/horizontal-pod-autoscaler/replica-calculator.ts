/**
 * The number of replicas that one metric asks for, by upstream's formulas. Amounts are in thousandths, as integers where upstream has
 * integers. Unready Pods and Pods without a sample are counted so that they dampen a change and never reverse it. Pure; what cannot be
 * computed is a MetricError with upstream's message.
 */
import { isReady } from "../../api/core/v1/pod/readiness.ts";
import type { Pod } from "../../api/generated/core/v1.ts";
import { groupPods, type GroupingRules, type PodSample, type PodSamples } from "./pod-groups.ts";

/** Why a metric gives no number of replicas. */
export class MetricError extends Error {
  override readonly name = "MetricError";
}

/** Deviations of the usage ratio from 1 that are ignored. */
export interface Tolerances {
  readonly scaleUp: number;
  readonly scaleDown: number;
}

export interface PodMetricInput {
  readonly currentReplicas: number;
  readonly pods: readonly Pod[];
  readonly samples: PodSamples;
  readonly tolerances: Tolerances;
  readonly rules: GroupingRules;
}

export interface AverageResult {
  readonly replicas: number;
  /** Average of the Pods, in thousandths. */
  readonly average: number;
}

export interface UtilizationResult extends AverageResult {
  /** In percent of the requests. */
  readonly utilization: number;
}

interface Ratio {
  readonly ratio: number;
  readonly average: number;
}

const INT32_MAX = 2 ** 31 - 1;
/** Pods without a sample count as fully used when scaling down. */
const FULL_PERCENT = 100;

/** By an average value per Pod. */
export function averageReplicas(input: PodMetricInput, targetAverage: number): AverageResult {
  const ratioOf = (samples: PodSamples): Ratio => {
    const average = Math.trunc(sumOf(samples.values()) / samples.size);
    return { ratio: average / targetAverage, average };
  };
  return planned(input, ratioOf, () => targetAverage);
}

/**
 * By a utilization of the Pods' requests, in percent. `readRequests`: thousandths by Pod name, or a MetricError; called after the checks of
 * the samples, whose errors come first.
 */
export function utilizationReplicas(
  input: PodMetricInput,
  readRequests: () => ReadonlyMap<string, number>,
  targetUtilization: number,
): UtilizationResult {
  let requests: ReadonlyMap<string, number> = new Map();
  const ratioOf = (samples: PodSamples): Ratio & { readonly utilization: number } => {
    if (requests.size === 0) requests = readRequests();
    const known = [...samples].filter(([pod]) => requests.has(pod));
    const total = known.reduce((sum, [, { value }]) => sum + value, 0);
    const requested = known.reduce((sum, [pod]) => sum + (requests.get(pod) ?? 0), 0);
    if (requested === 0) throw new MetricError("no metrics returned matched known pods");
    const utilization = Math.trunc((total * 100) / requested);
    return { ratio: utilization / targetUtilization, average: Math.trunc(total / known.length), utilization };
  };
  const whenMissing = (pod: string): number =>
    Math.trunc(((requests.get(pod) ?? 0) * Math.max(FULL_PERCENT, targetUtilization)) / FULL_PERCENT);
  return planned(input, ratioOf, whenMissing);
}

/** `whenMissing`: the value of a Pod without a sample when scaling down. */
function planned<R extends Ratio>(
  { currentReplicas, pods, samples, tolerances, rules }: PodMetricInput,
  ratioOf: (samples: PodSamples) => R,
  whenMissing: (pod: string) => number,
): Omit<R, "ratio"> & { readonly replicas: number } {
  if (pods.length === 0) throw new MetricError("no pods returned by selector while calculating replica count");
  const { readyCount, unready, missing, ignored } = groupPods(pods, samples, rules);
  const counted = new Map([...samples].filter(([pod]) => !ignored.has(pod) && !unready.has(pod)));
  if (counted.size === 0) throw new MetricError("did not receive metrics for targeted pods (pods might be unready)");
  const first = ratioOf(counted);
  const { ratio, ...result } = first;
  const scalesUpWithUnready = unready.size > 0 && ratio > 1;
  if (!scalesUpWithUnready && missing.size === 0) {
    return { ...result, replicas: isWithin(tolerances, ratio) ? currentReplicas : replicasOf(ratio * readyCount) };
  }
  if (ratio !== 1) for (const pod of missing) counted.set(pod, plain(ratio < 1 ? whenMissing(pod) : 0));
  if (scalesUpWithUnready) for (const pod of unready) counted.set(pod, plain(0));
  const damped = ratioOf(counted).ratio;
  const isReversed = (ratio < 1 && damped > 1) || (ratio > 1 && damped < 1);
  const replicas = replicasOf(damped * counted.size);
  const movesWrong = (damped < 1 && replicas > currentReplicas) || (damped > 1 && replicas < currentReplicas);
  return { ...result, replicas: isWithin(tolerances, damped) || isReversed || movesWrong ? currentReplicas : replicas };
}

export interface ObjectMetricInput {
  readonly currentReplicas: number;
  readonly pods: readonly Pod[];
  readonly tolerances: Tolerances;
}

/** By the value of an object or an external metric. From zero replicas the ratio alone decides. */
export function valueReplicas({ currentReplicas, pods, tolerances }: ObjectMetricInput, value: number, target: number): number {
  const ratio = value / target;
  if (currentReplicas === 0) return replicasOf(ratio);
  if (isWithin(tolerances, ratio)) return currentReplicas;
  if (pods.length === 0)
    throw new MetricError("unable to calculate ready pods: no pods returned by selector while calculating replica count");
  return replicasOf(ratio * pods.filter((pod) => pod.status?.phase === "Running" && isReady(pod)).length);
}

/** By the value of an object or an external metric, shared by all replicas. */
export function sharedValueReplicas(
  { statusReplicas, tolerances }: { readonly statusReplicas: number; readonly tolerances: Tolerances },
  value: number,
  targetAverage: number,
): AverageResult {
  const isKept = isWithin(tolerances, value / (targetAverage * statusReplicas));
  const average = statusReplicas === 0 ? 0 : Math.ceil(value / statusReplicas);
  return { replicas: isKept ? statusReplicas : replicasOf(value / targetAverage), average };
}

/** Requests of a resource in thousandths by Pod name; with a container, of that one only. */
export function requestsOf(
  pods: readonly Pod[],
  { resource, container, amountOf }: { readonly resource: string; readonly container: string; amountOf(quantity: string): number },
): ReadonlyMap<string, number> {
  return new Map(
    pods.map((pod) => {
      const { name } = pod.metadata;
      const ofPod = pod.spec?.resources?.requests;
      if (container === "" && ofPod !== undefined && Object.keys(ofPod).length > 0) {
        const request = ofPod[resource];
        if (request === undefined) throw new MetricError(`missing pod-level request for ${resource} in Pod ${name}`);
        return [name, amountOf(request)];
      }
      const containers = countedContainers(pod).filter((one) => container === "" || one.name === container);
      if (containers.length === 0 && container !== "") throw new MetricError(`container ${container} not found in Pod ${name}`);
      return [
        name,
        containers.reduce((sum, one) => {
          const request = one.resources?.requests?.[resource];
          if (request === undefined) throw new MetricError(`missing request for ${resource} in container ${one.name} of Pod ${name}`);
          return sum + amountOf(request);
        }, 0),
      ];
    }),
  );
}

/** Those that run as long as the Pod: main containers and sidecars. */
function countedContainers({ spec }: Pod) {
  return [...(spec?.containers ?? []), ...(spec?.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === "Always")];
}

function isWithin({ scaleUp, scaleDown }: Tolerances, ratio: number): boolean {
  return 1 - scaleDown <= ratio && ratio <= 1 + scaleUp;
}

function replicasOf(amount: number): number {
  return Math.min(INT32_MAX, Math.ceil(amount));
}

function plain(value: number): PodSample {
  return { atMs: 0, windowMs: 0, value };
}

function sumOf(samples: Iterable<PodSample>): number {
  let sum = 0;
  for (const { value } of samples) sum += value;
  return sum;
}
