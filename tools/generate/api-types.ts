/**
 * Generates the TypeScript types of the built-in API, one file per group and version: src/api/generated/apps/v1.ts. Everything is readonly;
 * what OpenAPI requires is required. A kind at the root always has apiVersion, kind and metadata, as the server returns it. The metadata of
 * all objects is handwritten (machinery/object.ts) and imported.
 * Type aliases, not interfaces: only an alias of an object type is assignable to JsonObject.
 */
import { type ApiField, type ApiPackage, type ApiTables, type ApiType, packageNameOf, readApiTables, shortNameOf } from "./api-tables.ts";
import { type Documentation, readDocumentation } from "./documentation.ts";
import type { GeneratedFile, Generator } from "./generator.ts";
import { kindsOf } from "./kinds.ts";

/** Types of meta/v1 that are defined in machinery/object.ts. */
const BY_HAND = ["ListMeta", "ManagedFieldsEntry", "ObjectMeta", "OwnerReference"].map((name) => `meta.v1.${name}`);
const METADATA = ["meta.v1.ObjectMeta", "meta.v1.ListMeta"];

const TYPE_SCRIPT_OF: Readonly<Record<string, string>> = {
  boolean: "boolean",
  int32: "number",
  int64: "number",
  double: "number",
  "int-or-string": "number | string",
  string: "string",
  byte: "string",
  "date-time": "string",
  "micro-time": "string",
  duration: "string",
  quantity: "string",
  "fields-v1": "Json",
  "raw-extension": "Json",
  any: "Json",
  json: "Json",
  "json-schema-or-array": "Json",
  "json-schema-or-bool": "Json",
  "json-schema-or-string-array": "Json",
};

export const apiTypes: Generator = {
  async generate(root) {
    const tables = readApiTables(root);
    const documentation = readDocumentation(root, tables);
    return tables.packages.filter(({ version }) => version !== "").map((one) => new TypesFile(one, tables, documentation).file());
  },
};

class TypesFile {
  private readonly one: ApiPackage;
  private readonly tables: ApiTables;
  private readonly documentation: Documentation;
  /** Imported names by module. */
  private readonly imports = new Map<string, Set<string>>();

  constructor(one: ApiPackage, tables: ApiTables, documentation: Documentation) {
    this.one = one;
    this.tables = tables;
    this.documentation = documentation;
  }

  file(): GeneratedFile {
    const types = this.one.types.filter(({ name }) => !BY_HAND.includes(name)).map((type) => this.typeOf(type));
    const imports = [...this.imports].map(([module, names]) => `import type { ${[...names].sort().join(", ")} } from "${module}";\n`);
    const opening = `/** Generated from the tables and packages of types by tools/generate/api-types.ts. */\n`;
    return {
      path: `src/api/generated/${folderOf(this.one)}/${this.one.version}.ts`,
      text: `${opening}${imports.sort().join("")}\n${types.join("\n")}`,
    };
  }

  private typeOf(type: ApiType): string {
    const members = this.membersOf(type, type);
    return members.length === 0
      ? `export type ${type.shortName} = Readonly<Record<string, never>>;\n`
      : `export type ${type.shortName} = {\n${members.map((member) => `  readonly ${member};\n`).join("")}};\n`;
  }

  /** Of a type, or of one whose fields are inlined in those of `root`. */
  private membersOf(type: ApiType, root: ApiType): string[] {
    const documented = this.documentation.ofType(type.name)?.fields;
    const [kind, another] = kindsOf(this.one, root, this.tables);
    return type.fields.flatMap((field) => {
      if (field.form === "meta.v1.TypeMeta" && kind !== undefined && another === undefined) return typeMetaOf(kind, root.shortName);
      if (field.name === "") return this.membersOf(this.tables.typeOf(field.form), root);
      const text = this.typeText(field.form, documented?.get(field.name)?.enum ?? []);
      return METADATA.includes(field.form) ? [metadataOf(field, text, kind !== undefined)] : [`${memberName(field)}: ${text}`];
    });
  }

  private typeText(form: string, values: readonly string[]): string {
    const inner = form.slice(2);
    if (form.startsWith("[]") || form.startsWith("()")) {
      const items = this.typeText(inner, values);
      return `readonly ${items.includes(" ") ? `(${items})` : items}[]`;
    }
    if (form.startsWith("{}")) return `Readonly<Record<string, ${this.typeText(inner, values)}>>`;
    if (values.length > 0) return values.map((value) => JSON.stringify(value)).join(" | ");
    const basic = TYPE_SCRIPT_OF[form];
    if (basic === undefined) return this.reference(form);
    return basic === "Json" ? this.imported("../../machinery/object.ts", "Json") : basic;
  }

  private reference(form: string): string {
    const name = shortNameOf(form);
    if (BY_HAND.includes(form)) return this.imported("../../machinery/object.ts", name);
    if (packageNameOf(form) === this.one.name) return name;
    const other = this.tables.packageOf(form);
    return this.imported(
      folderOf(other) === folderOf(this.one) ? `./${other.version}.ts` : `../${folderOf(other)}/${other.version}.ts`,
      name,
    );
  }

  private imported(module: string, name: string): string {
    const names = this.imports.get(module) ?? new Set();
    this.imports.set(module, names.add(name));
    return name;
  }
}

/** The group as in apiVersion; "core" and "meta" for the two without one. */
function folderOf({ name, group }: ApiPackage): string {
  return name === "core.v1" ? "core" : name === "meta.v1" ? "meta" : group;
}

function typeMetaOf([group, version]: readonly [string, string], kind: string): string[] {
  return [`apiVersion: "${group === "" ? version : `${group}/${version}`}"`, `kind: "${kind}"`];
}

/** A type that is not a kind itself (a Pod template) needs no name. */
function metadataOf(field: ApiField, text: string, isRoot: boolean): string {
  return isRoot ? `${field.name}: ${text}` : `${field.name}?: Partial<${text}>`;
}

function memberName({ name, required }: ApiField): string {
  return `${/^\w+$/.test(name) ? name : JSON.stringify(name)}${required ? "" : "?"}`;
}
