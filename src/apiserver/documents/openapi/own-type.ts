/** Types of a document that are not derived from a schema of the API: they define themselves, in either version of OpenAPI. Types only. */
import type { Descriptions } from "../../../api/descriptions.ts";
import type { JsonObject } from "../../../api/machinery/object.ts";

export type Dialect = "v2" | "v3";

export interface OwnType {
  define(target: DefinitionTarget): JsonObject;
  /** The referenced types. */
  readonly references: readonly string[];
}

export interface DefinitionTarget {
  readonly dialect: Dialect;
  readonly descriptions: Descriptions;
  reference(name: string): JsonObject;
}
