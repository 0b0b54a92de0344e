/** The unaggregated discovery documents: one of all groups, one per group, one per group and version. */
import { encodeBase64 } from "../../../api/machinery/codec/base64.ts";
import { apiVersionOf, type GroupVersion } from "../../../api/machinery/object.ts";
import { sha256 } from "../../../base/crypto/hash.ts";
import type { Endpoint } from "../../framework/endpoints.ts";
import { subresourcesOf, type DiscoveredGroup, type DiscoveryObject, type DiscoveredVersion, verbsOf } from "./groups.ts";

/** /api. Server addresses per client CIDR are omitted: the client already uses one that works. */
export function apiVersions(core: DiscoveredGroup | undefined): DiscoveryObject {
  const versions = core?.versions.map(({ version }) => version) ?? [];
  return { kind: "APIVersions", versions, serverAddressByClientCIDRs: [] };
}

/** /apis: all groups but the core group. */
export function apiGroupList(groups: readonly DiscoveredGroup[]): DiscoveryObject {
  return { kind: "APIGroupList", apiVersion: "v1", groups: groups.map(groupEntry) };
}

/** /apis/GROUP. */
export function apiGroup(group: DiscoveredGroup): DiscoveryObject {
  return { kind: "APIGroup", apiVersion: "v1", ...groupEntry(group) };
}

function groupEntry({ name, versions }: DiscoveredGroup) {
  const entries = versions.map(({ version }) => ({ groupVersion: apiVersionOf({ group: name, version }), version }));
  return { name, versions: entries, ...(entries[0] === undefined ? {} : { preferredVersion: entries[0] }) };
}

/** /api/v1, /apis/GROUP/VERSION. */
export function apiResourceList(group: string, { version, endpoints, dynamic = [] }: DiscoveredVersion): DiscoveryObject {
  return {
    kind: "APIResourceList",
    // Upstream omits it for the core group.
    ...(group === "" ? {} : { apiVersion: "v1" }),
    groupVersion: apiVersionOf({ group, version }),
    resources: [
      ...endpoints.flatMap((endpoint) => [resourceEntry(endpoint), ...subresourceEntries(endpoint)]),
      ...dynamic.map(({ name, namespaced, kind, verbs }) => ({ name, singularName: "", namespaced, kind, verbs })),
    ],
  };
}

function resourceEntry({ resource }: Endpoint) {
  const { plural, singular, scope, kind, shortNames, categories, storage, stored } = resource;
  return {
    name: plural,
    singularName: singular,
    namespaced: scope === "Namespaced",
    kind,
    verbs: verbsOf(resource),
    ...(shortNames.length === 0 ? {} : { shortNames }),
    ...(categories.length === 0 ? {} : { categories }),
    ...(stored ? { storageVersionHash: storageVersionHash(storage, kind) } : {}),
  };
}

/** Equal for the same storage version on every server: storage version migrators compare it. */
function storageVersionHash({ group, version }: GroupVersion, kind: string): string {
  return encodeBase64(sha256(new TextEncoder().encode(`${group}/${version}/${kind}`)).subarray(0, 8));
}

function subresourceEntries(endpoint: Endpoint) {
  const { resource, served } = endpoint;
  return subresourcesOf(endpoint).map(({ name, verbs, kind: { group, version, kind } }) => ({
    name: `${resource.plural}/${name}`,
    singularName: "",
    namespaced: resource.scope === "Namespaced",
    ...(group === served.group && version === served.version ? {} : { group, version }),
    kind,
    verbs,
  }));
}
