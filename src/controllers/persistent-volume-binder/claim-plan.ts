/**
 * What to do with a claim, decided from the claim, volumes and classes. Pure, with upstream's branches: a claim that has never been bound
 * looks for a volume or a provisioner; one that has been bound keeps its volume, or is lost.
 */
import {
  annotationOf,
  BIND_COMPLETED,
  BOUND_BY_CONTROLLER,
  claimClass,
  claimHasClass,
  hasAnnotation,
  isBoundToClaim,
  SELECTED_NODE,
} from "../../api/core/v1/persistent-volume/binding.ts";
import { migratedDriver } from "../../api/core/v1/persistent-volume/migrated-plugins.ts";
import type { PersistentVolume, PersistentVolumeClaim } from "../../api/generated/core/v1.ts";
import type { StorageClass } from "../../api/generated/storage.k8s.io/v1.ts";
import type { RecordedEvent } from "../../client/events/event-recorder.ts";
import { objectText } from "../runtime/keys.ts";
import { normal, warning } from "./events.ts";
import { misfit } from "./match.ts";

/** What the decision is made from. */
export interface ClaimView {
  volume(name: string): PersistentVolume | undefined;
  /** The best volume for the claim: one reserved for it or, unless `onlyReserved`, the smallest available one that fits. */
  match(claim: PersistentVolumeClaim, options: { readonly onlyReserved: boolean }): PersistentVolume | undefined;
  storageClass(name: string): StorageClass | undefined;
  defaultClass(): StorageClass | undefined;
  /** Names of Pods that use the claim and have no node yet. */
  waitingPods(claim: PersistentVolumeClaim): readonly string[];
}

export type ClaimPlan =
  | { readonly is: "bind"; readonly volume: PersistentVolume }
  | { readonly is: "assign-class"; readonly className: string }
  /** Writes the phase Pending. */
  | { readonly is: "wait"; readonly event?: RecordedEvent }
  | { readonly is: "provision"; readonly provisioner: string }
  /** There is no provisioner for it; as upstream, the status stays. */
  | { readonly is: "fail-provisioning"; readonly event: RecordedEvent }
  | { readonly is: "fail"; readonly event: RecordedEvent; readonly error: string }
  /** A terminal phase. */
  | { readonly is: "lose"; readonly event: RecordedEvent };

export function planClaim(claim: PersistentVolumeClaim, view: ClaimView): ClaimPlan {
  if (hasAnnotation(claim, BIND_COMPLETED)) return planBoundClaim(claim, view);
  return (claim.spec?.volumeName ?? "") === "" ? planAnyVolume(claim, view) : planNamedVolume(claim, view);
}

function planBoundClaim(claim: PersistentVolumeClaim, view: ClaimView): ClaimPlan {
  const lost = (reason: string, message: string): ClaimPlan => ({ is: "lose", event: warning(reason, message) });
  const { volumeName = "" } = claim.spec ?? {};
  if (volumeName === "") return lost("ClaimLost", "Bound claim has lost reference to PersistentVolume. Data on the volume is lost!");
  const volume = view.volume(volumeName);
  if (volume === undefined) return lost("ClaimLost", "Bound claim has lost its PersistentVolume. Data on the volume is lost!");
  const claimRef = volume.spec?.claimRef;
  if (claimRef === undefined || claimRef.uid === claim.metadata.uid) return { is: "bind", volume };
  return lost("ClaimMisbound", "Two claims are bound to the same volume, this one is bound incorrectly");
}

/** The claim names no volume. */
function planAnyVolume(claim: PersistentVolumeClaim, view: ClaimView): ClaimPlan {
  const className = claimClass(claim);
  const isDelayed = view.storageClass(className)?.volumeBindingMode === "WaitForFirstConsumer";
  const volume = view.match(claim, { onlyReserved: isDelayed });
  if (volume !== undefined) return { is: "bind", volume };
  const assigned = claimHasClass(claim) ? undefined : view.defaultClass()?.metadata.name;
  if (assigned !== undefined) return { is: "assign-class", className: assigned };
  if (isDelayed && !hasAnnotation(claim, SELECTED_NODE)) return { is: "wait", event: waitingForConsumer(view.waitingPods(claim)) };
  if (className !== "") return planProvisioning(className, view);
  return { is: "wait", event: normal("FailedBinding", "no persistent volumes available for this claim and no storage class is set") };
}

function waitingForConsumer(pods: readonly string[]): RecordedEvent {
  if (pods.length === 0) return normal("WaitForFirstConsumer", "waiting for first consumer to be created before binding");
  return normal("WaitForPodScheduled", `waiting for ${pods.length > 1 ? "pods" : "pod"} ${pods.join(",")} to be scheduled`);
}

/** Prefix of provisioners that are, or were, part of Kubernetes; all others are external. */
const IN_TREE_PREFIX = "kubernetes.io/";
/** In-tree plugins that upstream's controller still has. */
const HOST_PATH_PLUGIN = "kubernetes.io/host-path";
const NFS_PLUGIN = "kubernetes.io/nfs";

function planProvisioning(className: string, view: ClaimView): ClaimPlan {
  const failed = (message: string): ClaimPlan => ({ is: "fail-provisioning", event: warning("ProvisioningFailed", message) });
  const storageClass = view.storageClass(className);
  if (storageClass === undefined) return failed(`storageclass.storage.k8s.io ${JSON.stringify(className)} not found`);
  const { provisioner } = storageClass;
  const driver = migratedDriver(provisioner);
  if (driver !== undefined) return { is: "provision", provisioner: driver };
  if (!provisioner.startsWith(IN_TREE_PREFIX)) return { is: "provision", provisioner };
  if (provisioner === NFS_PLUGIN) return failed("no provisionable volume plugin matched");
  if (provisioner !== HOST_PATH_PLUGIN) return failed(`no volume plugin matched name: ${provisioner}`);
  // Upstream's default: its flag --enable-hostpath-provisioner is off.
  return failed(`Failed to create provisioner: provisioning in volume plugin ${JSON.stringify(provisioner)} is disabled`);
}

/** The claim names a volume. */
function planNamedVolume(claim: PersistentVolumeClaim, view: ClaimView): ClaimPlan {
  const volume = view.volume(claim.spec?.volumeName ?? "");
  if (volume === undefined) return { is: "wait" };
  const { name } = volume.metadata;
  const quoted = JSON.stringify(name);
  const claimRef = volume.spec?.claimRef;
  if (claimRef === undefined) {
    const reason = misfit(volume, claim);
    if (reason === undefined) return { is: "bind", volume };
    return { is: "wait", event: warning("VolumeMismatch", `Cannot bind to requested volume ${quoted}: ${reason}`) };
  }
  if (isBoundToClaim(volume, claim)) return { is: "bind", volume };
  const event = warning("FailedBinding", `volume ${quoted} already bound to a different claim.`);
  if (annotationOf(claim, BOUND_BY_CONTROLLER) === undefined) return { is: "wait", event };
  const [mine, other] = [objectText(claim.metadata), objectText({ namespace: claimRef.namespace, name: claimRef.name ?? "" })];
  const error = `invalid binding of claim ${JSON.stringify(mine)} to volume ${quoted}: volume already claimed by ${JSON.stringify(other)}`;
  return { is: "fail", event, error };
}
