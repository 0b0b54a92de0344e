/** Pod counts in the status of a ReplicaSet and a ReplicationController. */
import type { ReplicaSetStatus } from "../../generated/apps/v1.ts";
import { invalid, type FieldError } from "../../machinery/field-error.ts";
import { nonNegative } from "../../number-validation.ts";

const COUNTS = [
  "replicas",
  "fullyLabeledReplicas",
  "readyReplicas",
  "availableReplicas",
  "observedGeneration",
  "terminatingReplicas",
] as const satisfies readonly (keyof ReplicaSetStatus)[];

const PARTS = ["fullyLabeledReplicas", "readyReplicas", "availableReplicas"] as const;

export type ReplicaCounts = { readonly [Count in (typeof COUNTS)[number]]?: number };

export function* validateReplicaCounts({ status = {} }: { readonly status?: ReplicaCounts }): Iterable<FieldError> {
  for (const count of COUNTS) yield* nonNegative(status[count], `status.${count}`);
  for (const part of PARTS) {
    const count = status[part] ?? 0;
    if (count > (status.replicas ?? 0)) yield invalid(`status.${part}`, count, "cannot be greater than status.replicas");
  }
  const { readyReplicas = 0, availableReplicas = 0 } = status;
  if (availableReplicas > readyReplicas) {
    yield invalid("status.availableReplicas", availableReplicas, "cannot be greater than readyReplicas");
  }
}
