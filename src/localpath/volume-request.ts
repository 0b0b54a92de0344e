/** Decides what a claim asks for, and whether a volume on a node can be that. Pure; messages are shown to the user in an event. */
import { readQuantity } from "../api/core/v1/pod/resource-list.ts";
import type { PersistentVolumeClaim } from "../api/generated/core/v1.ts";
import type { StorageClass } from "../api/generated/storage.k8s.io/v1.ts";
import { quantityToNumber } from "../api/machinery/quantity.ts";
import type { FileSystemType, VolumeStorage } from "./local-volumes.ts";

export type VolumeRequest =
  | { readonly is: "accepted"; readonly storage: VolumeStorage }
  | { readonly is: "refused"; readonly reason: string };

const MEBIBYTE = 1 << 20;

/** Smallest size on which mkfs creates a file system that is of use. */
const IMAGE_BYTES_MIN: Readonly<Record<FileSystemType, number>> = { ext4: MEBIBYTE, xfs: 300 * MEBIBYTE };

/** Block devices have a whole number of blocks. */
const BLOCK_BYTES = 4096;

const PARAMETERS = ["quota", "fsType"];

export function volumeRequest(claim: PersistentVolumeClaim, { parameters = {} }: Pick<StorageClass, "parameters">): VolumeRequest {
  const reason = claimProblem(claim) ?? parameterProblem(parameters);
  if (reason !== undefined) return refused(reason);
  const isBlock = claim.spec?.volumeMode === "Block";
  if (parameters["quota"] !== "true")
    return isBlock
      ? refused('volumeMode Block needs a StorageClass with the parameter quota: "true"')
      : { is: "accepted", storage: { is: "directory" } };
  const fsType: FileSystemType = parameters["fsType"] === "xfs" ? "xfs" : "ext4";
  const sizeBytes = imageBytes(requestedSize(claim));
  if (!Number.isSafeInteger(sizeBytes)) return refused(`a volume of ${requestedSize(claim)} is not possible`);
  const minBytes = isBlock ? BLOCK_BYTES : IMAGE_BYTES_MIN[fsType];
  if (sizeBytes < minBytes) return refused(`${requestedSize(claim)} is too small: ${fsType} needs at least ${minBytes / MEBIBYTE}Mi`);
  return { is: "accepted", storage: { is: "image", sizeBytes, ...(isBlock ? {} : { fsType }) } };
}

/** Size of the image for an amount of storage: whole blocks. */
export function imageBytes(amount: string): number {
  return Math.ceil(quantityToNumber(readQuantity(amount)) / BLOCK_BYTES) * BLOCK_BYTES;
}

export function requestedSize({ spec }: PersistentVolumeClaim): string {
  return spec?.resources?.requests?.["storage"] ?? "0";
}

function refused(reason: string): VolumeRequest {
  return { is: "refused", reason };
}

/** All Pods of a volume are on its node, so that modes for several nodes would be a promise that does not hold. */
function claimProblem({ spec = {} }: PersistentVolumeClaim): string | undefined {
  const mode = spec.accessModes?.find((one) => one !== "ReadWriteOnce" && one !== "ReadWriteOncePod");
  if (mode !== undefined) return `access mode ${mode} is not supported: a volume on a node supports ReadWriteOnce and ReadWriteOncePod`;
  if (spec.selector !== undefined) return "claim.spec.selector is not supported: a new volume has no labels to select";
  if (spec.dataSource !== undefined || spec.dataSourceRef !== undefined) return "a data source is not supported: a new volume is empty";
  if ((spec.volumeAttributesClassName ?? "") !== "") return "a VolumeAttributesClass is not supported";
  return undefined;
}

function parameterProblem(parameters: Readonly<Record<string, string>>): string | undefined {
  const unknown = Object.keys(parameters).find((name) => !PARAMETERS.includes(name));
  if (unknown !== undefined) return `unknown parameter "${unknown}": the parameters are ${PARAMETERS.join(" and ")}`;
  const { quota = "false", fsType = "ext4" } = parameters;
  if (quota !== "true" && quota !== "false") return `parameter quota must be "true" or "false", is "${quota}"`;
  if (fsType !== "ext4" && fsType !== "xfs") return `parameter fsType must be "ext4" or "xfs", is "${fsType}"`;
  if (quota === "false" && parameters["fsType"] !== undefined)
    return 'parameter fsType needs quota: "true": a directory has no file system of its own';
  return undefined;
}
