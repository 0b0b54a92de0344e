/** A Deployment's status from its ReplicaSets: counts and availability. */
import { maxUnavailableOf, wantedReplicas } from "../../api/apps/v1/rolling-bounds.ts";
import type { Deployment, DeploymentStatus, ReplicaSet } from "../../api/generated/apps/v1.ts";
import { conditionNow, withConditionSet, type Conditions } from "./conditions.ts";
import { allReplicaSets, availableOf, sizeOf, sum, type Rollout } from "./rollout.ts";

export function observedStatus(rollout: Rollout, nowMs: number): DeploymentStatus {
  const { deployment, newReplicaSet } = rollout;
  const { generation } = deployment.metadata;
  const { collisionCount, conditions } = deployment.status ?? {};
  const all = allReplicaSets(rollout);
  const available = sum(all, availableOf);
  return statusWith({
    observedGeneration: generation,
    replicas: sum(all, ({ status }) => status?.replicas ?? 0),
    updatedReplicas: newReplicaSet?.status?.replicas,
    readyReplicas: sum(all, ({ status }) => status?.readyReplicas ?? 0),
    availableReplicas: available,
    // While scaling down there may be more available Pods than desired.
    unavailableReplicas: Math.max(0, sum(all, sizeOf) - available),
    terminatingReplicas: terminatingOf(all),
    collisionCount,
    conditions: withAvailability(conditions, deployment, { available, nowMs }),
  });
}

/** Counts for which 0 and unknown differ. */
const REPORTED_IF_NONE: ReadonlySet<string> = new Set(["terminatingReplicas", "collisionCount"]);

/** Without unknown, zero or empty fields: as the server returns it. */
export function statusWith(members: { readonly [Name in keyof DeploymentStatus]?: DeploymentStatus[Name] | undefined }): DeploymentStatus {
  const isReported = ([name, value]: [string, unknown]) => {
    if (Array.isArray(value)) return value.length > 0;
    return value !== undefined && (value !== 0 || REPORTED_IF_NONE.has(name));
  };
  return Object.fromEntries(Object.entries(members).filter(isReported));
}

/** Unknown as long as one does not report it; unobserved ones have none. */
function terminatingOf(replicaSets: readonly ReplicaSet[]): number | undefined {
  const seen = replicaSets.filter(({ status }) => (status?.observedGeneration ?? 0) > 0 || status?.terminatingReplicas !== undefined);
  if (seen.some(({ status }) => status?.terminatingReplicas === undefined)) return undefined;
  return sum(seen, ({ status }) => status?.terminatingReplicas ?? 0);
}

function withAvailability(
  conditions: Conditions,
  deployment: Deployment,
  { available, nowMs }: { readonly available: number; readonly nowMs: number },
): Conditions {
  const isEnough = available >= wantedReplicas(deployment) - maxUnavailableOf(deployment);
  const condition = isEnough
    ? ({ status: "True", reason: "MinimumReplicasAvailable", message: "Deployment has minimum availability." } as const)
    : ({ status: "False", reason: "MinimumReplicasUnavailable", message: "Deployment does not have minimum availability." } as const);
  return withConditionSet(conditions, conditionNow({ type: "Available", ...condition }, nowMs));
}

/** All desired Pods exist, of the new template, available, and no others. */
export function isComplete(deployment: Deployment, status: DeploymentStatus | undefined): boolean {
  const wanted = wantedReplicas(deployment);
  const { replicas = 0, updatedReplicas = 0, availableReplicas = 0, observedGeneration = 0 } = status ?? {};
  const isAll = [replicas, updatedReplicas, availableReplicas].every((count) => count === wanted);
  return isAll && observedGeneration >= (deployment.metadata.generation ?? 0);
}
