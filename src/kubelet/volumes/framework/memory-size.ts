/** Size of a tmpfs volume. */
import type { Pod } from "../../../api/generated/core/v1.ts";
import { allContainers } from "../../../api/core/v1/pod/containers.ts";
import { aggregateOverContainers, readQuantity, type ResourceList } from "../../../api/core/v1/pod/resource-list.ts";
import { quantityToNumber } from "../../../api/machinery/quantity.ts";

/** The smallest of the node's memory, the Pod's limit and the volume's own `sizeLimit`; undefined if none is set. */
export function memoryBytes(pod: Pod, nodeAllocatable: ResourceList, sizeLimit?: string): number | undefined {
  const ofNode = bytesOf(nodeAllocatable["memory"]);
  const bounds = [ofNode, podMemoryLimit(pod), bytesOf(sizeLimit)].filter((bytes) => bytes !== undefined && bytes > 0);
  return bounds.length === 0 ? undefined : Math.min(...(bounds as number[]));
}

function bytesOf(text: string | undefined): number | undefined {
  return text === undefined ? undefined : quantityToNumber(readQuantity(text));
}

/** A Pod is limited by its own limit, or by the sum if each of its containers has one. */
function podMemoryLimit({ spec }: Pod): number | undefined {
  if (spec === undefined) return undefined;
  const own = bytesOf(spec.resources?.limits?.["memory"]);
  if (own !== undefined && own > 0) return own;
  const counted = allContainers({ ...spec, ephemeralContainers: [] }, "");
  const isLimited = counted.every(({ container }) => (bytesOf(container.resources?.limits?.["memory"]) ?? 0) > 0);
  const sum = isLimited ? aggregateOverContainers(spec, "limits").get("memory") : undefined;
  return sum === undefined ? undefined : quantityToNumber(sum);
}
