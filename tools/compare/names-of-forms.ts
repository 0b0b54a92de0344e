/** The OpenAPI names of types that are not made of fields (Time, Quantity). Each has one schema, so that they are known by it. */
import type { Schema } from "../../src/api/machinery/schema.ts";
import { schemas } from "../../src/api/schemas.ts";

export const NAMES_OF_FORMS: ReadonlyMap<Schema | undefined, string> = new Map(
  [...schemas.names()].filter((name) => schemas.get(name)?.type !== "object").map((name) => [schemas.get(name), name]),
);
