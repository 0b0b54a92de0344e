/** Which groups and versions have a kind with this type at its root. A type is one if it has the fields apiVersion and kind in front. */
import type { ApiPackage, ApiTables, ApiType } from "./api-tables.ts";

const TYPE_META = "meta.v1.TypeMeta";

/** Answers that are the same for the whole server are of the core group. */
const OF_CORE = ["APIGroup", "APIGroupList", "APIResourceList", "APIVersions", "Status"];
const OF_META = ["PartialObjectMetadata", "PartialObjectMetadataList", "Table", "TableOptions"];
/** Every group and version has these, because they are sent to its paths or by them. */
const OF_ALL = ["CreateOptions", "DeleteOptions", "GetOptions", "ListOptions", "PatchOptions", "UpdateOptions", "WatchEvent"];

/** Their types are only ever parts of answers. */
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
