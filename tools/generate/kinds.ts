/** Computes the groups and versions of which a type is a kind. A type is one if apiVersion and kind are its first fields. */
import type { ApiPackage, ApiTables, ApiType } from "./api-tables.ts";

const TYPE_META = "meta.v1.TypeMeta";

/** Responses that are the same for the whole server are in the core group. */
const OF_CORE = ["APIGroup", "APIGroupList", "APIResourceList", "APIVersions", "Status"];
const OF_META = ["PartialObjectMetadata", "PartialObjectMetadataList", "Table", "TableOptions"];
/** Every group and version has these, because its paths accept or return them. */
const OF_ALL = ["CreateOptions", "DeleteOptions", "GetOptions", "ListOptions", "PatchOptions", "UpdateOptions", "WatchEvent"];

/** Only parts of responses. */
const WITHOUT_PATHS = ["meta.v1", "apidiscovery.v2"];

export function kindsOf({ name, group, version }: ApiPackage, type: ApiType, tables: ApiTables): readonly (readonly [string, string])[] {
  if (name === "meta.v1") return metaKindsOf(type.shortName, tables);
  return version !== "" && isKind(type) ? [[group, version]] : [];
}

export function isKind({ fields }: ApiType): boolean {
  return fields.some((field) => field.name === "" && field.form === TYPE_META);
}

function metaKindsOf(shortName: string, tables: ApiTables): readonly (readonly [string, string])[] {
  if (OF_CORE.includes(shortName)) return [["", "v1"]];
  if (OF_META.includes(shortName)) return [["meta.k8s.io", "v1"]];
  if (!OF_ALL.includes(shortName)) return [];
  const served = tables.packages.filter((one) => one.version !== "" && !WITHOUT_PATHS.includes(one.name));
  return served.map(({ group, version }) => [group, version] as const).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
}
