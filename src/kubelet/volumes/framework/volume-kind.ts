/** Which kind of volume one is, as far as the disk is concerned; its place there; and how much a volume in memory may hold. */
import type { EmptyDirVolumeSource, HostPathVolumeSource, Pod, Volume } from "../../../api/generated/core/v1.ts";
import { allContainers } from "../../../api/core/v1/pod/containers.ts";
import { aggregateOverContainers, readQuantity, type ResourceList } from "../../../api/core/v1/pod/resource-list.ts";
import { quantityToNumber } from "../../../api/machinery/quantity.ts";
import { VolumeError } from "./volume-file.ts";

export type VolumeKind =
  | { readonly is: "empty"; readonly source: EmptyDirVolumeSource; readonly directory: string }
  | { readonly is: "host"; readonly source: HostPathVolumeSource }
  /** Files that are made of what the API has. In memory unless all of it is public: nothing secret is to lie on a disk. */
  | { readonly is: "files"; readonly inMemory: boolean; readonly directory: string };

/** The name of the directory of a Pod's emptyDir volumes. */
export const EMPTY_DIRECTORIES = "kubernetes.io~empty-dir";

/** Throws a VolumeError for what there is not here. */
export function kindOf({ name: _name, ...source }: Volume): VolumeKind {
  const { emptyDir, hostPath, configMap, secret, downwardAPI, projected } = source;
  if (emptyDir !== undefined) return { is: "empty", source: emptyDir, directory: EMPTY_DIRECTORIES };
  if (hostPath !== undefined) return { is: "host", source: hostPath };
  if (configMap !== undefined) return { is: "files", inMemory: false, directory: "kubernetes.io~configmap" };
  if (secret !== undefined) return { is: "files", inMemory: true, directory: "kubernetes.io~secret" };
  if (downwardAPI !== undefined) return { is: "files", inMemory: true, directory: "kubernetes.io~downward-api" };
  if (projected !== undefined) return { is: "files", inMemory: true, directory: "kubernetes.io~projected" };
  const [type] = Object.keys(source);
  // One that says nothing is empty, as the API server would have said for it.
  if (type === undefined) return { is: "empty", source: {}, directory: EMPTY_DIRECTORIES };
  throw new VolumeError(`volumes of type ${type} are not supported by this version`);
}

/** Whatever is least: what the node has, what the Pod may use, what the volume may hold. Undefined: nobody says. */
export function memoryBytes(pod: Pod, nodeAllocatable: ResourceList, sizeLimit?: string): number | undefined {
  const ofNode = bytesOf(nodeAllocatable["memory"]);
  const bounds = [ofNode, podMemoryLimit(pod), bytesOf(sizeLimit)].filter((bytes) => bytes !== undefined && bytes > 0);
  return bounds.length === 0 ? undefined : Math.min(...(bounds as number[]));
}

function bytesOf(text: string | undefined): number | undefined {
  return text === undefined ? undefined : quantityToNumber(readQuantity(text));
}

/** A Pod has a limit if it says so itself, or if each of its containers has one. */
function podMemoryLimit({ spec }: Pod): number | undefined {
  if (spec === undefined) return undefined;
  const own = bytesOf(spec.resources?.limits?.["memory"]);
  if (own !== undefined && own > 0) return own;
  const counted = allContainers({ ...spec, ephemeralContainers: [] }, "");
  const isLimited = counted.every(({ container }) => (bytesOf(container.resources?.limits?.["memory"]) ?? 0) > 0);
  const sum = isLimited ? aggregateOverContainers(spec, "limits").get("memory") : undefined;
  return sum === undefined ? undefined : quantityToNumber(sum);
}
