/**
 * Generates the schemas of the built-in API as one compact text, from the tables and the enumerations of the packages: src/api/schemas.ts
 * reads it.
 */
import type { FieldDetails, FieldRow, TypeRow } from "../../src/api/schemas.ts";
import type { Field } from "../../src/api/machinery/schema.ts";
import { type ApiField, type ApiTables, type ApiType, readApiTables } from "./api-tables.ts";
import { type Documentation, readDocumentation } from "./documentation.ts";
import type { Generator } from "./generator.ts";
import { kindsOf } from "./kinds.ts";
import { stringLiteral } from "./string-literal.ts";

export const schemaData: Generator = {
  async generate(root) {
    const tables = readApiTables(root);
    const literal = stringLiteral(schemaTextOf(tables, readDocumentation(root, tables)));
    const text = `/** Generated from the tables and packages of types by tools/generate/schema-data.ts. */\nexport const schemaData =\n  ${literal};\n`;
    return [{ path: "src/api/generated/schema-data.ts", text }];
  },
};

/** Exported for its test. */
export function schemaTextOf(tables: ApiTables, documentation: Documentation): string {
  const packages = tables.packages.map(({ name, openApi }) => `${name}\t${openApi}`);
  const types = tables.packages.flatMap((one) =>
    one.types.map((type) => `${type.name}\t${JSON.stringify(typeRow(type, kindsOf(one, type, tables), documentation))}`),
  );
  return `${packages.join("\n")}\n\n${types.join("\n")}`;
}

function typeRow(type: ApiType, kinds: NonNullable<TypeRow["kinds"]>, documentation: Documentation): TypeRow {
  const documented = documentation.ofType(type.name)?.fields;
  return {
    fields: type.fields.map((field) => fieldRow(field, documented?.get(field.name)?.enum ?? [])),
    ...(type.atomic && { atomic: 1 }),
    ...(type.inProtobuf && { protobuf: 1 }),
    ...(kinds.length > 0 && { kinds }),
  };
}

function fieldRow({ name, form, number, zero, ...field }: ApiField, values: readonly string[]): FieldRow {
  if (name === "") return [name, form, number];
  const details = detailsOf(field, values);
  return Object.keys(details).length === 0 ? [name, form, number, zero] : [name, form, number, zero, details];
}

function detailsOf(field: Omit<ApiField, "name" | "form" | "number" | "zero">, values: readonly string[]): FieldDetails {
  return {
    ...(field.required && { required: 1 }),
    ...(field.merge !== "" && { merge: field.merge }),
    ...(field.patchStrategy.length > 0 && { patchStrategy: field.patchStrategy as NonNullable<Field["patchStrategy"]> }),
    ...(field.patchMergeKey !== "" && { patchMergeKey: field.patchMergeKey }),
    ...(field.default !== "" && { default: JSON.parse(field.default) }),
    ...(values.length > 0 && { enum: values }),
  };
}
