/** The limits of a CSINode, read once per version of it. */
import type { CSINode } from "../../../api/generated/storage.k8s.io/v1.ts";

const known = new WeakMap<CSINode, ReadonlyMap<string, number> | "none">();

/** Maximum volumes by driver; drivers without a limit are missing. Undefined: no limits at all. */
export function limitsOf(csiNode: CSINode): ReadonlyMap<string, number> | undefined {
  const cached = known.get(csiNode);
  if (cached !== undefined) return cached === "none" ? undefined : cached;
  const limits = new Map<string, number>();
  // null in the CSINode of a node without drivers, as upstream's kubelet writes it.
  const drivers: CSINode["spec"]["drivers"] | null = csiNode.spec.drivers;
  for (const { name, allocatable } of drivers ?? []) if (allocatable?.count !== undefined) limits.set(name, allocatable.count);
  known.set(csiNode, limits.size === 0 ? "none" : limits);
  return limits.size === 0 ? undefined : limits;
}
