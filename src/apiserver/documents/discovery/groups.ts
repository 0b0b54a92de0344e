/**
 * The served resources by group and version, in discovery order: groups in order of addition, versions with the preferred one first,
 * resources by name. Clients use the first match of a short name, so the order is significant.
 */
import type { GroupVersionKind, JsonObject } from "../../../api/machinery/object.ts";
import type { Resource, Subresource } from "../../../api/machinery/resource.ts";
import type { DynamicApi, DynamicResource } from "../../framework/apis/dynamic-api.ts";
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
}

export function groupsOf(endpoints: Iterable<Endpoint>): readonly DiscoveredGroup[] {
  const groups = new Map<string, Map<string, Endpoint[]>>();
  for (const endpoint of endpoints) {
    const { group, version } = endpoint.served;
    const versions = groups.get(group) ?? new Map<string, Endpoint[]>();
    groups.set(group, versions.set(version, [...(versions.get(version) ?? []), endpoint]));
  }
  return Array.from(groups, ([name, versions]) => ({
    name,
    versions: Array.from(versions, ([version, served]) => ({ version, endpoints: served.toSorted(byPlural) })).sort((a, b) =>
      compareVersions(a.version, b.version),
    ),
  }));
}

/** Groups whose resources are data. */
export function dynamicGroupsOf(apis: readonly DynamicApi[]): readonly DiscoveredGroup[] {
  const names = [...new Set(apis.map(({ group }) => group))];
  return names.map((name) => ({
    name,
    versions: apis
      .filter(({ group }) => group === name)
      .map((api) => ({ version: api.version, endpoints: [], dynamic: api.resources() }))
      .sort((a, b) => compareVersions(a.version, b.version)),
  }));
}

function byPlural(a: Endpoint, b: Endpoint): number {
  return a.resource.plural < b.resource.plural ? -1 : 1;
}

/** v2 before v1 before v2beta1 before v1beta2 before v1alpha1; non-Kubernetes versions come last, alphabetically. */
export function compareVersions(a: string, b: string): number {
  const [one, other] = [rankOf(a), rankOf(b)];
  if (one === undefined || other === undefined) return Number(one === undefined) - Number(other === undefined) || (a < b ? -1 : 1);
  return other.stability - one.stability || other.major - one.major || other.minor - one.minor;
}

const STABILITIES = ["alpha", "beta", undefined];

function rankOf(version: string): { readonly stability: number; readonly major: number; readonly minor: number } | undefined {
  const match = /^v([1-9]\d*)(?:(alpha|beta)([1-9]\d*))?$/.exec(version);
  if (match === null) return undefined;
  return { stability: STABILITIES.indexOf(match[2]), major: Number(match[1]), minor: Number(match[3] ?? 0) };
}

export interface DiscoveredSubresource {
  readonly name: string;
  readonly verbs: readonly string[];
  /** Request and response type. */
  readonly kind: GroupVersionKind;
}

const SCALE: GroupVersionKind = { group: "autoscaling", version: "v1", kind: "Scale" };

/** Sorted by name. */
export function subresourcesOf({ resource, served }: Endpoint): readonly DiscoveredSubresource[] {
  return Object.entries(resource.subresources)
    .map(([name, subresource]) => ({ name, verbs: sortedVerbs(subresource), kind: kindOf(subresource, resource, served) }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
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

export function sortedVerbs({ verbs }: { readonly verbs: readonly string[] }): readonly string[] {
  return verbs.toSorted();
}
