/**
 * What to do with a volume, decided from the volume and the claim that it references. Pure, with upstream's branches. Binding is done by the
 * claim's reconciliation; here the phase follows, references to claims that are bound elsewhere are removed, and released volumes are
 * reclaimed by their policy.
 */
import {
  annotationOf,
  BOUND_BY_CONTROLLER,
  hasAnnotation,
  MIGRATED_TO,
  PROVISIONED_BY,
  volumeModeOf,
  withAnnotations,
} from "../../api/core/v1/persistent-volume/binding.ts";
import type { PersistentVolume, PersistentVolumeClaim } from "../../api/generated/core/v1.ts";
import type { RecordedEvent } from "../../client/events/event-recorder.ts";
import { warning } from "./events.ts";
import { recyclerPod } from "./recycler-pod.ts";

export type VolumePlan =
  | { readonly is: "phase"; readonly phase: "Available" | "Bound" }
  /** The claim's reconciliation completes the binding. */
  | { readonly is: "wake-claim" }
  | { readonly is: "report-mismatch"; readonly ofVolume: RecordedEvent; readonly ofClaim: RecordedEvent }
  | { readonly is: "unbind" }
  /** Nothing uses it any more: it is Released, and its reclaim policy applies. */
  | { readonly is: "reclaim" };

/** `claim`: the one that the volume references, by name and uid; undefined if it was deleted. */
export function planVolume(volume: PersistentVolume, claim: PersistentVolumeClaim | undefined): VolumePlan {
  const claimRef = volume.spec?.claimRef;
  if (claimRef === undefined || isOnlyReserved(volume)) return { is: "phase", phase: "Available" };
  if (claim === undefined) return { is: "reclaim" };
  const { volumeName = "" } = claim.spec ?? {};
  if (volumeName === "") return volumeModeOf(volume) === volumeModeOf(claim) ? { is: "wake-claim" } : mismatch(volume, claim);
  if (volumeName === volume.metadata.name) return { is: "phase", phase: "Bound" };
  // The claim is bound to another volume. One that was provisioned for it is not needed.
  const isNotNeeded = hasAnnotation(volume, PROVISIONED_BY) && volume.spec?.persistentVolumeReclaimPolicy === "Delete";
  return isNotNeeded ? { is: "reclaim" } : { is: "unbind" };
}

/** A user reserved it for a claim, which is not bound to it yet. */
export function isOnlyReserved({ spec }: PersistentVolume): boolean {
  return spec?.claimRef !== undefined && (spec.claimRef.uid ?? "") === "";
}

function mismatch({ metadata }: PersistentVolume, claim: PersistentVolumeClaim): VolumePlan {
  const [volumeName, claimName] = [JSON.stringify(metadata.name), JSON.stringify(claim.metadata.name)];
  const reason = "due to incompatible volumeMode.";
  return {
    is: "report-mismatch",
    ofVolume: warning("VolumeMismatch", `Cannot bind PersistentVolume to requested PersistentVolumeClaim ${claimName} ${reason}`),
    ofClaim: warning("VolumeMismatch", `Cannot bind PersistentVolume ${volumeName} to requested PersistentVolumeClaim ${reason}`),
  };
}

/** The volume without its binding. One that a user reserved stays reserved. */
export function unbound(volume: PersistentVolume): PersistentVolume {
  const { claimRef, ...spec } = volume.spec ?? {};
  if (hasAnnotation(volume, BOUND_BY_CONTROLLER)) return withAnnotations({ ...volume, spec }, { [BOUND_BY_CONTROLLER]: undefined });
  const { uid: _uid, ...reserved } = claimRef ?? {};
  return { ...volume, spec: { ...spec, claimRef: reserved } };
}

/** `leave`: retained, or deleted by the provisioner that created it. `recycle`: emptied by a Pod, then available again. */
export type ReclaimPlan = { readonly is: "leave" | "recycle" } | { readonly is: "fail"; readonly event: RecordedEvent };

export function planReclaim(volume: PersistentVolume): ReclaimPlan {
  const { persistentVolumeReclaimPolicy: policy } = volume.spec ?? {};
  const failed = (reason: string, message: string): ReclaimPlan => ({ is: "fail", event: warning(reason, message) });
  if ((annotationOf(volume, MIGRATED_TO) ?? "") !== "" || policy === "Retain") return { is: "leave" };
  if (policy === "Recycle") {
    const isRecyclable = recyclerPod(volume) !== undefined;
    return isRecyclable ? { is: "recycle" } : failed("VolumeFailedRecycle", "No recycler plugin found for the volume!");
  }
  if (policy !== "Delete") return failed("VolumeUnknownReclaimPolicy", "Volume has unrecognized PersistentVolumeReclaimPolicy");
  const problem = deleterProblem(volume);
  return problem === undefined ? { is: "leave" } : failed("VolumeFailedDelete", problem);
}

const IN_TREE_PREFIX = "kubernetes.io/";

/** Why no external provisioner deletes the volume; undefined if one does. */
function deleterProblem(volume: PersistentVolume): string | undefined {
  const provisioner = annotationOf(volume, PROVISIONED_BY) ?? "";
  if (provisioner !== "") return provisioner.startsWith(IN_TREE_PREFIX) ? `no volume plugin matched name: ${provisioner}` : undefined;
  const { csi, hostPath, nfs } = volume.spec ?? {};
  if (csi !== undefined) return undefined;
  if (hostPath !== undefined) return hostPathProblem(hostPath.path);
  const reason = nfs === undefined ? "no volume plugin matched" : "no deletable volume plugin matched";
  return `error getting deleter volume plugin for volume ${JSON.stringify(volume.metadata.name)}: ${reason}`;
}

/** Upstream deletes directories below /tmp of the machine on which its controllers run. Here controllers have no access to a machine. */
function hostPathProblem(path: string): string {
  if (!path.startsWith("/tmp/")) return `host_path deleter only supports /tmp/.+ but received provided ${path}`;
  return `host_path deleter has no access to the node: delete ${path} there, then delete the PersistentVolume`;
}
