/** Values as text that tests compare: the type of every number is visible, and maps are sorted. */
import { formatDouble } from "../values/text.ts";
import { formatTimestamp } from "../values/time.ts";
import {
  CelError,
  Duration,
  ListValue,
  MapValue,
  Optional,
  Timestamp,
  TypeValue,
  Uint,
  type CelResult,
  type CelValue,
} from "../values/value.ts";

export function show(value: CelResult | undefined): string {
  if (value === undefined) return "undefined";
  if (value === null) return "null";
  switch (typeof value) {
    case "boolean":
    case "bigint":
      return String(value);
    case "number":
      return `double(${formatDouble(value)})`;
    case "string":
      return JSON.stringify(value).replaceAll(/[<>&]/g, (character) => `\\u00${character.charCodeAt(0).toString(16)}`);
    default:
      return showObject(value);
  }
}

function showObject(value: Exclude<CelValue, null | boolean | bigint | number | string> | CelError): string {
  if (value instanceof CelError) return `error(${value.message})`;
  if (value instanceof Uint) return `${value.value}u`;
  if (value instanceof Uint8Array) return `bytes(${Array.from(value, (byte) => byte.toString(16).padStart(2, "0")).join("")})`;
  if (value instanceof Duration) return `duration(${value.nanoseconds})`;
  if (value instanceof Timestamp) return `timestamp(${formatTimestamp(new Timestamp(value.nanoseconds))})`;
  if (value instanceof TypeValue) return `type(${value.type.name})`;
  if (value instanceof Optional) return value.value === undefined ? "optional.none" : `optional(${show(value.value)})`;
  if (value instanceof ListValue) return `[${Array.from({ length: value.size }, (_, index) => show(value.at(index))).join(", ")}]`;
  if (value instanceof MapValue) {
    const entries = value.keys().map((key) => `${show(key)}: ${show(value.find(key))}`);
    return `{${entries.toSorted().join(", ")}}`;
  }
  return value.type.name === "kubernetes.Quantity" ? `quantity(${String(value.toJson())})` : value.type.name;
}
