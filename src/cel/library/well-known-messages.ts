/**
 * The messages of google.protobuf that expressions may create. Each becomes the value that it stands for, as upstream:
 * `google.protobuf.Int32Value{value: 1}` an int, `google.protobuf.Struct{fields: m}` a map with doubles. Not here: the content of Any, which
 * upstream decodes by the name of its type.
 */
import { typeNameOf } from "../values/describe.ts";
import { ArrayList, EntryMap } from "../values/containers.ts";
import { toJson } from "../values/json.ts";
import { spend } from "../values/meter.ts";
import { textOf } from "../values/text.ts";
import { CelError, Duration, ListValue, MapValue, Timestamp, Uint, type CelResult, type CelValue } from "../values/value.ts";
import {
  ANY,
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  listOf,
  mapOf,
  nullableOf,
  STRING,
  TIMESTAMP,
  UINT,
  type CelType,
} from "../types/type.ts";

/** Steps to convert one element: an entry of a map is made, and its value inspected. */
const ELEMENT_STEPS = 100;

interface Field {
  readonly type: CelType;
  /** Converts a value to what the message stores. */
  read(value: CelValue): CelResult;
}

interface Message {
  readonly type: CelType;
  readonly fields: Readonly<Record<string, Field>>;
  /** The value of a message with these fields; the others are absent. */
  value(fields: Readonly<Record<string, CelValue>>): CelResult;
}

const INT32_MAX = 2n ** 31n - 1n;
const UINT32_MAX = 2n ** 32n - 1n;
const NANOSECONDS = 1_000_000_000n;

function field(type: CelType, goType: string, accepts: (value: CelValue) => boolean, narrow?: (value: CelValue) => CelResult): Field {
  return {
    type,
    read(value) {
      if (!accepts(value)) return new CelError(`type conversion error from '${typeNameOf(value)}' to '${goType}'`);
      return narrow === undefined ? value : narrow(value);
    },
  };
}

const isInt = (value: CelValue): value is bigint => typeof value === "bigint";
const isDouble = (value: CelValue): value is number => typeof value === "number";
const isUint = (value: CelValue): value is Uint => value instanceof Uint;

const BOOL_FIELD = field(BOOL, "bool", (value) => typeof value === "boolean");
const BYTES_FIELD = field(BYTES, "[]uint8", (value) => value instanceof Uint8Array);
const DOUBLE_FIELD = field(DOUBLE, "float64", isDouble);
const FLOAT_FIELD = field(DOUBLE, "float32", isDouble, (value) => Math.fround(Number(value)));
const INT64_FIELD = field(INT, "int64", isInt);
const INT32_FIELD = field(INT, "int32", isInt, (value) => {
  const isInRange = isInt(value) && value <= INT32_MAX && value >= -INT32_MAX - 1n;
  return isInRange ? value : new CelError("integer overflow");
});
const UINT64_FIELD = field(UINT, "uint64", isUint);
const UINT32_FIELD = field(UINT, "uint32", isUint, (value) =>
  isUint(value) && value.value <= UINT32_MAX ? value : new CelError("unsigned integer overflow"),
);
const STRING_FIELD = field(STRING, "string", (value) => typeof value === "string");
const LIST_FIELD = field(listOf(DYN), "*structpb.ListValue", (value) => value instanceof ListValue, jsonValue);
const STRUCT_FIELD = field(mapOf(STRING, DYN), "*structpb.Struct", (value) => value instanceof MapValue, jsonValue);

function wrapper(type: CelType, value: Field, empty: CelValue): Message {
  return { type: nullableOf(type), fields: { value }, value: ({ value: given = empty }) => given };
}

function instant(type: CelType, make: (nanoseconds: bigint) => CelValue): Message {
  const value = ({ seconds = 0n, nanos = 0n }: Readonly<Record<string, CelValue>>) =>
    make(BigInt(seconds as bigint) * NANOSECONDS + BigInt(nanos as bigint));
  return { type, fields: { seconds: INT64_FIELD, nanos: INT32_FIELD }, value };
}

