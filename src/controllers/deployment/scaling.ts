/**
 * One step of making ReplicaSets larger or smaller. With its size a ReplicaSet is told how many Pods its Deployment wants and may have:
 * that is how a later pass knows whether somebody has scaled the Deployment since, and in which proportion the ReplicaSets stood.
 */
import { DESIRED_REPLICAS_ANNOTATION, MAX_REPLICAS_ANNOTATION } from "../../api/apps/v1/deployment-revision.ts";
import { maxSurgeOf, wantedReplicas } from "../../api/apps/v1/rolling-bounds.ts";
import type { Deployment, ReplicaSet, ReplicaSetSpec } from "../../api/generated/apps/v1.ts";
import type { RecordedEvent } from "../../client/events/event-recorder.ts";
import type { Annotations } from "./revisions.ts";
import { sizeOf } from "./rollout.ts";

/** One ReplicaSet may be in several steps of a plan; they are made in order. */
export interface ScalingStep {
  readonly name: string;
  readonly replicas: number;
}

const INT32_MAX = 2 ** 31 - 1;

export function stepTo({ metadata }: ReplicaSet, replicas: number): ScalingStep {
  return { name: metadata.name, replicas };
}

/** Itself if it is as it should be. */
export function scaled(replicaSet: ReplicaSet, replicas: number, deployment: Deployment): ReplicaSet {
  const { metadata, spec } = replicaSet;
  const counts = replicaCountAnnotations(deployment);
  const isCounted = Object.entries(counts).every(([key, value]) => metadata.annotations?.[key] === value);
  if (isCounted && sizeOf(replicaSet) === replicas) return replicaSet;
  return {
    ...replicaSet,
    metadata: { ...metadata, annotations: { ...metadata.annotations, ...counts } },
    spec: { ...(spec as ReplicaSetSpec), replicas },
  };
}

export function replicaCountAnnotations(deployment: Deployment): Annotations {
  const wanted = wantedReplicas(deployment);
  return {
    [DESIRED_REPLICAS_ANNOTATION]: wanted.toString(),
    [MAX_REPLICAS_ANNOTATION]: (wanted + maxSurgeOf(deployment)).toString(),
  };
}

export function scalingEvent(name: string, { from, to }: { readonly from: number; readonly to: number }): RecordedEvent {
  const message = `Scaled ${from < to ? "up" : "down"} replica set ${name} from ${from} to ${to}`;
  return { type: "Normal", reason: "ScalingReplicaSet", message, action: "ScalingReplicaSet" };
}

/** How many Pods its Deployment wanted when it was last scaled; undefined if it does not say, or no number. */
export function desiredThen(replicaSet: ReplicaSet): number | undefined {
  return readCount(replicaSet, DESIRED_REPLICAS_ANNOTATION);
}

/** How many its Deployment could have at most then. */
export function maxThen(replicaSet: ReplicaSet): number | undefined {
  return readCount(replicaSet, MAX_REPLICAS_ANNOTATION);
}

function readCount({ metadata }: ReplicaSet, annotation: string): number | undefined {
  const text = metadata.annotations?.[annotation];
  const count = text !== undefined && /^[0-9]+$/.test(text) ? Number(text) : INT32_MAX + 1;
  return count > INT32_MAX ? undefined : count;
}
