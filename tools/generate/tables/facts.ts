/**
 * Turns Go types into rows of the tables: JSON name and protobuf number of a field, its type, the encoding of its zero value, and merge
 * semantics. The form of a value is written as the generator reads it: `string`, `int32`, `core.v1.Container`, `[]x` a list of x, `{}x` a
 * map of x, `()x` a list that is a separate message in protobuf.
 */
import type { GoField, GoPackage, GoType } from "./go-source.ts";

export interface Packages {
  /** By import path. */
  get(path: string): GoPackage | undefined;
  /** "core.v1" of "k8s.io/api/core/v1"; undefined for packages that only define strings and numbers. */
  shortNameOf(path: string): string | undefined;
  isMessage(path: string, type: string): boolean;
}

/** Scope for resolving a name in a Go file. */
interface Scope {
  readonly path: string;
  readonly type: GoType;
}

/** Types with their own encoding. The forms are those of Schema.format, or the name of the scalar. */
const FORMS_OF_THEIR_OWN = new Map([
  ["k8s.io/apimachinery/pkg/apis/meta/v1.Time", "date-time"],
  ["k8s.io/apimachinery/pkg/apis/meta/v1.MicroTime", "micro-time"],
  ["k8s.io/apimachinery/pkg/apis/meta/v1.Duration", "duration"],
  ["k8s.io/apimachinery/pkg/apis/meta/v1.FieldsV1", "fields-v1"],
  ["k8s.io/apimachinery/pkg/api/resource.Quantity", "quantity"],
  ["k8s.io/apimachinery/pkg/util/intstr.IntOrString", "int-or-string"],
  ["k8s.io/apimachinery/pkg/runtime.RawExtension", "raw-extension"],
  ["k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.JSON", "json"],
  ["k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.JSONSchemaPropsOrArray", "json-schema-or-array"],
  ["k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.JSONSchemaPropsOrBool", "json-schema-or-bool"],
  ["k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.JSONSchemaPropsOrStringArray", "json-schema-or-string-array"],
]);

const SCALARS = new Map([
  ["string", "string"],
  ["bool", "boolean"],
  ["int32", "int32"],
  ["int64", "int64"],
  ["int", "int64"],
  ["float64", "double"],
  ["[]byte", "byte"],
  ["interface{}", "any"],
]);

export function hasFormOfItsOwn(path: string, type: string): boolean {
  return FORMS_OF_THEIR_OWN.has(`${path}.${type}`);
}

export function formOf(goType: string, scope: Scope, packages: Packages): string {
  if (goType.startsWith("*")) return formOf(goType.slice(1), scope, packages);
  const scalar = SCALARS.get(goType);
  if (scalar !== undefined) return scalar;
  if (goType.startsWith("[]")) return `[]${formOf(goType.slice(2), scope, packages)}`;
  const [, values] = /^map\[[\w.]+\](.*)$/.exec(goType) ?? [];
  if (values !== undefined) return `{}${formOf(values, scope, packages)}`;
  return formOfNamed(goType, scope, packages);
}

function formOfNamed(goType: string, scope: Scope, packages: Packages): string {
  const { path, type } = resolve(goType, scope, packages);
  const own = FORMS_OF_THEIR_OWN.get(`${path}.${type.name}`);
  if (own !== undefined) return own;
  if (type.underlying === undefined) return `${packages.shortNameOf(path)}.${type.name}`;
  const form = formOf(type.underlying, { path, type }, packages);
  return form.startsWith("[]") && packages.isMessage(path, type.name) ? `()${form.slice(2)}` : form;
}

function resolve(goType: string, scope: Scope, packages: Packages): Scope {
  const [first = "", second] = goType.split(".");
  const path = second === undefined ? scope.path : scope.type.imports.get(first);
  const type = packages.get(path ?? "")?.types.get(second ?? first);
  if (path === undefined || type === undefined)
    throw new Error(`Cannot find the Go type ${goType} that ${scope.path}.${scope.type.name} names`);
  return { path, type };
}

/** The fields of a struct, or of the struct that it aliases. */
export function fieldsOf(scope: Scope, packages: Packages): { readonly scope: Scope; readonly fields: readonly GoField[] } | undefined {
  if (scope.type.fields !== undefined) return { scope, fields: scope.type.fields };
  if (scope.type.underlying === undefined || !/^[\w.]+$/.test(scope.type.underlying) || SCALARS.has(scope.type.underlying))
    return undefined;
  const path = scope.type.imports.get(scope.type.underlying.split(".")[0] ?? "") ?? scope.path;
  return packages.get(path) === undefined ? undefined : fieldsOf(resolve(scope.type.underlying, scope, packages), packages);
}

/**
 * One row: type, field, number, form, zero, required, merge, strategy, mergeKey, default. A struct that is inlined in JSON has no field
 * name; without a number it is absent from protobuf (TypeMeta).
 */
export function rowOf(name: string, field: GoField, scope: Scope, packages: Packages): string[] {
  const protobuf = (field.tags.get("protobuf") ?? "").split(",");
  const number = protobuf[1] ?? "";
  const [jsonName = "", ...jsonOptions] = (field.tags.get("json") ?? "").split(",");
  const form = formOf(field.goType, scope, packages);
  if (jsonOptions.includes("inline")) return [name, "", number, form];
  const jsonOrProtobufName = jsonName !== "" && jsonName !== "-" ? jsonName : protobuf.find((part) => part.startsWith("name="))?.slice(5);
  if (jsonOrProtobufName === undefined) return [];
  const first = (marker: string): string => field.markers.get(marker)?.[0] ?? "";
  const isOptional = !field.markers.has("required") && (field.markers.has("optional") || jsonOptions.includes("omitempty"));
  return [
    name,
    jsonOrProtobufName,
    number,
    form,
    zeroOf(field.goType, form, jsonOptions),
    isOptional ? "" : "required",
    mergeOf(field),
    field.tags.get("patchStrategy") ?? first("patchStrategy"),
    field.tags.get("patchMergeKey") ?? first("patchMergeKey"),
    defaultOf(first("default"), scope, packages),
  ];
}

function zeroOf(goType: string, form: string, jsonOptions: readonly string[]): "keep" | "omit" | "write" {
  if (goType.startsWith("*")) return "keep";
  const omitsEmpty = jsonOptions.includes("omitempty");
  if (/^(\[\]|\{\}|\(\)|byte$)/.test(form)) return omitsEmpty ? "omit" : "keep";
  if (jsonOptions.includes("omitzero")) return "omit";
  // Go ignores omitempty for structs: only basic types have an empty value.
  return omitsEmpty && /^(string|boolean|int32|int64|double)$/.test(form) ? "omit" : "write";
}

/** "set", "map:type,name" and "atomic" for lists; "atomic" and "granular" for maps and structs. */
function mergeOf({ markers }: GoField): string {
  const keys = markers.get("listMapKey");
  const type = markers.get("listType")?.[0] ?? markers.get("mapType")?.[0] ?? markers.get("structType")?.[0] ?? "";
  return type === "map" && keys !== undefined ? `map:${keys.join(",")}` : type;
}

function defaultOf(value: string, scope: Scope, packages: Packages): string {
  const [, constant] = /^ref\((\w+)\)$/.exec(value) ?? [];
  return constant === undefined ? value : JSON.stringify(packages.get(scope.path)?.textConstants.get(constant));
}
