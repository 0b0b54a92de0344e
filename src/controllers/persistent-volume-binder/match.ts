/** Whether a volume fits a claim: what the binder checks before it binds them. Pure. */
import {
  claimBytes,
  claimClass,
  hasAccessModes,
  isBoundToClaim,
  volumeBytes,
  volumeClass,
  volumeModeOf,
} from "../../api/core/v1/persistent-volume/binding.ts";
import type { PersistentVolume, PersistentVolumeClaim } from "../../api/generated/core/v1.ts";
import { labelSelectorFromObject } from "../../api/machinery/selectors/label-selector.ts";

/** Nothing is bound to it, and it is ready. */
export function isAvailable({ metadata, spec, status }: PersistentVolume): boolean {
  return status?.phase === "Available" && spec?.claimRef === undefined && metadata.deletionTimestamp === undefined;
}

/** Whether an available volume of the claim's class, mode and attributes fits; the cheap checks come first. */
export function fitsAvailable(volume: PersistentVolume, claim: PersistentVolumeClaim): boolean {
  return isAvailable(volume) && misfit(volume, claim) === undefined && isSelected(volume, claim);
}

/** Whether a volume that is reserved for the claim can be bound to it. Its class and labels need not match: a user chose it. */
export function fitsReserved(volume: PersistentVolume, claim: PersistentVolumeClaim): boolean {
  return (
    isBoundToClaim(volume, claim) &&
    volume.metadata.deletionTimestamp === undefined &&
    volumeBytes(volume) >= claimBytes(claim) &&
    volumeModeOf(volume) === volumeModeOf(claim) &&
    attributesClass(volume) === attributesClass(claim) &&
    hasAccessModes(volume, claim)
  );
}

/** Why a volume that the claim names cannot be bound to it, in upstream's words; undefined if it can. */
export function misfit(volume: PersistentVolume, claim: PersistentVolumeClaim): string | undefined {
  if (volume.metadata.deletionTimestamp !== undefined) return `the volume is marked for deletion ${JSON.stringify(volume.metadata.name)}`;
  if (volumeBytes(volume) < claimBytes(claim)) return "requested PV is too small";
  if (volumeClass(volume) !== claimClass(claim)) return "storageClassName does not match";
  if (attributesClass(volume) !== attributesClass(claim)) return "volumeAttributesClassName does not match";
  if (volumeModeOf(volume) !== volumeModeOf(claim)) return "incompatible volumeMode";
  return hasAccessModes(volume, claim) ? undefined : "incompatible accessMode";
}

function attributesClass({ spec }: PersistentVolume | PersistentVolumeClaim): string {
  return spec?.volumeAttributesClassName ?? "";
}

function isSelected({ metadata }: PersistentVolume, { spec }: PersistentVolumeClaim): boolean {
  return spec?.selector === undefined || labelSelectorFromObject(spec.selector).matches(metadata.labels ?? {});
}
