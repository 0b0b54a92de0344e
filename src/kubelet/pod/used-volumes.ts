/**
 * The volumes of a Pod that a container uses. Unused ones need not exist and block nothing. An ephemeral container that is added later may
 * be the first to use one.
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
