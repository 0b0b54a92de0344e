/**
 * Binds a volume and a claim: the volume's reference, the volume's phase, the claim's reference, the claim's status, in this order. Each
 * write is at the version that was read, and each step is skipped if it is done: an interrupted binding continues where it stopped, and of
 * two concurrent ones only one gets past the first write.
 */
import {
  BIND_COMPLETED,
  BOUND_BY_CONTROLLER,
  boundToClaim,
  hasAnnotation,
  withAnnotations,
} from "../../api/core/v1/persistent-volume/binding.ts";
import { persistentVolumeClaims } from "../../api/core/v1/persistent-volume-claim.ts";
import { persistentVolumes } from "../../api/core/v1/persistent-volume.ts";
import type { PersistentVolume, PersistentVolumeClaim, PersistentVolumeStatus } from "../../api/generated/core/v1.ts";
import type { Client } from "../../client/client.ts";
import { boundStatus } from "./claim-status.ts";

export async function bind(volume: PersistentVolume, claim: PersistentVolumeClaim, write: Client): Promise<void> {
  const wanted = boundToClaim(volume, claim);
  const referring = wanted === volume ? volume : await write.update(persistentVolumes, wanted);
  const bound = await writePhase(referring, "Bound", write);
  const named = claimOfVolume(claim, bound);
  const bindingClaim = named === claim ? claim : await write.update(persistentVolumeClaims, named);
  const status = boundStatus(bindingClaim, bound);
  if (status !== undefined) await write.updateStatus(persistentVolumeClaims, { ...bindingClaim, status });
}

/** Itself if nothing changes. */
function claimOfVolume(claim: PersistentVolumeClaim, { metadata: { name } }: PersistentVolume): PersistentVolumeClaim {
  const isNamed = claim.spec?.volumeName === name;
  const isMarked = hasAnnotation(claim, BOUND_BY_CONTROLLER);
  const marked = withAnnotations(claim, {
    ...(hasAnnotation(claim, BIND_COMPLETED) ? {} : { [BIND_COMPLETED]: "yes" }),
    ...(isNamed || isMarked ? {} : { [BOUND_BY_CONTROLLER]: "yes" }),
  });
  return isNamed ? marked : { ...marked, spec: { ...marked.spec, volumeName: name } };
}

/** Writes the phase if it differs. Returns the volume as it is then. */
export async function writePhase(
  volume: PersistentVolume,
  phase: NonNullable<PersistentVolumeStatus["phase"]>,
  write: Client,
  reported?: string,
): Promise<PersistentVolume> {
  if (volume.status?.phase === phase) return volume;
  const { message: _before, ...status } = volume.status ?? {};
  const next = { ...status, phase, ...(reported === undefined ? {} : { message: reported }) };
  return write.updateStatus(persistentVolumes, { ...volume, status: next });
}
