/** What a Deployment's ReplicaSets tell together: how many Pods there are, and whether there are enough. */
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
    // While it shrinks there may be more that are available than should be there.
    unavailableReplicas: Math.max(0, sum(all, sizeOf) - available),
    terminatingReplicas: terminatingOf(all),
    collisionCount,
    conditions: withAvailability(conditions, deployment, { available, nowMs }),
  });
}

/** Counts of which "none" and "not known" differ. */
const TOLD_IF_NONE: ReadonlySet<string> = new Set(["terminatingReplicas", "collisionCount"]);

/** Without what is not known, none or empty: so the server shows it. */
export function statusWith(members: { readonly [Name in keyof DeploymentStatus]?: DeploymentStatus[Name] | undefined }): DeploymentStatus {
  const isTold = ([name, value]: [string, unknown]) => {
    if (Array.isArray(value)) return value.length > 0;
    return value !== undefined && (value !== 0 || TOLD_IF_NONE.has(name));
  };
  return Object.fromEntries(Object.entries(members).filter(isTold));
}

/** Not known as long as one does not say; those that nobody has looked at yet have none. */
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

/** All that is wanted is there, of the new template, available, and nothing else. */
export function isComplete(deployment: Deployment, status: DeploymentStatus | undefined): boolean {
  const wanted = wantedReplicas(deployment);
  const { replicas = 0, updatedReplicas = 0, availableReplicas = 0, observedGeneration = 0 } = status ?? {};
  const isAll = [replicas, updatedReplicas, availableReplicas].every((count) => count === wanted);
  return isAll && observedGeneration >= (deployment.metadata.generation ?? 0);
}
