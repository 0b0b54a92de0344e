/**
 * The served resources by group and version, in discovery order: groups and versions by the priorities of their APIServices, resources by
 * name. Clients use the first match of a short name, so the order is significant.
 */
import type { GroupVersionKind, JsonObject } from "../../../api/machinery/object.ts";
import type { Resource, Subresource } from "../../../api/machinery/resource.ts";
import type { DynamicApi, DynamicResource } from "../../framework/apis/dynamic-api.ts";
import type { Aggregation, RemoteApi } from "../../framework/apis/aggregation.ts";
import { compareVersions } from "../../../api/machinery/version-order.ts";
import type { Endpoint } from "../../framework/endpoints.ts";

/** One of the documents. */
export type DiscoveryObject = JsonObject & { readonly kind: string; readonly apiVersion?: string };

export interface DiscoveredGroup {
  /** "" for the core group. */
  readonly name: string;
  /** Never empty; the first is preferred. */
  readonly versions: readonly DiscoveredVersion[];
}

export interface DiscoveredVersion {
  readonly version: string;
  readonly endpoints: readonly Endpoint[];
  /** Resources without an endpoint. Absent: none. */
  readonly dynamic?: readonly DynamicResource[];
  /** Set if another API server serves it; `endpoints` is then empty. */
  readonly remote?: RemoteApi;
  /** Set if only an APIService names it, and no server serves it. As upstream, only plain lists of groups contain it. */
  readonly isUnserved?: true;
}

/** What is served by other means than endpoints: by other API servers, or as data. */
export interface OtherApis {
  readonly aggregation: Aggregation;
  readonly dynamicApis: readonly DynamicApi[];
}

export function groupsOf(endpoints: Iterable<Endpoint>, { aggregation, dynamicApis }: OtherApis): readonly DiscoveredGroup[] {
  const groups = new Map<string, Map<string, DiscoveredVersion>>();
  const versionsOf = (group: string): Map<string, DiscoveredVersion> => {
    const versions = groups.get(group) ?? new Map<string, DiscoveredVersion>();
    groups.set(group, versions);
    return versions;
  };
  for (const endpoint of endpoints) {
    const { group, version } = endpoint.served;
    if (aggregation.remote(group, version) !== undefined) continue;
    const versions = versionsOf(group);
    versions.set(version, { version, endpoints: [...(versions.get(version)?.endpoints ?? []), endpoint] });
  }
  for (const api of dynamicApis) versionsOf(api.group).set(api.version, { version: api.version, endpoints: [], dynamic: api.resources() });
  for (const remote of aggregation.all()) versionsOf(remote.group).set(remote.version, { version: remote.version, endpoints: [], remote });
  for (const { group, version } of aggregation.local()) {
    if (group === "") continue;
    const versions = versionsOf(group);
    if (!versions.has(version)) versions.set(version, { version, endpoints: [], isUnserved: true });
  }
  const ranked = Array.from(groups, ([name, versions]) => rankedGroup(name, [...versions.values()], aggregation));
  return ranked.toSorted((a, b) => b.priority - a.priority || compareTexts(a.service, b.service)).map(({ group }) => group);
}

interface RankedGroup {
  readonly group: DiscoveredGroup;
  readonly priority: number;
  /** The APIService that gives it its priority: those of equal priority are in the order of these names. */
  readonly service: string;
}

function rankedGroup(name: string, versions: readonly DiscoveredVersion[], aggregation: Aggregation): RankedGroup {
  const ranked = versions.map((found) => ({
    found: { ...found, endpoints: found.endpoints.toSorted(byPlural) },
    priority: aggregation.priorityOf({ group: name, version: found.version }),
    service: `${found.version}.${name}`,
  }));
  const byVersion = ranked.toSorted((a, b) => b.priority.version - a.priority.version || compareVersions(a.found.version, b.found.version));
  const [first] = ranked.toSorted((a, b) => b.priority.group - a.priority.group || compareTexts(a.service, b.service));
  return {
    group: { name, versions: byVersion.map(({ found }) => found) },
    priority: first?.priority.group ?? 0,
    service: first?.service ?? "",
  };
}

function compareTexts(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

function byPlural(a: Endpoint, b: Endpoint): number {
  return a.resource.plural < b.resource.plural ? -1 : 1;
}

export interface DiscoveredSubresource {
  readonly name: string;
  readonly verbs: readonly string[];
  /** Request and response type. */
  readonly kind: GroupVersionKind;
}

const SCALE: GroupVersionKind = { group: "autoscaling", version: "v1", kind: "Scale" };

/** Sorted by name; those of custom resources as they are, the status first. */
export function subresourcesOf({ resource, served }: Endpoint): readonly DiscoveredSubresource[] {
  const all = Object.entries(resource.subresources).map(([name, subresource]) => ({
    name,
    verbs: sortedVerbs(subresource),
    kind: kindOf(subresource, resource, served),
  }));
  return resource.isTyped === false ? all : all.sort((a, b) => (a.name < b.name ? -1 : 1));
}

function kindOf(
  subresource: Subresource,
  { kind }: Resource,
  { group, version }: { readonly group: string; readonly version: string },
): GroupVersionKind {
  switch (subresource.of) {
    case "object":
      return { group, version, kind };
    case "scale":
      return SCALE;
    case "action":
      return kindAlone(subresource.takes);
    case "connection":
      return subresource.answersText === true ? { group, version, kind } : kindAlone(subresource.options);
  }
}

function kindAlone({ group, version, kind }: GroupVersionKind): GroupVersionKind {
  return { group, version, kind };
}

/** Upstream lists the verbs of custom resources in this order. */
const CUSTOM_VERBS: readonly string[] = ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"];

/** The verbs of a resource, in upstream's order. */
export function verbsOf({ verbs, isTyped }: Pick<Resource, "verbs" | "isTyped">): readonly string[] {
  return isTyped === false ? verbs.toSorted((a, b) => CUSTOM_VERBS.indexOf(a) - CUSTOM_VERBS.indexOf(b)) : sortedVerbs({ verbs });
}

function sortedVerbs({ verbs }: { readonly verbs: readonly string[] }): readonly string[] {
  return verbs.toSorted();
}
