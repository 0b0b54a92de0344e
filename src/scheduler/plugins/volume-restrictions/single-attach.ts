/** In-tree volumes that at most one Pod of a node may use, or several if all use them read-only. */
import type { Pod, Volume } from "../../../api/generated/core/v1.ts";

/** A volume of a Pod that may conflict with those of others. */
export type SingleAttachVolume = Pick<Volume, "gcePersistentDisk" | "awsElasticBlockStore" | "iscsi" | "rbd">;

const NONE: readonly never[] = [];

/** Upstream's defaults of the API server. */
const RBD_POOL = "rbd";

export function singleAttachVolumes({ spec }: Pod): readonly SingleAttachVolume[] {
  const volumes = spec?.volumes;
  if (volumes === undefined || !volumes.some(isSingleAttach)) return NONE;
  return volumes.filter(isSingleAttach);
}

export function conflictsWith(wanted: readonly SingleAttachVolume[], { spec }: Pod): boolean {
  if (wanted.length === 0 || spec?.volumes === undefined) return false;
  return spec.volumes.some((existing) => wanted.some((volume) => isConflict(volume, existing)));
}

function isSingleAttach({ gcePersistentDisk, awsElasticBlockStore, iscsi, rbd }: Volume): boolean {
  return gcePersistentDisk !== undefined || awsElasticBlockStore !== undefined || iscsi !== undefined || rbd !== undefined;
}

function isConflict(volume: SingleAttachVolume, existing: SingleAttachVolume): boolean {
  const { gcePersistentDisk: disk, awsElasticBlockStore: block, iscsi, rbd } = volume;
  const { gcePersistentDisk: otherDisk, awsElasticBlockStore: otherBlock, iscsi: otherIscsi, rbd: otherRbd } = existing;
  if (disk !== undefined && otherDisk !== undefined && disk.pdName === otherDisk.pdName) return isWritten(disk, otherDisk);
  if (block !== undefined && otherBlock !== undefined && block.volumeID === otherBlock.volumeID) return true;
  if (iscsi !== undefined && otherIscsi !== undefined && iscsi.iqn === otherIscsi.iqn) return isWritten(iscsi, otherIscsi);
  return rbd !== undefined && otherRbd !== undefined && isSameImage(rbd, otherRbd) && isWritten(rbd, otherRbd);
}

type Rbd = NonNullable<Volume["rbd"]>;

function isSameImage({ monitors, pool = RBD_POOL, image }: Rbd, other: Rbd): boolean {
  return pool === (other.pool ?? RBD_POOL) && image === other.image && monitors.some((monitor) => other.monitors.includes(monitor));
}

interface Access {
  readonly readOnly?: boolean;
}

function isWritten(a: Access, b: Access): boolean {
  return a.readOnly !== true || b.readOnly !== true;
}
