/**
 * Where other volumes are mounted inside a volume of files. Such a volume is read-only to its containers, so a runtime cannot create these
 * directories itself: they are created before.
 */
import type { Pod } from "../../../api/generated/core/v1.ts";
import { allContainers } from "../../../api/core/v1/pod/containers.ts";

/** Paths relative to the volume. A mount point inside another one is omitted: it is created inside that volume. */
export function nestedMountPoints({ spec }: Pod, volumeName: string): readonly string[] {
  if (spec === undefined) return [];
  const nested = new Set<string>();
  for (const { container } of allContainers(spec, "")) {
    const mounts = container.volumeMounts ?? [];
    const all = mounts.map(({ mountPath }) => namesOf(mountPath));
    for (const own of mounts.filter(({ name }) => name === volumeName).map(({ mountPath }) => namesOf(mountPath))) {
      const inside = all.filter((other) => isInside(other, own));
      const outer = inside.filter((path) => !inside.some((other) => isInside(path, other)));
      for (const path of outer) nested.add(path.slice(own.length).join("/"));
    }
  }
  return [...nested].toSorted();
}

/** Of a path in a container, which nothing leads out of. */
function namesOf(path: string): readonly string[] {
  const names: string[] = [];
  for (const name of path.split("/")) {
    if (name === "..") names.pop();
    else if (name !== "" && name !== ".") names.push(name);
  }
  return names;
}

function isInside(path: readonly string[], other: readonly string[]): boolean {
  return path.length > other.length && other.every((name, index) => path[index] === name);
}
