/**
 * Types of the Common Expression Language as the checker sees them. A type is a plain value: two types are the same if kind, name and
 * parameters are, so none is registered anywhere. Not here: assignability and inference (check/), and the fields of object types
 * (types/declaration.ts).
 */
export type Kind =
  | "any"
  | "bool"
  | "bytes"
  | "double"
  | "duration"
  | "dyn"
  | "error"
  | "int"
  | "list"
  | "map"
  | "null"
  | "object"
  | "opaque"
  | "parameter"
  | "string"
  | "timestamp"
  | "type"
  | "uint";

export interface CelType {
  readonly kind: Kind;
  /** The name at run time: "int", "list", "google.protobuf.Duration", that of an object type, or of a type parameter. */
  readonly name: string;
  /** Element of a list, key and value of a map, parameters of an opaque type. */
  readonly parameters: readonly CelType[];
  /** True if null may be assigned too: a wrapper type. */
  readonly nullable?: true;
}

function simple(kind: Kind, name: string): CelType {
  return { kind, name, parameters: [] };
}

export const ANY = simple("any", "google.protobuf.Any");
export const BOOL = simple("bool", "bool");
export const BYTES = simple("bytes", "bytes");
export const DOUBLE = simple("double", "double");
export const DURATION = simple("duration", "google.protobuf.Duration");
export const DYN = simple("dyn", "dyn");
export const ERROR = simple("error", "error");
export const INT = simple("int", "int");
export const NULL = simple("null", "null_type");
export const STRING = simple("string", "string");
export const TIMESTAMP = simple("timestamp", "google.protobuf.Timestamp");
export const TYPE = simple("type", "type");
export const UINT = simple("uint", "uint");

export function listOf(element: CelType): CelType {
  return { kind: "list", name: "list", parameters: [element] };
}

export function mapOf(key: CelType, value: CelType): CelType {
  return { kind: "map", name: "map", parameters: [key, value] };
}

/** A type with named fields. */
export function objectOf(name: string): CelType {
  return simple("object", name);
}

/** A type without accessible fields. */
export function opaqueOf(name: string, ...parameters: CelType[]): CelType {
  return { kind: "opaque", name, parameters };
}

const OPTIONAL_NAME = "optional_type";

export function optionalOf(type: CelType): CelType {
  return opaqueOf(OPTIONAL_NAME, type);
}

export function parameter(name: string): CelType {
  return simple("parameter", name);
}

export function typeOf(type: CelType): CelType {
  return { kind: "type", name: "type", parameters: [type] };
}

/** A wrapper type: the values of `type`, and null. */
export function nullableOf({ kind, name, parameters }: CelType): CelType {
  return { kind, name, parameters, nullable: true };
}

export function isOptional({ kind, name }: CelType): boolean {
  return kind === "opaque" && name === OPTIONAL_NAME;
}

export function isDyn({ kind }: CelType): boolean {
  return kind === "dyn" || kind === "any";
}

/** True if both types are identical. */
export function isSameType(a: CelType, b: CelType): boolean {
  if (a === b) return true;
  return (
    a.kind === b.kind &&
    a.name === b.name &&
    a.parameters.length === b.parameters.length &&
    a.parameters.every((type, index) => isSameType(type, b.parameters[index] ?? ERROR))
  );
}

/** The text that messages of the checker have: "list(int)", "timestamp", "null". */
export function formatType(type: CelType): string {
  switch (type.kind) {
    case "any":
      return "any";
    case "duration":
    case "timestamp":
    case "null":
      return type.kind;
    case "error":
      return "!error!";
    case "parameter":
      return type.name;
    default:
      return type.parameters.length === 0 ? declaredName(type) : `${type.name}(${type.parameters.map(formatType).join(", ")})`;
  }
}

/** The text that upstream's output types have: "list(int)", "google.protobuf.Timestamp", "null_type". */
export function typeText(type: CelType): string {
  if (type.kind === "parameter") return `<${type.name}>`;
  return type.parameters.length === 0 ? declaredName(type) : `${declaredName(type)}(${type.parameters.map(typeText).join(", ")})`;
}

function declaredName({ name, nullable }: CelType): string {
  return nullable === true ? `wrapper(${name})` : name;
}

/** The text of an overload's arguments in messages: "string.(int)" for members, "(string, int)" otherwise. */
export function formatArguments(types: readonly CelType[], { isMember }: { readonly isMember: boolean }): string {
  const [target, ...rest] = types;
  if (!isMember || target === undefined) return `(${types.map(formatType).join(", ")})`;
  return `${formatType(target)}.(${rest.map(formatType).join(", ")})`;
}
