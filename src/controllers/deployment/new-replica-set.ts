/**
 * The ReplicaSet of a Deployment's template, and the updates of an existing one. Its name depends on the template alone, so that a
 * Deployment that does not observe it does not create a second one.
 */
import { controlledBy } from "../runtime/keys.ts";
import { podTemplateHash, POD_TEMPLATE_HASH_LABEL } from "../../api/apps/v1/pod-template-hash.ts";
import { isRollingUpdate, wantedReplicas } from "../../api/apps/v1/rolling-bounds.ts";
import type { Deployment, DeploymentSpec, ReplicaSet, ReplicaSetSpec } from "../../api/generated/apps/v1.ts";
import { deepEqual } from "../../base/deep.ts";
import { newReplicaSetAnnotations, nextRevision } from "./revisions.ts";
import { newReplicaSetSize } from "./rolling-update.ts";
import { sizeOf, sum, type Rollout } from "./rollout.ts";
import { replicaCountAnnotations } from "./scaling.ts";

/** Maximum length of an object name. */
const NAME_LENGTH_MAX = 253;

export function newReplicaSetFor({ deployment, oldReplicaSets }: Rollout, spec: DeploymentSpec): ReplicaSet {
  const { name, namespace } = deployment.metadata;
  const hash = podTemplateHash(spec.template, deployment.status?.collisionCount);
  const labels = { ...spec.template.metadata?.labels, [POD_TEMPLATE_HASH_LABEL]: hash };
  const bare: ReplicaSet = {
    apiVersion: "apps/v1",
    kind: "ReplicaSet",
    metadata: {
      name: replicaSetName(name, hash),
      ...(namespace === undefined ? {} : { namespace }),
      labels,
      ownerReferences: [controlledBy(deployment)],
    },
    spec: {
      replicas: firstSize(deployment, oldReplicaSets),
      ...(spec.minReadySeconds === undefined ? {} : { minReadySeconds: spec.minReadySeconds }),
      selector: { ...spec.selector, matchLabels: { ...spec.selector.matchLabels, [POD_TEMPLATE_HASH_LABEL]: hash } },
      template: { ...spec.template, metadata: { ...spec.template.metadata, labels } },
    },
  };
  const annotations = newReplicaSetAnnotations(deployment, bare, nextRevision(oldReplicaSets));
  return { ...bare, metadata: { ...bare.metadata, annotations: { ...annotations, ...replicaCountAnnotations(deployment) } } };
}

export function replicaSetName(deployment: string, hash: string): string {
  return `${deployment.slice(0, NAME_LENGTH_MAX - hash.length - 1)}-${hash}`;
}

/** All at once for Recreate, otherwise as many as the surge allows. */
function firstSize(deployment: Deployment, oldReplicaSets: readonly ReplicaSet[]): number {
  if (!isRollingUpdate(deployment)) return wantedReplicas(deployment);
  return newReplicaSetSize(deployment, { size: 0, total: sum(oldReplicaSets, sizeOf) });
}

/** The ReplicaSet with the Deployment's current annotations; itself if it is up to date. */
export function refreshed({ deployment, oldReplicaSets }: Rollout, replicaSet: ReplicaSet): ReplicaSet {
  const annotations = newReplicaSetAnnotations(deployment, replicaSet, nextRevision(oldReplicaSets));
  const minReadySeconds = deployment.spec?.minReadySeconds ?? 0;
  const isSame = (replicaSet.spec?.minReadySeconds ?? 0) === minReadySeconds;
  if (isSame && deepEqual(annotations, replicaSet.metadata.annotations ?? {})) return replicaSet;
  return {
    ...replicaSet,
    metadata: { ...replicaSet.metadata, annotations },
    spec: { ...(replicaSet.spec as ReplicaSetSpec), minReadySeconds },
  };
}
