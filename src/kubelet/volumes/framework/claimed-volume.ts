/**
 * The PersistentVolume behind a volume of type persistentVolumeClaim or ephemeral, with the checks and messages of upstream's kubelet. They
 * are read each time: a node may read the claims and volumes of its Pods, but not watch them.
 */
import type { Node, PersistentVolume, PersistentVolumeClaim, Pod, Volume } from "../../../api/generated/core/v1.ts";
import { NodeTerms } from "../../../api/core/v1/node/node-selector.ts";
import { MigrationError, translatedInlineVolume, translatedVolume } from "../../../api/core/v1/persistent-volume/csi-migration.ts";
import { allContainers } from "../../../api/core/v1/pod/containers.ts";
import { volumeClaimName } from "../../../api/core/v1/pod/references.ts";
import { VolumeError } from "./volume-error.ts";
import type { PersistentPair, VolumeReferences } from "./volume-plugin.ts";

/** Keeps a claim that is being deleted for the Pods that use it. */
const PROTECTION_FINALIZER = "kubernetes.io/pvc-protection";

/** The volume's claim cannot be used now. Upstream reports this before any plugin is called. */
export class ClaimError extends VolumeError {
  override readonly name = "ClaimError";
}

/** The PersistentVolume is on other nodes. */
export class NodeAffinityError extends VolumeError {
  override readonly name = "NodeAffinityError";
}

type ClaimReferences = Pick<VolumeReferences, "persistentVolumeClaim" | "persistentVolume">;

/** Undefined for a volume without a claim. Rejects with a ClaimError. */
export async function claimedVolume(
  pod: Pod,
  volume: Volume,
  { references, signal }: { readonly references: ClaimReferences; readonly signal: AbortSignal },
): Promise<PersistentPair | undefined> {
  const name = volumeClaimName(pod.metadata.name, volume);
  if (name === undefined) return undefined;
  const namespace = pod.metadata.namespace ?? "";
  const prefix = `error processing PVC ${namespace}/${name}: `;
  const claim = await fetched(`${prefix}failed to fetch PVC from API server: `, `persistentvolumeclaims "${name}" not found`, () =>
    references.persistentVolumeClaim(namespace, name, signal),
  );
  const refusal = refusalOf(claim);
  if (refusal !== undefined) throw new ClaimError(`${prefix}${refusal}`);
  if (volume.ephemeral !== undefined) checkOwner(pod, claim);
  const { volumeName = "" } = claim.spec ?? {};
  const found = await fetched(
    `${prefix}failed to fetch PV ${volumeName} from API server: `,
    `persistentvolumes "${volumeName}" not found`,
    () => references.persistentVolume(volumeName, signal),
  );
  const mismatch = mismatchOf(found, claim);
  if (mismatch !== undefined) throw new ClaimError(`${prefix}${mismatch}`);
  checkVolumeMode(pod, volume, found);
  return { claim, volume: translated(() => translatedVolume(found)) };
}

/** The volume of a CSI driver that replaces the plugin of a volume in the Pod; undefined if none does. Throws a ClaimError. */
export function migratedInline({ metadata }: Pod, volume: Volume): PersistentVolume | undefined {
  return translated(() => translatedInlineVolume(volume, metadata.namespace ?? ""));
}

function translated<T>(translate: () => T): T {
  try {
    return translate();
  } catch (error) {
    throw error instanceof MigrationError ? new ClaimError(error.message, { cause: error }) : error;
  }
}

export function isClaimed({ persistentVolumeClaim, ephemeral }: Volume): boolean {
  return (persistentVolumeClaim ?? ephemeral) !== undefined;
}

/** Whether containers get the volume as a block device. */
export function isBlockVolume({ spec }: PersistentVolume): boolean {
  return spec?.volumeMode === "Block";
}

/** Whether only one Pod at a time may use the volume. With further access modes it is not known which one a Pod means. */
export function isForOnePod({ spec }: PersistentVolume): boolean {
  return spec?.accessModes?.length === 1 && spec.accessModes[0] === "ReadWriteOncePod";
}

/** Whether the Pod mounts the volume read-only, whatever its containers say. */
export function isReadOnlyClaim({ persistentVolumeClaim }: Volume): boolean {
  return persistentVolumeClaim?.readOnly === true;
}

/** Throws if the PersistentVolume cannot be used on this node. */
export function checkNodeAffinity({ spec }: PersistentVolume, node: Node | undefined): void {
  const required = spec?.nodeAffinity?.required;
  if (required === undefined || node === undefined || new NodeTerms(required).matches(node)) return;
  throw new NodeAffinityError("no matching NodeSelectorTerms");
}

async function fetched<T>(prefix: string, missing: string, fetch: () => Promise<T | undefined>): Promise<T> {
  let found: T | undefined;
  try {
    found = await fetch();
  } catch (error) {
    throw new ClaimError(`${prefix}${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
  if (found === undefined) throw new ClaimError(`${prefix}${missing}`);
  return found;
}

function refusalOf({ metadata, spec, status }: PersistentVolumeClaim): string | undefined {
  if (metadata.deletionTimestamp !== undefined && metadata.finalizers?.includes(PROTECTION_FINALIZER) !== true)
    return "PVC is being deleted";
  if (status?.phase !== "Bound") return "PVC is not bound";
  return (spec?.volumeName ?? "") === "" ? "PVC has empty pvc.Spec.VolumeName" : undefined;
}

function checkOwner({ metadata }: Pod, claim: PersistentVolumeClaim): void {
  if (claim.metadata.ownerReferences?.some(({ uid, controller }) => controller === true && uid === metadata.uid) === true) return;
  const { namespace = "", name } = claim.metadata;
  throw new ClaimError(`PVC ${namespace}/${name} was not created for pod ${namespace}/${metadata.name} (pod is not owner)`);
}

function mismatchOf({ metadata: { name }, spec }: PersistentVolume, claim: PersistentVolumeClaim): string | undefined {
  const { claimRef } = spec ?? {};
  if (claimRef === undefined)
    return `found PV object ${name} but it has a nil pv.Spec.ClaimRef indicating it is not yet bound to the claim`;
  if (claimRef.uid === claim.metadata.uid) return undefined;
  return `found PV object ${name} but its pv.Spec.ClaimRef.UID ${claimRef.uid ?? ""} does not point to claim.UID ${claim.metadata.uid ?? ""}`;
}

function checkVolumeMode({ spec }: Pod, { name }: Volume, volume: PersistentVolume): void {
  if (spec === undefined) return;
  const containers = allContainers(spec, "").map(({ container }) => container);
  const isIn = (uses: readonly { readonly name: string }[] = []) => uses.some((use) => use.name === name);
  const wrongUse = isBlockVolume(volume) ? ("volumeMounts" as const) : ("volumeDevices" as const);
  if (!containers.some((container) => isIn(container[wrongUse]))) return;
  throw new ClaimError(`volume ${name} has volumeMode ${isBlockVolume(volume) ? "Block" : "Filesystem"}, but is specified in ${wrongUse}`);
}
