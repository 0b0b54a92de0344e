/**
 * The claims of one Pod, prepared for all nodes: bound ones with their volumes, and unbound ones that wait for the scheduler's choice
 * (binding mode WaitForFirstConsumer). Rejections here hold for every node, in upstream's words.
 */
import {
  annotationOf,
  BIND_COMPLETED,
  claimBytes,
  claimClass,
  hasAnnotation,
  SELECTED_NODE,
} from "../../../api/core/v1/persistent-volume/binding.ts";
import type { PersistentVolume, PersistentVolumeClaim, Pod } from "../../../api/generated/core/v1.ts";
import type { Rejection } from "../../framework/plugin.ts";
import type { StorageView } from "../../framework/storage-view.ts";
import { claimNotFound, claimUses, foreignClaim, type ClaimUse } from "../../framework/volumes/pod-claims.ts";
import type { Assumptions } from "./assumptions.ts";
import { candidatesFor, type ClaimCandidates } from "./candidates.ts";
import { provisioningOf, type Provisioning } from "./provisioning.ts";

/** An unbound claim whose volume is chosen, or provisioned, for the Pod's node. */
export interface UnboundClaim {
  readonly claim: PersistentVolumeClaim;
  /** Another Pod, or an earlier attempt, has requested a volume for this node. Otherwise existing volumes are considered first. */
  readonly selectedNode: string | undefined;
  readonly candidates: ClaimCandidates | undefined;
  readonly provisioning: Provisioning;
}

/** What is written before the Pod is bound. */
export interface VolumePlan {
  /** Existing volumes for claims. */
  readonly bindings: readonly { readonly claim: PersistentVolumeClaim; readonly volume: PersistentVolume }[];
  /** Claims whose volumes are provisioned for the node. */
  readonly provisions: readonly PersistentVolumeClaim[];
}

/** State of the filter. */
export interface PodVolumes {
  /** Volumes of bound claims; undefined: it does not exist. */
  readonly bound: readonly (PersistentVolume | undefined)[];
  /** Those with a selected node first, then smallest first: small claims must not take the large volumes. */
  readonly unbound: readonly UnboundClaim[];
  /** By name of the feasible nodes. Empty if all claims are bound. */
  readonly plans: Map<string, VolumePlan>;
}

export type ReadPodVolumes =
  | { readonly is: "ready"; readonly state: PodVolumes }
  /** The Pod uses no claim. */
  | { readonly is: "skip" }
  | { readonly is: "rejected"; readonly rejection: Rejection };

const SKIP: ReadPodVolumes = { is: "skip" };

export function readPodVolumes(pod: Pod, storage: StorageView, assumptions: Assumptions): ReadPodVolumes {
  const uses = claimUses(pod);
  if (uses.length === 0) return SKIP;
  const problem = firstProblem(pod, uses, storage);
  if (problem !== undefined) return rejected(problem);
  const { namespace = "" } = pod.metadata;
  const names = new Set(uses.map(({ name }) => name));
  const claims = [...names].flatMap((name) => assumptions.claim(namespace, name) ?? []);
  const unbound = claims.filter((claim) => !isFullyBound(claim));
  if (!unbound.every((claim) => isBoundByScheduler(claim, storage))) return rejected("pod has unbound immediate PersistentVolumeClaims");
  const state = {
    bound: claims.filter(isFullyBound).map(({ spec }) => assumptions.volume(spec?.volumeName ?? "")),
    unbound: inOrder(unbound).map((claim) => prepared(claim, storage, assumptions)),
    plans: new Map<string, VolumePlan>(),
  };
  return { is: "ready", state };
}

/** Whether the binder has completed the binding. */
export function isFullyBound(claim: PersistentVolumeClaim): boolean {
  return (claim.spec?.volumeName ?? "") !== "" && hasAnnotation(claim, BIND_COMPLETED);
}

function rejected(reason: string): ReadPodVolumes {
  return { is: "rejected", rejection: { reasons: [reason], resolvable: false } };
}

function firstProblem(pod: Pod, uses: readonly ClaimUse[], storage: StorageView): string | undefined {
  for (const use of uses) {
    const problem = problemOf(pod, use, storage.claim(pod.metadata.namespace ?? "", use.name));
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function problemOf(pod: Pod, { name, isEphemeral }: ClaimUse, claim: PersistentVolumeClaim | undefined): string | undefined {
  const quoted = JSON.stringify(name);
  if (claim === undefined)
    return isEphemeral ? `waiting for ephemeral volume controller to create the persistentvolumeclaim ${quoted}` : claimNotFound(name);
  if (claim.status?.phase === "Lost")
    return `persistentvolumeclaim ${quoted} bound to non-existent persistentvolume ${JSON.stringify(claim.spec?.volumeName ?? "")}`;
  if (claim.metadata.deletionTimestamp !== undefined) return `persistentvolumeclaim ${quoted} is being deleted`;
  return isEphemeral ? foreignClaim(pod, claim) : undefined;
}

/** A claim that names its volume is bound by the binder, whatever its class says. */
function isBoundByScheduler(claim: PersistentVolumeClaim, storage: StorageView): boolean {
  if ((claim.spec?.volumeName ?? "") !== "") return false;
  return storage.storageClass(claimClass(claim))?.volumeBindingMode === "WaitForFirstConsumer";
}

function inOrder(claims: readonly PersistentVolumeClaim[]): readonly PersistentVolumeClaim[] {
  const sized = claims.map((claim) => ({ claim, isSelected: hasAnnotation(claim, SELECTED_NODE), bytes: claimBytes(claim) }));
  sized.sort((a, b) => Number(b.isSelected) - Number(a.isSelected) || (a.bytes < b.bytes ? -1 : a.bytes > b.bytes ? 1 : 0));
  return sized.map(({ claim }) => claim);
}

function prepared(claim: PersistentVolumeClaim, storage: StorageView, assumptions: Assumptions): UnboundClaim {
  const selectedNode = annotationOf(claim, SELECTED_NODE);
  const provisioning = provisioningOf(claim, storage);
  if (selectedNode !== undefined) return { claim, selectedNode, candidates: undefined, provisioning };
  const candidates = candidatesFor(claim, assumptions.volumesFor(claim), assumptions.freeVolumes(claimClass(claim)));
  return { claim, selectedNode, candidates, provisioning };
}
