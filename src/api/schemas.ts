/**
 * The schemas of all built-in types, by their OpenAPI names. They are stored as one text (generated/schema-data.ts) with a line per type; a
 * type and those it references are parsed and linked on first use, since a process never needs most of them. Not here: descriptions
 * (generated/descriptions.ts), which only documents for people need.
 */
import { schemaData } from "./generated/schema-data.ts";
import type { GroupVersionKind, Json } from "./machinery/object.ts";
import type {
  AnySchema,
  ChoiceSchema,
  Field,
  ListSchema,
  ObjectSchema,
  ProtobufField,
  ScalarSchema,
  Schema,
  SchemaSet,
} from "./machinery/schema.ts";

/**
 * Format of the generated text (written by tools/generate/schema-data.ts): lines of a name, a tab and JSON, with short type names. First
 * the packages, "core.v1⇥io.k8s.api.core.v1"; then an empty line; then the types, "core.v1.Pod⇥" and a TypeRow.
 */
export interface TypeRow {
  readonly fields: readonly FieldRow[];
  readonly atomic?: 1;
  readonly protobuf?: 1;
  /** Groups and versions of the kind with this type; the kind has its name. */
  readonly kinds?: readonly (readonly [group: string, version: string])[];
}

/** Without a name: an inlined struct. Without a number (0): not in protobuf. */
export type FieldRow = readonly [name: string, form: string, number: number, zero?: Field["zero"], more?: FieldDetails];

export interface FieldDetails {
  readonly required?: 1;
  /** "set", "map:key,key", "atomic", "granular". */
  readonly merge?: string;
  readonly patchStrategy?: NonNullable<Field["patchStrategy"]>;
  readonly patchMergeKey?: string;
  readonly default?: Json;
  readonly enum?: readonly string[];
}

/** Types that are not structs: their OpenAPI name and their abbreviation. */
const NAMED_FORMS: ReadonlyMap<string, string> = new Map([
  ["io.k8s.apimachinery.pkg.api.resource.Quantity", "quantity"],
  ["io.k8s.apimachinery.pkg.apis.meta.v1.Duration", "duration"],
  ["io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1", "fields-v1"],
  ["io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime", "micro-time"],
  ["io.k8s.apimachinery.pkg.apis.meta.v1.Time", "date-time"],
  ["io.k8s.apimachinery.pkg.runtime.RawExtension", "raw-extension"],
  ["io.k8s.apimachinery.pkg.util.intstr.IntOrString", "int-or-string"],
  ["io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON", "json"],
  ["io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrArray", "json-schema-or-array"],
  ["io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrBool", "json-schema-or-bool"],
  ["io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrStringArray", "json-schema-or-string-array"],
]);

/** Shared values, so that two fields of the same form have the identical schema. */
const BASIC_FORMS: ReadonlyMap<string, ScalarSchema | AnySchema> = new Map<string, ScalarSchema | AnySchema>([
  ["string", { type: "string" }],
  ["boolean", { type: "boolean" }],
  ["int32", { type: "integer", format: "int32" }],
  ["int64", { type: "integer", format: "int64" }],
  ["double", { type: "number", format: "double" }],
  ["byte", { type: "string", format: "byte" }],
  ["date-time", { type: "string", format: "date-time" }],
  ["micro-time", { type: "string", format: "micro-time" }],
  ["duration", { type: "string", format: "duration" }],
  ["quantity", { type: "string", format: "quantity" }],
  ["int-or-string", { type: "string", format: "int-or-string" }],
  ["raw-extension", { type: "any", format: "raw-extension" }],
  ["fields-v1", { type: "any", format: "fields-v1" }],
  ["any", { type: "any", format: "json" }],
  ["json", { type: "any", format: "json" }],
]);

