/** OpenAPI names of types without fields (Time, Quantity). Each has one schema object, which identifies it. */
import type { Schema } from "../../src/api/machinery/schema.ts";
import { schemas } from "../../src/api/schemas.ts";

export const SCALAR_NAMES: ReadonlyMap<Schema | undefined, string> = new Map(
  [...schemas.names()].filter((name) => schemas.get(name)?.type !== "object").map((name) => [schemas.get(name), name]),
);
