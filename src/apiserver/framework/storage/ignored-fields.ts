/** Fields that a path of a resource cannot own for its field manager. */
import type { IgnoredFields } from "../../../api/machinery/apply/managed-fields.ts";
import type { Endpoint } from "../endpoints.ts";

const STATUS: IgnoredFields = [["status"]];
const NOT_STATUS: IgnoredFields = [["spec"]];
const NOTHING: IgnoredFields = [];

/** The main path cannot write the status, and the status path cannot write the spec, so neither owns it. */
export function ignoredFields({ resource }: Endpoint, subresource: string): IgnoredFields {
  if (subresource === "" && resource.ignoredFields !== undefined) return resource.ignoredFields;
  const path = Object.hasOwn(resource.subresources, subresource) ? resource.subresources[subresource] : undefined;
  if (path?.of === "object" && path.ignoredFields !== undefined) return path.ignoredFields;
  if (subresource === "status") return NOT_STATUS;
  return Object.hasOwn(resource.subresources, "status") ? STATUS : NOTHING;
}
