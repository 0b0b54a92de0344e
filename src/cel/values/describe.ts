/** The type of a value at run time, and its text in error messages. */
import {
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  listOf,
  mapOf,
  NULL,
  optionalOf,
  STRING,
  TIMESTAMP,
  TYPE,
  UINT,
  type CelType,
} from "../types/type.ts";
import { Duration, ListValue, MapValue, OpaqueValue, Optional, Timestamp, TypeValue, Uint, type CelValue } from "./value.ts";
import { formatDouble, PRINTED_EXPONENT_FROM } from "./text.ts";
import { formatTimestamp } from "./time.ts";

const LIST = listOf(DYN);
const MAP = mapOf(DYN, DYN);
const OPTIONAL = optionalOf(DYN);

export function typeOfValue(value: CelValue): CelType {
  switch (typeof value) {
    case "boolean":
      return BOOL;
    case "string":
      return STRING;
    case "bigint":
      return INT;
    case "number":
      return DOUBLE;
    default:
      return value === null ? NULL : typeOfObject(value);
  }
}

function typeOfObject(value: Exclude<CelValue, null | boolean | string | bigint | number>): CelType {
  if (value instanceof ListValue) return LIST;
  if (value instanceof MapValue) return MAP;
  if (value instanceof Uint) return UINT;
  if (value instanceof Uint8Array) return BYTES;
  if (value instanceof Duration) return DURATION;
  if (value instanceof Timestamp) return TIMESTAMP;
  if (value instanceof Optional) return OPTIONAL;
  if (value instanceof TypeValue) return TYPE;
  return value.type;
}

export function typeNameOf(value: CelValue): string {
  return typeOfValue(value).name;
}

/** The text of a value in messages, as Go prints it. */
export function describe(value: CelValue): string {
  switch (typeof value) {
    case "boolean":
    case "string":
    case "bigint":
      return String(value);
    case "number":
      return formatDouble(value, PRINTED_EXPONENT_FROM);
    default:
      if (value === null) return "null";
      if (value instanceof Uint) return String(value.value);
      if (value instanceof Timestamp) return formatTimestamp(value);
      if (value instanceof OpaqueValue) return value.type.name;
      return typeNameOf(value);
  }
}

const GO_TYPES: ReadonlyMap<string, string> = new Map([
  ["google.protobuf.Duration", "types.Duration"],
  ["google.protobuf.Timestamp", "types.Timestamp"],
  ["null_type", "types.Null"],
  ["type", "*types.Type"],
  ["optional_type", "*types.Optional"],
  ...["bool", "bytes", "double", "int", "string", "uint"].map((name) => [name, `types.${name[0]?.toUpperCase()}${name.slice(1)}`] as const),
]);

/** The name of upstream's Go type, which some messages have. */
export function goTypeOf(value: CelValue): string {
  const name = typeNameOf(value);
  return GO_TYPES.get(name) ?? name;
}
