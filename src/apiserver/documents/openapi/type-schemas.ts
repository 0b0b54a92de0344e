/**
 * Types as OpenAPI schemas in both versions: from the schemas that decoding and patching use, with descriptions. Version 2 has no defaults,
 * and allows siblings of a reference; in version 3 a reference is alone or inside `allOf`. Results are cached per type, since most
 * documents share most types.
 */
import type { Descriptions } from "../../../api/descriptions.ts";
import type { GroupVersionKind, JsonObject, Json } from "../../../api/machinery/object.ts";
import type { Field, ObjectSchema, Schema, SchemaSet } from "../../../api/machinery/schema.ts";
import type { Dialect, OwnType } from "./own-type.ts";
import type { NamedParameter } from "./query-parameters.ts";

/** Named types without fields, and their format. */
const NAMED_FORMS: Readonly<Record<string, Readonly<Record<Dialect, JsonObject>>>> = {
  "io.k8s.apimachinery.pkg.api.resource.Quantity": {
    v2: { type: "string" },
    v3: { oneOf: [{ type: "string" }, { type: "number" }] },
  },
  "io.k8s.apimachinery.pkg.apis.meta.v1.Duration": both({ type: "string" }),
  "io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1": both({ type: "object" }),
  "io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime": both({ type: "string", format: "date-time" }),
  "io.k8s.apimachinery.pkg.apis.meta.v1.Time": both({ type: "string", format: "date-time" }),
  "io.k8s.apimachinery.pkg.runtime.RawExtension": both({ type: "object" }),
  "io.k8s.apimachinery.pkg.util.intstr.IntOrString": {
    v2: { type: "string", format: "int-or-string" },
    v3: { format: "int-or-string", oneOf: [{ type: "integer" }, { type: "string" }] },
  },
  "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON": both({}),
  "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrArray": both({}),
  "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrBool": both({}),
  "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrStringArray": both({}),
};

function both(form: JsonObject): Readonly<Record<Dialect, JsonObject>> {
  return { v2: form, v3: form };
}

const REFERENCE: Readonly<Record<Dialect, string>> = { v2: "#/definitions/", v3: "#/components/schemas/" };

/** A reference to a type, as operations use it. */
export function reference(dialect: Dialect, name: string): JsonObject {
  return { $ref: `${REFERENCE[dialect]}${name}` };
}

export interface DescribedType {
  readonly definition: JsonObject;
  /** The referenced types. */
  readonly references: ReadonlySet<string>;
}

export interface TypeSchemasOptions {
  readonly dialect: Dialect;
  readonly schemas: SchemaSet;
  readonly descriptions: Descriptions;
}

export class TypeSchemas {
  readonly #options: TypeSchemasOptions;
  readonly #known = new WeakMap<Schema | OwnType, DescribedType>();
  readonly #formNames: ReadonlyMap<Schema | undefined, string>;

  constructor(options: TypeSchemasOptions) {
    this.#options = options;
    // One schema object per form, so that identity identifies it.
    this.#formNames = new Map(Object.keys(NAMED_FORMS).map((name) => [options.schemas.get(name), name]));
  }

  /** Returns the definitions of these types and all they reference, by name. `own` are types outside the common set. */
  reachable(names: Iterable<string>, own: ReadonlyMap<string, ObjectSchema | OwnType>): ReadonlyMap<string, JsonObject> {
    const found = new Map<string, JsonObject>();
    const waiting = [...names];
    for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
      if (found.has(name)) continue;
      const type = own.get(name) ?? this.#options.schemas.get(name);
      const { definition, references } = type !== undefined && "define" in type ? this.#define(type) : this.#describe(name, type);
      found.set(name, definition);
      waiting.push(...references);
    }
    return new Map([...found].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  /** Converts the fields of a type to query parameters; only scalars and lists of scalars are included. */
  parametersOf(typeName: string): readonly NamedParameter[] {
    const { schemas, descriptions } = this.#options;
    const schema = schemas.get(typeName);
    const fields = schema?.type === "object" ? [...schema.fields.values()] : [];
    return fields.flatMap(({ name, schema: form }) => {
      const { type } = form.type === "list" ? form.items : form;
      const isScalar = (type === "string" || type === "boolean" || type === "integer") && this.#nameOf(form) === undefined;
      if (!isScalar || name === "kind" || name === "apiVersion") return [];
      return [{ name, in: "query" as const, type, description: descriptions.ofField(typeName, name) }];
    });
  }

  #define(type: OwnType): DescribedType {
    const known = this.#known.get(type);
    if (known !== undefined) return known;
    const { dialect, descriptions } = this.#options;
    const definition = type.define({ dialect, descriptions, reference: (name) => reference(dialect, name) });
    const made = { definition, references: new Set(type.references) };
    this.#known.set(type, made);
    return made;
  }