const MESSAGES: Readonly<Record<string, Message>> = {
  BoolValue: wrapper(BOOL, BOOL_FIELD, false),
  BytesValue: wrapper(BYTES, BYTES_FIELD, new Uint8Array()),
  DoubleValue: wrapper(DOUBLE, DOUBLE_FIELD, 0),
  FloatValue: wrapper(DOUBLE, FLOAT_FIELD, 0),
  Int32Value: wrapper(INT, INT32_FIELD, 0n),
  Int64Value: wrapper(INT, INT64_FIELD, 0n),
  StringValue: wrapper(STRING, STRING_FIELD, ""),
  UInt32Value: wrapper(UINT, UINT32_FIELD, new Uint(0n)),
  UInt64Value: wrapper(UINT, UINT64_FIELD, new Uint(0n)),
  Duration: instant(DURATION, (nanoseconds) => new Duration(nanoseconds)),
  Timestamp: instant(TIMESTAMP, (nanoseconds) => new Timestamp(nanoseconds)),
  ListValue: { type: listOf(DYN), fields: { values: LIST_FIELD }, value: ({ values = new ArrayList([]) }) => values },
  Struct: { type: mapOf(STRING, DYN), fields: { fields: STRUCT_FIELD }, value: ({ fields = EntryMap.of([]) as EntryMap }) => fields },
  Value: {
    type: DYN,
    fields: {
      null_value: INT64_FIELD,
      number_value: DOUBLE_FIELD,
      string_value: STRING_FIELD,
      bool_value: BOOL_FIELD,
      struct_value: STRUCT_FIELD,
      list_value: LIST_FIELD,
    },
    // The fields are alternatives: the last one counts.
    value: ({ null_value: _null, ...fields }) => Object.values(fields).at(-1) ?? null,
  },
  Any: {
    type: ANY,
    fields: { type_url: STRING_FIELD, value: BYTES_FIELD },
    value: () => new CelError("anypb.UnmarshalNew() failed during type conversion: proto: not found"),
  },
};

const PACKAGE = "google.protobuf.";

function messageOf(typeName: string): Message | undefined {
  const name = typeName.startsWith(PACKAGE) ? typeName.slice(PACKAGE.length) : "";
  return Object.hasOwn(MESSAGES, name) ? MESSAGES[name] : undefined;
}

/** The type that a message has in expressions, and those of its fields; undefined: no such message. */
export function wellKnownMessage(typeName: string): { readonly type: CelType; field(name: string): CelType | undefined } | undefined {
  const message = messageOf(typeName);
  if (message === undefined) return undefined;
  const { type, fields } = message;
  return { type, field: (name) => (Object.hasOwn(fields, name) ? fields[name]?.type : undefined) };
}

/** Creates the value of a well-known message. */
export function newWellKnownMessage(typeName: string, given: ReadonlyMap<CelValue, CelValue>): CelResult {
  const message = messageOf(typeName);
  if (message === undefined) return new CelError(`unknown type '${typeName}'`);
  const values: Record<string, CelValue> = {};
  for (const [key, value] of given) {
    const name = textOf(key);
    const read = message.fields[name]?.read(value) ?? new CelError("no such field");
    if (read instanceof CelError) return new CelError(`field type conversion error for ${typeName}.${name} value type: ${read.message}`);
    values[name] = read;
  }
  return message.value(values);
}

/** What is left of a value in a google.protobuf.Value: numbers are doubles; other scalars are text. */
function jsonValue(value: CelValue): CelResult {
  spend(ELEMENT_STEPS);
  if (value instanceof ListValue) {
    spend(value.size);
    const elements: CelValue[] = [];
    for (let index = 0; index < value.size; index++) {
      const element = ofResult(value.at(index));
      if (element instanceof CelError) return element;
      elements.push(element);
    }
    return new ArrayList(elements);
  }
  if (value instanceof MapValue) {
    spend(value.size);
    const entries: [CelValue, CelValue][] = [];
    for (const key of value.keys()) {
      if (typeof key !== "string") return new CelError(`type conversion error from '${typeNameOf(key)}' to 'string'`);
      const element = ofResult(value.find(key) ?? null);
      if (element instanceof CelError) return element;
      entries.push([key, element]);
    }
    return EntryMap.of(entries);
  }
  if (value === null || typeof value === "boolean" || typeof value === "string" || typeof value === "number") return value;
  const json = toJson(value);
  if (typeof json === "number") return json;
  return typeof json === "bigint" || typeof json === "string"
    ? String(json)
    : new CelError(`type conversion error from '${typeNameOf(value)}' to '*structpb.Value'`);
}

function ofResult(result: CelResult): CelResult {
  return result instanceof CelError ? result : jsonValue(result);
}
