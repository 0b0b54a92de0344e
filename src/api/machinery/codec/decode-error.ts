/**
 * A value does not fit its schema, or a text is malformed, with the message of upstream's decoder. The client gets it with a prefix that
 * depends on the verb (body-error.ts).
 */
import type { ObjectSchema, Schema } from "../schema.ts";

export class DecodeError extends Error {
  override readonly name = "DecodeError";
}

/** Position of the decoder: the members and indexes of the path, and the schema of each enclosing value. */
export interface Place {
  readonly path: readonly (string | number)[];
  readonly owners: readonly Schema[];
}

/** "json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32". */
export function wrongType({ path, owners }: Place, found: Found, expected: string): DecodeError {
  const fields: string[] = [];
  let struct: string | undefined;
  owners.forEach((owner, level) => {
    const member = path[level];
    if (owner.type !== "object" || typeof member !== "string") return;
    struct = shortName(owner);
    fields.push(...inlinedNames(owner, member), member);
  });
  const target = struct === undefined ? "Go value" : `Go struct field ${struct}.${fields.join(".")}`;
  return new DecodeError(`json: cannot unmarshal ${describe(found, expected)} into ${target} of type ${expected}`);
}

export interface Found {
  readonly value: unknown;
  /** Spelling of a number, if it is not the canonical one. */
  readonly literal?: string | undefined;
}

/** Name of the schema's Go type. Upstream's names for string types (v1.RestartPolicy) are not known here. */
export function goType(schema: Schema): string {
  switch (schema.type) {
    case "object":
      return `${schema.name?.split(".").at(-2) ?? "v1"}.${shortName(schema)}`;
    case "map":
      return `map[string]${goType(schema.values)}`;
    case "list":
      return `[]${goType(schema.items)}`;
    case "integer":
      return schema.format === "int32" ? "int32" : "int64";
    case "number":
      return "float64";
    case "boolean":
      return "bool";
    case "string":
      if (schema.format === "quantity") return "resource.Quantity";
      return schema.format === "byte" ? "[]uint8" : schema.format === "int-or-string" ? "intstr.IntOrString" : "string";
    case "any":
      return "runtime.RawExtension";
  }
}

function shortName(schema: ObjectSchema): string {
  return schema.name?.split(".").at(-1) ?? "";
}

/** Go includes structs that are inlined in JSON in the path, with the name of their type. */
function inlinedNames(schema: ObjectSchema, member: string): readonly string[] {
  for (const field of schema.protobuf ?? []) {
    if ("inlined" in field && field.inlined.fields.has(member)) {
      return [shortName(field.inlined), ...inlinedNames(field.inlined, member)];
    }
  }
  return [];
}

/** The number itself is quoted where a number was expected: then its form or size is wrong. */
function describe({ value: found, literal }: Found, expected: string): string {
  if (typeof found === "number" || typeof found === "bigint")
    return /^(?:u?int|float)/.test(expected) ? `number ${literal ?? found}` : "number";
  if (typeof found === "boolean") return "bool";
  if (typeof found === "string") return "string";
  return Array.isArray(found) ? "array" : "object";
}
