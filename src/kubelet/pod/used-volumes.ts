/**
 * Which volumes of a Pod there have to be: those that a container has a use for. What nobody uses need not exist, and holds up nothing. An
 * ephemeral container may come later and be the first that uses one.
 */
import type { Pod, Volume } from "../../api/generated/core/v1.ts";
import { allContainers } from "../../api/core/v1/pod/containers.ts";

export function usedVolumes({ spec }: Pod): readonly Volume[] {
  if (spec === undefined) return [];
  const used = new Set<string>();
  for (const { container } of allContainers(spec, "spec"))
    for (const { name } of [...(container.volumeMounts ?? []), ...(container.volumeDevices ?? [])]) used.add(name);
  return (spec.volumes ?? []).filter(({ name }) => used.has(name));
}
