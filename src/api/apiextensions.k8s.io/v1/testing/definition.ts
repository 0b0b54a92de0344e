/** CustomResourceDefinitions for tests: a small valid one, and changes of it. */
import type { Json, JsonObject } from "../../../machinery/object.ts";
import type { Sent } from "../../../testing/kind.ts";

export const NAME = "crontabs.example.com";

export function aDefinition(spec: JsonObject = {}, metadata: JsonObject = {}): Sent {
  const names = { plural: "crontabs", kind: "CronTab" };
  return {
    metadata: { name: NAME, ...metadata },
    spec: { group: "example.com", scope: "Namespaced", names, versions: [aVersion()], ...spec },
  };
}

export function aVersion(version: JsonObject = {}): JsonObject {
  return { name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } }, ...version };
}

/** The only version, with additional members. */
export function withVersion(version: JsonObject): Sent {
  return aDefinition({ versions: [aVersion(version)] });
}

/** The only version, with this schema. */
export function withSchema(schema: Json, version: JsonObject = {}): Sent {
  return withVersion({ schema: { openAPIV3Schema: schema }, ...version });
}

/** Objects with a property `a` of this schema. */
export function withProperty(schema: Json): Sent {
  return withSchema({ type: "object", properties: { a: schema } });
}
