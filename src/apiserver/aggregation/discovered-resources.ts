/**
 * Resources of an aggregated API server for aggregated discovery, from either form of its discovery document. Only known members of the
 * right type are kept: one broken document must not break that of all groups.
 */
import { isObject, type GroupVersion, type Json, type JsonObject } from "../../api/machinery/object.ts";

/** Of an APIGroupDiscoveryList (v2 or v2beta1); undefined: it does not have the version. */
export function resourcesInGroups(document: JsonObject, { group, version }: GroupVersion): readonly JsonObject[] | undefined {
  const found = objectsIn(document["items"]).find(({ metadata }) => isObject(metadata) && (metadata["name"] ?? "") === group);
  const entry = objectsIn(found?.["versions"]).find((candidate) => candidate["version"] === version);
  return entry === undefined ? undefined : objectsIn(entry["resources"]).flatMap(resourceOf);
}

function resourceOf(entry: JsonObject): readonly JsonObject[] {
  const { resource, scope, singularResource } = entry;
  if (typeof resource !== "string" || resource === "") return [];
  const subresources = objectsIn(entry["subresources"]).flatMap((subresource): readonly JsonObject[] => {
    const { subresource: name } = subresource;
    return typeof name === "string"
      ? [{ subresource: name, responseKind: kindOf(subresource["responseKind"]), verbs: textsIn(subresource["verbs"]) }]
      : [];
  });
  return [
    {
      resource,
      responseKind: kindOf(entry["responseKind"]),
      scope: scope === "Namespaced" ? "Namespaced" : "Cluster",
      singularResource: textOf(singularResource),
      verbs: textsIn(entry["verbs"]),
      ...namesOf(entry),
      ...(subresources.length === 0 ? {} : { subresources }),
    },
  ];
}

/** Of an APIResourceList, whose subresources are separate entries ("pods/log"). */
export function resourcesInList(document: JsonObject, place: GroupVersion): readonly JsonObject[] {
  const entries = objectsIn(document["resources"]).filter(({ name }) => typeof name === "string" && name !== "");
  const parents = entries.filter(({ name }) => !textOf(name).includes("/"));
  return parents.map((entry) => {
    const { name, namespaced } = entry;
    const subresources = entries
      .filter((candidate) => textOf(candidate["name"]).startsWith(`${textOf(name)}/`))
      .map((candidate) => ({
        subresource: textOf(candidate["name"]).slice(textOf(name).length + 1),
        responseKind: listedKind(candidate, place),
        verbs: textsIn(candidate["verbs"]),
      }));
    return {
      resource: textOf(name),
      responseKind: listedKind(entry, place),
      scope: namespaced === true ? "Namespaced" : "Cluster",
      singularResource: textOf(entry["singularName"]),
      verbs: textsIn(entry["verbs"]),
      ...namesOf(entry),
      ...(subresources.length === 0 ? {} : { subresources }),
    };
  });
}

/** Group and version are empty where they equal those of the enclosing entry. */
function listedKind({ group, version, kind }: JsonObject, place: GroupVersion): JsonObject {
  const isOwn = (textOf(group) || place.group) === place.group && (textOf(version) || place.version) === place.version;
  return isOwn ? { group: "", version: "", kind: textOf(kind) } : { group: textOf(group), version: textOf(version), kind: textOf(kind) };
}

function kindOf(value: Json | undefined): JsonObject {
  const { group, version, kind } = isObject(value) ? value : {};
  return { group: textOf(group), version: textOf(version), kind: textOf(kind) };
}

function namesOf(entry: JsonObject): JsonObject {
  const [shortNames, categories] = [textsIn(entry["shortNames"]), textsIn(entry["categories"])];
  return { ...(shortNames.length === 0 ? {} : { shortNames }), ...(categories.length === 0 ? {} : { categories }) };
}

function objectsIn(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? (value as readonly Json[]).filter((item): item is JsonObject => isObject(item)) : [];
}

function textsIn(value: Json | undefined): readonly string[] {
  return Array.isArray(value) ? (value as readonly Json[]).filter((text): text is string => typeof text === "string") : [];
}

function textOf(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}
