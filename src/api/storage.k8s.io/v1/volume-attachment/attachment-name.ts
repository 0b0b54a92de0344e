/** Names of CSI volumes and their attachments, as upstream derives them: the controller, the kubelet and drivers must agree on them. */
import { sha256Hex } from "../../../../base/crypto/hash.ts";

/** A volume of a CSI driver. */
export interface CsiVolumeId {
  readonly driver: string;
  readonly handle: string;
}

/** "kubernetes.io/csi/<driver>^<handle>": the volume in a Node's `volumesAttached` and `volumesInUse`. */
export function uniqueVolumeName({ driver, handle }: CsiVolumeId): string {
  return `${PREFIX}${driver}^${handle}`;
}

/** Undefined if it is not a volume of a CSI driver. */
export function parseUniqueVolumeName(name: string): CsiVolumeId | undefined {
  const separator = name.indexOf("^");
  if (!name.startsWith(PREFIX) || separator < 0) return undefined;
  return { driver: name.slice(PREFIX.length, separator), handle: name.slice(separator + 1) };
}

const PREFIX = "kubernetes.io/csi/";

/** "csi-<hash>": the VolumeAttachment of the volume on a node. */
export function attachmentName({ driver, handle }: CsiVolumeId, nodeName: string): string {
  return `csi-${sha256Hex(new TextEncoder().encode(`${handle}${driver}${nodeName}`)).toLowerCase()}`;
}