/** Types that are an object or another value in JSON: names and fields of their messages. */
const CHOICES: ReadonlyMap<string, { readonly name: string; readonly object: FieldRow; readonly other: FieldRow }> = new Map([
  [
    "json-schema-or-array",
    {
      name: "JSONSchemaPropsOrArray",
      object: ["schema", "apiextensions.v1.JSONSchemaProps", 1, "keep"],
      other: ["jSONSchemas", "[]apiextensions.v1.JSONSchemaProps", 2, "keep"],
    },
  ],
  [
    "json-schema-or-bool",
    {
      name: "JSONSchemaPropsOrBool",
      object: ["schema", "apiextensions.v1.JSONSchemaProps", 2, "keep"],
      other: ["allows", "boolean", 1, "write"],
    },
  ],
  [
    "json-schema-or-string-array",
    {
      name: "JSONSchemaPropsOrStringArray",
      object: ["schema", "apiextensions.v1.JSONSchemaProps", 1, "keep"],
      other: ["property", "[]string", 2, "keep"],
    },
  ],
]);

/** Exported for its test: parses the set of types from a text. */
export function linkSchemas(text: string): SchemaSet {
  let linker: Linker | undefined;
  const needed = (): Linker => (linker ??= new Linker(text));
  return {
    get: (name) => needed().get(name),
    names: () => needed().names(),
  };
}

class Linker {
  /** OpenAPI names of packages by short name, and the reverse. */
  private readonly openApiPackages: ReadonlyMap<string, string>;
  private readonly shortPackages: ReadonlyMap<string, string>;
  /** JSON of TypeRows by short name. */
  private readonly rows: ReadonlyMap<string, string>;
  private readonly linked = new Map<string, ObjectSchema>();
  private readonly linkedChoices = new Map<string, ChoiceSchema>();

  constructor(text: string) {
    const [packages = "", types = ""] = text.split("\n\n");
    this.openApiPackages = new Map(linesOf(packages));
    this.shortPackages = new Map(linesOf(packages).map(([short, openApi]) => [openApi, short]));
    this.rows = new Map(linesOf(types));
  }

  names(): Iterable<string> {
    return [...[...this.rows.keys()].map((short) => this.openApiNameOf(short)), ...NAMED_FORMS.keys()];
  }

  get(name: string): Schema | undefined {
    const { before, last } = splitAtLastDot(name);
    const short = `${this.shortPackages.get(before)}.${last}`;
    const form = this.rows.has(short) ? short : NAMED_FORMS.get(name);
    return form === undefined ? undefined : this.schemaOf(form, {});
  }

  private openApiNameOf(short: string): string {
    const { before, last } = splitAtLastDot(short);
    return `${this.openApiPackages.get(before)}.${last}`;
  }

  private schemaOf(form: string, details: FieldDetails): Schema {
    if (form.startsWith("[]") || form.startsWith("()")) return this.listOf(form, details);
    if (form.startsWith("{}")) {
      const values = this.schemaOf(form.slice(2), { ...details, merge: "" });
      return { type: "map", values, ...(details.merge === "atomic" && { atomic: true }) };
    }
    const basic = BASIC_FORMS.get(form);
    if (basic === undefined) return this.choiceOf(form) ?? this.objectOf(form);
    return details.enum === undefined ? basic : { ...(basic as ScalarSchema), enum: details.enum };
  }

  private listOf(form: string, details: FieldDetails): ListSchema {
    const [listType = "", keys] = (details.merge ?? "").split(":");
    return {
      type: "list",
      items: this.schemaOf(form.slice(2), { ...details, merge: "" }),
      listType: listType === "map" || listType === "set" ? listType : "atomic",
      ...(keys !== undefined && { mapKeys: keys.split(",") }),
      ...(form.startsWith("()") && { wrappedInProtobuf: true }),
    };
  }

