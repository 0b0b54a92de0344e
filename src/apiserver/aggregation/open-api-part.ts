/** The part of an aggregated API server's OpenAPI v2 document that is about one group and version, with the definitions that it uses. */
import { isObject, type GroupVersion, type Json, type JsonObject } from "../../api/machinery/object.ts";
import { discoveryPath } from "./api-service.ts";

const DEFINITION = "#/definitions/";

/** Undefined: it has nothing about it. */
export function openApiPart(document: JsonObject, place: GroupVersion): JsonObject | undefined {
  const { paths, definitions } = document;
  if (!isObject(paths)) return undefined;
  const prefix = `${discoveryPath(place)}/`;
  const own = Object.entries(paths).filter(([path, item]) => path.startsWith(prefix) && isObject(item));
  if (own.length === 0) return undefined;
  const all = isObject(definitions) ? definitions : {};
  const used = new Set<string>();
  const waiting: Json[] = own.map(([, item]) => item as Json);
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    for (const name of referencesIn(value)) {
      if (used.has(name)) continue;
      used.add(name);
      const definition = Object.hasOwn(all, name) ? all[name] : undefined;
      if (definition !== undefined) waiting.push(definition);
    }
  }
  const kept = Object.entries(all).filter(([name, definition]) => used.has(name) && isObject(definition));
  return { paths: Object.fromEntries(own), definitions: Object.fromEntries(kept) };
}

function referencesIn(value: Json): readonly string[] {
  if (Array.isArray(value)) return (value as readonly Json[]).flatMap(referencesIn);
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, member]) => {
    if (key === "$ref" && typeof member === "string") return member.startsWith(DEFINITION) ? [member.slice(DEFINITION.length)] : [];
    return member === undefined ? [] : referencesIn(member);
  });
}
