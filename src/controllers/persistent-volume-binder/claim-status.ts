/** The status of a claim with and without a volume. Pure. */
import { annotationOf } from "../../api/core/v1/persistent-volume/binding.ts";
import type { PersistentVolume, PersistentVolumeClaim, PersistentVolumeClaimStatus } from "../../api/generated/core/v1.ts";
import { compareQuantities, parseQuantity, QuantityError } from "../../api/machinery/quantity.ts";

/** On a volume that is being expanded: its capacity before, which the file system still has. */
const PRE_RESIZE_CAPACITY = "volume.alpha.kubernetes.io/pre-resize-capacity";

/** Without a volume. Undefined if it already is so. */
export function unboundStatus({ status = {} }: PersistentVolumeClaim, phase: "Pending" | "Lost"): PersistentVolumeClaimStatus | undefined {
  const { accessModes, capacity, currentVolumeAttributesClassName, ...kept } = status;
  const isBare = accessModes === undefined && capacity === undefined && currentVolumeAttributesClassName === undefined;
  return isBare && status.phase === phase ? undefined : { ...kept, phase };
}

/**
 * With its volume. Undefined if it already is so. Capacity and attributes are set when the claim becomes bound; from then on they belong to
 * the resizer, and may differ from the volume's on purpose.
 */
export function boundStatus(
  claim: PersistentVolumeClaim,
  { metadata, spec = {}, ...volume }: PersistentVolume,
): PersistentVolumeClaimStatus | undefined {
  const { status = {} } = claim;
  const isBecomingBound = status.phase !== "Bound";
  const next: PersistentVolumeClaimStatus = {
    ...status,
    phase: "Bound",
    ...(spec.accessModes === undefined ? {} : { accessModes: spec.accessModes }),
    ...(isBecomingBound ? { capacity: capacityOf(claim, { metadata, spec, ...volume }) } : {}),
  };
  if (!isBecomingBound) return sameModes(status.accessModes, spec.accessModes) ? undefined : next;
  const { currentVolumeAttributesClassName: _before, ...others } = next;
  if (status.phase !== "Pending") return next;
  return spec.volumeAttributesClassName === undefined
    ? others
    : { ...others, currentVolumeAttributesClassName: spec.volumeAttributesClassName };
}

function capacityOf({ status }: PersistentVolumeClaim, volume: PersistentVolume): Readonly<Record<string, string>> {
  const { capacity } = volume.spec ?? {};
  const storage = capacity?.["storage"];
  if (capacity === undefined || storage === undefined) {
    throw new Error(`PersistentVolume ${JSON.stringify(volume.metadata.name)} is without a storage capacity`);
  }
  const before = annotationOf(volume, PRE_RESIZE_CAPACITY);
  if (before !== undefined) return { ...status?.capacity, storage: isQuantity(before) ? before : storage };
  const known = status?.capacity?.["storage"];
  const isSame = known !== undefined && compareQuantities(parseQuantity(known), parseQuantity(storage)) === 0;
  return isSame && status?.capacity !== undefined ? status.capacity : capacity;
}

function isQuantity(text: string): boolean {
  try {
    parseQuantity(text);
    return true;
  } catch (error) {
    if (error instanceof QuantityError) return false;
    throw error;
  }
}

function sameModes(one: readonly string[] = [], other: readonly string[] = []): boolean {
  return one.length === other.length && one.every((mode, index) => mode === other[index]);
}
