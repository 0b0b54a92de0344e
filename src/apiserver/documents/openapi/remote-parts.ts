/** Merges the OpenAPI v2 documents of aggregated API servers into the server's own. */
import { isObject, type Json, type JsonObject } from "../../../api/machinery/object.ts";

const DEFINITION = "#/definitions/";

/** The document with the paths and definitions of the parts. A path of this server wins; another definition of a taken name is renamed. */
export function withRemoteParts(document: JsonObject, parts: readonly JsonObject[]): JsonObject {
  const paths: Record<string, Json | undefined> = { ...(document["paths"] as JsonObject) };
  const definitions: Record<string, Json | undefined> = { ...(document["definitions"] as JsonObject) };
  for (const part of parts) {
    const names = new Map<string, string>();
    const own = Object.entries(part["definitions"] as JsonObject);
    for (const [name, definition] of own) names.set(name, freeName(name, definition as Json, definitions));
    for (const [name, definition] of own) definitions[names.get(name) ?? name] ??= renamed(definition as Json, names);
    for (const [path, item] of Object.entries(part["paths"] as JsonObject)) paths[path] ??= renamed(item as Json, names);
  }
  return { ...document, paths: sorted(paths), definitions: sorted(definitions) };
}

/** Its own name if that is free or has the same content, otherwise upstream's form: NAME_v2, NAME_v3, … */
function freeName(name: string, definition: Json, taken: Readonly<Record<string, Json | undefined>>): string {
  const content = JSON.stringify(definition);
  for (let attempt = 1; ; attempt++) {
    const candidate = attempt === 1 ? name : `${name}_v${attempt}`;
    if (!Object.hasOwn(taken, candidate) || JSON.stringify(taken[candidate]) === content) return candidate;
  }
}

function renamed(value: Json, names: ReadonlyMap<string, string>): Json {
  if (Array.isArray(value)) return (value as readonly Json[]).map((item) => renamed(item, names));
  if (!isObject(value)) return value;
  const members = Object.entries(value).map(([key, member]) => {
    if (key !== "$ref" || typeof member !== "string") return [key, renamed(member as Json, names)] as const;
    const name = member.slice(DEFINITION.length);
    return [key, `${DEFINITION}${names.get(name) ?? name}`] as const;
  });
  return Object.fromEntries(members);
}

function sorted(members: Readonly<Record<string, Json | undefined>>): JsonObject {
  return Object.fromEntries(Object.entries(members).sort(([a], [b]) => (a < b ? -1 : 1)));
}
