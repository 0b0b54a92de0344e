/** The endpoint and subresource of a resource request: looked up once per request, so that all stages work on the same definition. */
import type { Subresource } from "../../../api/machinery/resource.ts";
import type { Endpoint, Endpoints } from "../endpoints.ts";

export interface ResolvedResource {
  /** Absent: the resource is not served. */
  readonly endpoint: Endpoint | undefined;
  /** Absent: the request is for the object itself, or the resource has no such subresource. */
  readonly subresource: Subresource | undefined;
}

export interface RequestedResource {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  /** "" for the object itself. */
  readonly subresource: string;
}

export function resolveResource(
  endpoints: Pick<Endpoints, "find">,
  { group, version, plural, subresource }: RequestedResource,
): ResolvedResource {
  const endpoint = endpoints.find(group, version, plural);
  if (endpoint === undefined || subresource === "") return { endpoint, subresource: undefined };
  const { subresources } = endpoint.resource;
  return { endpoint, subresource: Object.hasOwn(subresources, subresource) ? subresources[subresource] : undefined };
}
