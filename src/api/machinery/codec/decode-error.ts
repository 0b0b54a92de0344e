/**
 * A value does not fit its schema, or its text is not what it should be, said as upstream's decoder says it. What the client gets is
 * this sentence with a beginning that depends on the verb (body-error.ts).
 */
import type { ObjectSchema, Schema } from "../schema.ts";

export class DecodeError extends Error {
  override readonly name = "DecodeError";
}

/** Where in a value the decoder is: the members and indexes that lead there, and the schema of the value that each is in. */
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
  /** How a number was spelt, if that is not how it would be written. */
  readonly literal?: string | undefined;
}

/** What the schema's Go type is called. Upstream's own names for kinds of strings (v1.RestartPolicy) are not known here. */
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

/** Go counts structs that are inlined in JSON as steps of the way, with the name of their type. */
function inlinedNames(schema: ObjectSchema, member: string): readonly string[] {
  for (const field of schema.protobuf ?? []) {
    if ("inlined" in field && field.inlined.fields.has(member)) {
      return [shortName(field.inlined), ...inlinedNames(field.inlined, member)];
    }
  }
  return [];
}

/** The number itself is told where a number was expected: then it is its form or size that is wrong. */
function describe({ value: found, literal }: Found, expected: string): string {
  if (typeof found === "number" || typeof found === "bigint")
    return /^(?:u?int|float)/.test(expected) ? `number ${literal ?? found}` : "number";
  if (typeof found === "boolean") return "bool";
  if (typeof found === "string") return "string";
  return Array.isArray(found) ? "array" : "object";
}
