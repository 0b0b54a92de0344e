/**
 * Decides whether a PodDisruptionBudget allows an eviction, with upstream's messages, and computes its new status. Pure: the eviction
 * writes the status before it deletes the Pod, so that no two evictions use the same allowance.
 */
import { findCondition, withCondition } from "../../../api/machinery/conditions.ts";
import { labelSelectorFromObject } from "../../../api/machinery/selectors/label-selector.ts";
import { forbiddenError, StatusError } from "../../../api/machinery/status-error.ts";
import { formatTime } from "../../../api/machinery/time.ts";
import type { Pod } from "../../../api/generated/core/v1.ts";
import type { PodDisruptionBudget, PodDisruptionBudgetStatus } from "../../../api/generated/policy/v1.ts";

/** Maximum evictions that the disruption controller has not observed yet. Beyond it, the controller seems to be down. */
const DISRUPTED_PODS_MAX = 2_000;

const RETRY_SECONDS = 10;

export function isBudgetOf({ spec }: PodDisruptionBudget, { metadata }: Pod): boolean {
  return labelSelectorFromObject(spec?.selector).matches(metadata.labels ?? {});
}

/** A finished, pending or terminating Pod disrupts nothing. */
export function needsNoBudget({ metadata, status }: Pod): boolean {
  return metadata.deletionTimestamp !== undefined || ["Succeeded", "Failed", "Pending"].includes(status?.phase ?? "");
}

/** True if an unready Pod may be evicted without being counted: always if the policy says so, otherwise while enough others are healthy. */
export function canEvictUnhealthy(budget: PodDisruptionBudget, pod: Pod): boolean {
  if (findCondition(pod.status?.conditions, "Ready")?.status === "True") return false;
  if (budget.spec?.unhealthyPodEvictionPolicy === "AlwaysAllow") return true;
  const { currentHealthy, desiredHealthy } = statusOf(budget);
  return currentHealthy >= desiredHealthy && desiredHealthy > 0;
}

/** Returns the budget's status after this eviction; throws if it is not allowed. */
export function spend(budget: PodDisruptionBudget, podName: string, nowMs: number): PodDisruptionBudgetStatus {
  const { name, generation = 0 } = budget.metadata;
  const status = statusOf(budget);
  const resource = { group: "policy", plural: "poddisruptionbudget" };
  if ((status.observedGeneration ?? 0) < generation) throw stillProcessed(name);
  if (status.disruptionsAllowed < 0) throw forbiddenError(resource, name, "pdb disruptions allowed is negative");
  if (Object.keys(status.disruptedPods ?? {}).length > DISRUPTED_PODS_MAX) {
    throw forbiddenError(resource, name, "DisruptedPods map too big - too many evictions not confirmed by PDB controller");
  }
  if (status.disruptionsAllowed === 0) throw wouldViolate(denialMessage(budget));
  const disruptedPods = { ...status.disruptedPods, [podName]: formatTime(nowMs) };
  const disruptionsAllowed = status.disruptionsAllowed - 1;
  const spent = { ...status, disruptionsAllowed, disruptedPods };
  return disruptionsAllowed > 0 ? spent : { ...spent, conditions: withoutAllowance(status, nowMs) };
}

/** The client should retry: the controller must process the budget first. */
export function stillProcessed(name: string): StatusError {
  return wouldViolate(`The disruption budget ${name} is still being processed by the server.`, RETRY_SECONDS);
}

function wouldViolate(message: string, retryAfterSeconds?: number): StatusError {
  return new StatusError("TooManyRequests", "Cannot evict pod as it would violate the pod's disruption budget.", {
    details: {
      causes: [{ reason: "DisruptionBudget", message }],
      ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    },
  });
}

function denialMessage(budget: PodDisruptionBudget): string {
  const { name } = budget.metadata;
  const { conditions, currentHealthy, desiredHealthy } = statusOf(budget);
  const condition = findCondition(conditions, "DisruptionAllowed");
  const why = condition?.status === "False" && condition.message !== "" ? condition : undefined;
  if (why?.reason === "SyncFailed") {
    return `The disruption budget ${name} does not allow evicting pods currently because it failed sync: ${why.message}`;
  }
  if (currentHealthy <= desiredHealthy)
    return `The disruption budget ${name} needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`;
  if (why !== undefined) return `The disruption budget ${name} does not allow evicting pods currently (${why.reason}): ${why.message}`;
  return `The disruption budget ${name} does not allow evicting pods currently`;
}

function withoutAllowance({ conditions, observedGeneration }: PodDisruptionBudgetStatus, nowMs: number) {
  const seen = observedGeneration === undefined ? {} : { observedGeneration };
  const condition = { type: "DisruptionAllowed", status: "False", reason: "InsufficientPods", message: "", ...seen } as const;
  return withCondition(conditions, condition, nowMs);
}

/** A budget that the controller has not processed yet allows nothing. */
function statusOf({ status }: PodDisruptionBudget) {
  return { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0, ...status };
}