  private choiceOf(form: string): ChoiceSchema | undefined {
    const known = this.linkedChoices.get(form);
    const choice = CHOICES.get(form);
    if (known !== undefined || choice === undefined) return known;
    const { name, object, other } = choice;
    const fields = new Map<string, Field>();
    const protobuf: ProtobufField[] = [];
    const message: ObjectSchema = { type: "object", name, fields, required: [], protobuf };
    const schema: ChoiceSchema = { type: "any", format: "choice", message, objectField: object[0], otherField: other[0] };
    // Registered before its fields are linked, as types are.
    this.linkedChoices.set(form, schema);
    for (const field of [object, other]) this.addField(field, { fields, required: [], protobuf });
    protobuf.sort((a, b) => a.number - b.number);
    return schema;
  }

  private objectOf(short: string): ObjectSchema {
    const known = this.linked.get(short);
    if (known !== undefined) return known;
    const text = this.rows.get(short);
    if (text === undefined) throw new Error(`The schema data names the type ${JSON.stringify(short)} and does not have it`);
    const row = JSON.parse(text) as TypeRow;
    const name = this.openApiNameOf(short);
    const fields = new Map<string, Field>();
    const required: string[] = [];
    const protobuf: ProtobufField[] = [];
    const kinds = row.kinds?.map(([group, version]): GroupVersionKind => ({ group, version, kind: splitAtLastDot(short).last }));
    const schema: ObjectSchema = {
      type: "object",
      name,
      fields,
      required,
      ...(row.atomic === 1 && { atomic: true }),
      ...(kinds !== undefined && { groupVersionKinds: kinds }),
      ...(row.protobuf === 1 && { protobuf }),
    };
    // Registered before its fields are linked: types may be recursive.
    this.linked.set(short, schema);
    for (const field of row.fields) this.addField(field, { fields, required, protobuf });
    protobuf.sort((a, b) => a.number - b.number);
    return schema;
  }

  private addField([name, form, number, zero = "keep", details = {}]: FieldRow, to: Linking): void {
    if (name === "") {
      const inlined = this.objectOf(form);
      for (const [key, field] of inlined.fields) to.fields.set(key, field);
      to.required.push(...inlined.required);
      if (number !== 0) to.protobuf.push({ number, inlined });
      return;
    }
    const schema = this.schemaOf(form, details);
    to.fields.set(name, { name, schema, zero, ...fieldDetails(schema, details) });
    if (details.required === 1) to.required.push(name);
    if (number !== 0) to.protobuf.push({ number, field: name });
  }
}

function linesOf(text: string): [string, string][] {
  return text.split("\n").map((line) => {
    const tab = line.indexOf("\t");
    return [line.slice(0, tab), line.slice(tab + 1)];
  });
}

/** "io.k8s.api.core.v1" and "Pod". */
function splitAtLastDot(name: string): { readonly before: string; readonly last: string } {
  const dot = name.lastIndexOf(".");
  return { before: name.slice(0, Math.max(dot, 0)), last: name.slice(dot + 1) };
}

interface Linking {
  readonly fields: Map<string, Field>;
  readonly required: string[];
  readonly protobuf: ProtobufField[];
}

function fieldDetails(schema: Schema, { merge, patchStrategy, patchMergeKey, default: value }: FieldDetails): Partial<Field> {
  const declaresAtomic = schema.type === "object" && (merge === "atomic" || merge === "granular");
  return {
    ...(declaresAtomic && { atomic: merge === "atomic" }),
    ...(patchStrategy !== undefined && { patchStrategy }),
    ...(patchMergeKey !== undefined && { patchMergeKey }),
    ...(value !== undefined && { default: value }),
  };
}

export const schemas: SchemaSet = linkSchemas(schemaData);

/** The schema of a struct type. Throws if no type has that name: the names are constants of the source. */
export function schemaOf(name: string): ObjectSchema {
  const schema = schemas.get(name);
  if (schema?.type !== "object") throw new Error(`There is no built-in type ${JSON.stringify(name)} that is made of fields`);
  return schema;
}
