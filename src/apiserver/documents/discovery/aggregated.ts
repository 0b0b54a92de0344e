/** Aggregated discovery: all resources under /api or /apis in one document (apidiscovery.k8s.io/v2). */
import type { GroupVersionKind } from "../../../api/machinery/object.ts";
import type { DynamicResource } from "../../framework/apis/dynamic-api.ts";
import type { Endpoint } from "../../framework/endpoints.ts";
import { subresourcesOf, type DiscoveredGroup, type DiscoveredVersion, type DiscoveryObject, verbsOf } from "./groups.ts";

export function apiGroupDiscoveryList(groups: readonly DiscoveredGroup[]): DiscoveryObject {
  return { kind: "APIGroupDiscoveryList", apiVersion: "apidiscovery.k8s.io/v2", metadata: {}, items: groups.map(groupEntry) };
}

function groupEntry({ name, versions }: DiscoveredGroup) {
  return {
    metadata: name === "" ? {} : { name },
    versions: versions.map(versionEntry),
  };
}

function versionEntry({ version, endpoints, dynamic = [], remote }: DiscoveredVersion) {
  if (remote === undefined)
    return { version, resources: [...endpoints.map(resourceEntry), ...dynamicEntries(dynamic)], freshness: "Current" };
  const { resources, freshness } = remote.discovery;
  return { version, ...(resources.length === 0 ? {} : { resources }), freshness };
}

/** A subresource without its resource has a parent without verbs, as upstream's aggregator makes it. */
function dynamicEntries(resources: readonly DynamicResource[]) {
  const parents = new Map<string, DynamicResource[]>();
  for (const resource of resources) {
    const [parent = ""] = resource.name.split("/");
    parents.set(parent, [...(parents.get(parent) ?? []), resource]);
  }
  return Array.from(parents, ([resource, own]) => {
    const scope = own[0]?.namespaced === true ? "Namespaced" : "Cluster";
    const itself = own.find(({ name }) => name === resource);
    const subresources = own
      .filter(({ name }) => name !== resource)
      .map(({ name, kind, verbs }) => ({
        subresource: name.slice(resource.length + 1),
        responseKind: { group: "", version: "", kind },
        verbs,
      }));
    return {
      resource,
      ...(itself === undefined ? {} : { responseKind: { group: "", version: "", kind: itself.kind } }),
      scope,
      singularResource: "",
      verbs: itself?.verbs ?? [],
      ...(subresources.length === 0 ? {} : { subresources }),
    };
  });
}

function resourceEntry(endpoint: Endpoint) {
  const { plural, singular, kind, scope, shortNames, categories } = endpoint.resource;
  const subresources = subresourcesOf(endpoint).map((subresource) => ({
    subresource: subresource.name,
    responseKind: responseKind(endpoint, subresource.kind),
    verbs: subresource.verbs,
  }));
  return {
    resource: plural,
    responseKind: responseKind(endpoint, { ...endpoint.served, kind }),
    scope: scope === "Namespaced" ? "Namespaced" : "Cluster",
    singularResource: singular,
    verbs: verbsOf(endpoint.resource),
    ...(shortNames.length === 0 ? {} : { shortNames }),
    ...(categories.length === 0 ? {} : { categories }),
    ...(subresources.length === 0 ? {} : { subresources }),
  };
}

/** Group and version of built-in kinds are empty where they equal those of the enclosing entry. */
function responseKind({ served, resource }: Endpoint, { group, version, kind }: GroupVersionKind) {
  const isOwn = resource.isTyped !== false && group === served.group && version === served.version;
  return isOwn ? { group: "", version: "", kind } : { group, version, kind };
}
