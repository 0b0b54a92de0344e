/**
 * One scaling step of ReplicaSets. With its size a ReplicaSet gets annotations with the Deployment's desired and maximum replicas: so a
 * later reconciliation knows whether the Deployment was scaled since, and in which proportion.
 */
import { DESIRED_REPLICAS_ANNOTATION, MAX_REPLICAS_ANNOTATION } from "../../api/apps/v1/deployment-revision.ts";
import { maxSurgeOf, wantedReplicas } from "../../api/apps/v1/rolling-bounds.ts";
import type { Deployment, ReplicaSet, ReplicaSetSpec } from "../../api/generated/apps/v1.ts";
import type { RecordedEvent } from "../../client/events/event-recorder.ts";
import type { Annotations } from "./revisions.ts";
import { sizeOf } from "./rollout.ts";

/** A ReplicaSet may be in several steps of a plan; they are executed in order. */
export interface ScalingStep {
  readonly name: string;
  readonly replicas: number;
}

const INT32_MAX = 2 ** 31 - 1;

export function stepTo({ metadata }: ReplicaSet, replicas: number): ScalingStep {
  return { name: metadata.name, replicas };
}

/** Itself if it is up to date. */
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

/** Desired replicas of its Deployment at the last scaling; undefined if missing or not a number. */
export function desiredThen(replicaSet: ReplicaSet): number | undefined {
  return readCount(replicaSet, DESIRED_REPLICAS_ANNOTATION);
}

/** Maximum replicas of its Deployment at that time. */
export function maxThen(replicaSet: ReplicaSet): number | undefined {
  return readCount(replicaSet, MAX_REPLICAS_ANNOTATION);
}

function readCount({ metadata }: ReplicaSet, annotation: string): number | undefined {
  const text = metadata.annotations?.[annotation];
  const count = text !== undefined && /^[0-9]+$/.test(text) ? Number(text) : INT32_MAX + 1;
  return count > INT32_MAX ? undefined : count;
}