  #describe(name: string, schema: Schema | undefined): DescribedType {
    if (schema === undefined) throw new Error(`Cannot describe the type ${name}: it does not exist`);
    const known = this.#known.get(schema);
    if (known !== undefined) return known;
    const description = this.#options.descriptions.ofType(name)?.description ?? "";
    const references = new Set<string>();
    const form = schema.type === "object" ? this.#object(schema, references) : NAMED_FORMS[name]?.[this.#options.dialect];
    if (form === undefined) throw new Error(`Cannot describe the type ${name}: it is neither an object nor a known format`);
    const made = { definition: { ...(description === "" ? {} : { description }), ...form }, references };
    this.#known.set(schema, made);
    return made;
  }

  #object(schema: ObjectSchema, references: Set<string>): JsonObject {
    const { name = "", fields, required, atomic, preserveUnknownFields, groupVersionKinds } = schema;
    const properties = [...fields.values()]
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .map((field) => [field.name, this.#property(name, field, references)] as const);
    const union = this.#options.descriptions.ofType(name)?.union;
    return {
      type: "object",
      ...(required.length === 0 ? {} : { required }),
      ...(properties.length === 0 ? {} : { properties: Object.fromEntries(properties) }),
      ...(groupVersionKinds === undefined ? {} : { "x-kubernetes-group-version-kind": kindsValue(groupVersionKinds) }),
      ...(atomic === true ? { "x-kubernetes-map-type": "atomic" } : {}),
      ...(preserveUnknownFields === true ? { "x-kubernetes-preserve-unknown-fields": true } : {}),
      ...(union === undefined ? {} : { "x-kubernetes-unions": [unionValue(union)] }),
    };
  }

  #property(typeName: string, field: Field, references: Set<string>): JsonObject {
    const { name, schema, zero, atomic, patchStrategy, patchMergeKey } = field;
    const { descriptions } = this.#options;
    const isDeclared = descriptions.ofType(typeName)?.undeclaredLists?.includes(name) !== true;
    return this.#value(schema, references, {
      description: descriptions.ofField(typeName, name),
      default: field.default ?? (zero === "write" ? zeroOf(schema) : undefined),
      extensions: {
        ...(schema.type === "list" && isDeclared ? listExtensions(schema) : {}),
        ...(patchMergeKey === undefined ? {} : { "x-kubernetes-patch-merge-key": patchMergeKey }),
        ...(patchStrategy === undefined ? {} : { "x-kubernetes-patch-strategy": patchStrategy.join(",") }),
        ...mapExtension(schema.type === "map" && schema.atomic === true ? true : atomic),
      },
    });
  }

  #value(schema: Schema, references: Set<string>, { description = "", default: value, extensions = {} }: Beside): JsonObject {
    const { dialect } = this.#options;
    const beside = {
      ...(description === "" ? {} : { description }),
      ...(value === undefined || dialect === "v2" ? {} : { default: value }),
    };
    const name = this.#nameOf(schema);
    if (name === undefined) return { ...beside, ...this.#inline(schema, references), ...extensions };
    references.add(name);
    const to = reference(dialect, name);
    if (dialect === "v2") return { ...beside, ...to, ...extensions };
    return Object.keys(beside).length + Object.keys(extensions).length === 0 ? to : { ...beside, allOf: [to], ...extensions };
  }

  /** For unnamed types. */
  #inline(schema: Schema, references: Set<string>): JsonObject {
    switch (schema.type) {
      case "object":
        return this.#object(schema, references);
      case "list":
        return { type: "array", items: this.#value(schema.items, references, { default: zeroOf(schema.items) }) };
      case "map":
        return { type: "object", additionalProperties: this.#value(schema.values, references, { default: zeroOf(schema.values) }) };
      case "any":
        return {};
      default: {
        const { type, format } = schema;
        return { type, ...(format === undefined ? {} : { format }), ...(schema.enum === undefined ? {} : { enum: schema.enum }) };
      }
    }
  }

  #nameOf(schema: Schema): string | undefined {
    return schema.type === "object" ? schema.name : this.#formNames.get(schema);
  }
}

/** Siblings of a value's schema. */
interface Beside {
  readonly description?: string;
  readonly default?: Json | undefined;
  readonly extensions?: JsonObject;
}

/** Go's zero value; nothing for types whose zero is null. */
function zeroOf(schema: Schema): Json | undefined {
  switch (schema.type) {
    case "object":
      return {};
    case "string":
      return schema.format === undefined ? "" : undefined;
    case "integer":
    case "number":
      return 0;
    case "boolean":
      return false;
    default:
      return undefined;
  }
}

function listExtensions({ listType, mapKeys }: Extract<Schema, { readonly type: "list" }>): JsonObject {
  return { ...(mapKeys === undefined ? {} : { "x-kubernetes-list-map-keys": mapKeys }), "x-kubernetes-list-type": listType };
}

function mapExtension(atomic: boolean | undefined): JsonObject {
  return atomic === undefined ? {} : { "x-kubernetes-map-type": atomic ? "atomic" : "granular" };
}

export function kindsValue(kinds: readonly GroupVersionKind[]): readonly JsonObject[] {
  return kinds.map(({ group, version, kind }) => ({ group, kind, version }));
}

function unionValue({ discriminator, members }: { readonly discriminator?: string; readonly members: readonly string[] }): JsonObject {
  const names = members.toSorted().map((member) => [member, member.charAt(0).toUpperCase() + member.slice(1)] as const);
  return { ...(discriminator === undefined ? {} : { discriminator }), "fields-to-discriminateBy": Object.fromEntries(names) };
}
