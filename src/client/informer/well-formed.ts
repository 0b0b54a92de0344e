/** Minimal validation of received objects: the types state what should come over the wire, not what does. */
import type { KubeObject } from "../../api/machinery/object.ts";
import { isResourceVersion } from "../../api/machinery/resource-version.ts";

/** Whether it has a name and a resourceVersion. */
export function isWellFormed(object: Partial<KubeObject>): boolean {
  const metadata: Partial<KubeObject["metadata"]> | null | undefined = object.metadata;
  if (typeof metadata !== "object" || metadata === null) return false;
  const { name, namespace = "", resourceVersion } = metadata;
  if (typeof name !== "string" || name === "" || typeof namespace !== "string") return false;
  return typeof resourceVersion === "string" && isResourceVersion(resourceVersion);
}
