import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { packageDirectory } from "../../src/testing/package-directory.ts";
import { type ApiType, readApiTables } from "./api-tables.ts";
import { documentationOf, parseDeclaration, readDocumentation } from "./documentation.ts";

const root = packageDirectory(import.meta.dirname);
const tables = readApiTables(root);

const DECLARATION = `import { ModelData, TypeMeta } from "base";
/**
 * Widget is a thing.
 *
 * It has \\*parts\\*, see "\\*\\/part".
 * @deprecated
 */
export interface IWidget extends TypeMeta {
    "apiVersion": "v1";
    "kind": "Widget";
    /**
     * Sides that it has.
     *
     * Possible enum values:
     *  - \`"left"\`
     */
    "sides"?: Array<"left" | "right">;
    "parts": {
        [key: string]: IPart;
    };
    /**
     * Its name.
     */
    "name": string;
}
/**
 * Widget is a class.
 */
export declare class Widget extends Model<IWidget> implements IWidget {
    "other"?: string;
}
`;

test("descriptions and enumerations are read from a declaration, without comment markers", () => {
  deepEqual(parseDeclaration(DECLARATION, "Widget"), {
    description: 'Widget is a thing.\n\nIt has *parts*, see "*/part".',
    fields: new Map([
      ["apiVersion", { description: "", enum: [] }],
      ["kind", { description: "", enum: [] }],
      ["sides", { description: 'Sides that it has.\n\nPossible enum values:\n - `"left"`', enum: ["left", "right"] }],
      ["parts", { description: "", enum: [] }],
      ["name", { description: "Its name.", enum: [] }],
    ]),
  });
});

test("an alias of string has a description", () => {
  const text = "/**\n * Time is an instant.\n */\nexport type ITime = string;\nexport type Time = ITime;\n";

  deepEqual(parseDeclaration(text, "Time"), { description: "Time is an instant.", fields: new Map() });
});

test("the packages and the tables have the same fields, so they are of the same version", () => {
  const compared = tables.packages.flatMap((one) =>
    one.types.flatMap((type) => {
      const documentation = documentationOf(root, one, type.shortName);
      if (documentation === undefined) return [];
      deepEqual([...documentation.fields.keys()].sort(), fieldNames(type).sort(), type.name);
      return [type.name];
    }),
  );

  equal(compared.length > 550, true, `only ${compared.length} types are in both`);
});

test("a type that is only inlined is documented by the types that inline it", () => {
  const documentation = readDocumentation(root, tables);

  deepEqual(documentation.ofType("core.v1.EphemeralContainerCommon")?.fields.get("imagePullPolicy")?.enum, [
    "Always",
    "IfNotPresent",
    "Never",
  ]);
  equal(documentation.ofType("meta.v1.Table"), undefined);
});

function fieldNames({ fields }: ApiType): string[] {
  return fields.flatMap(({ name, form }) => (name === "" ? fieldNames(tables.typeOf(form)) : [name]));
}
