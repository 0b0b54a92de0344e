/**
 * Protocol buffers (proto3) by interpretation: a message is described by a plain value, its TypeScript type follows from
 * that value, and `encode` and `decode` walk along it. Nothing is generated and no `.proto` file is read at run time.
 *
 * - int64 is a number and must be a safe integer, uint64 a bigint, an enum an int32, a map a repeated message {key = 1, value = 2}.
 * - Decoded `bytes` are views of the input, not copies: they keep it in memory and change with it. Copy what is kept for long.
 * - Unknown fields are skipped; what is not protobuf, or not the message described, is a ProtobufError.
 * Not here, because neither etcd nor CRI has them: float, double, fixed and zigzag numbers, groups, extensions.
 */
import { NO_BYTES, ProtobufError, Reader, WIRE_BYTES, WIRE_VARINT, Writer } from "./wire.ts";

export type ScalarType = keyof ScalarTypes;

interface ScalarTypes {
  bool: boolean;
  int32: number;
  uint32: number;
  int64: number;
  uint64: bigint;
  string: string;
  bytes: Uint8Array;
}

export interface FieldDescriptor {
  readonly number: number;
  readonly type: ScalarType | MessageDescriptor;
  readonly repeated?: true;
}

/** Written as `{ name: "…", fields: { … } } as const satisfies MessageDescriptor`, so that the types below can see it. */
export interface MessageDescriptor {
  readonly name: string;
  readonly fields: Readonly<Record<string, FieldDescriptor>>;
}

/** What `decode` returns: every scalar (zero if not sent), every list (empty if not sent), a message or undefined. */
export type Decoded<M extends MessageDescriptor> = { readonly [K in keyof M["fields"]]: DecodedField<M["fields"][K]> };
type DecodedField<F extends FieldDescriptor> = F extends { readonly repeated: true }
  ? readonly DecodedOne<F["type"]>[]
  : F["type"] extends MessageDescriptor
    ? DecodedOne<F["type"]> | undefined
    : DecodedOne<F["type"]>;
type DecodedOne<T> = T extends ScalarType ? ScalarTypes[T] : T extends MessageDescriptor ? Decoded<T> : never;

/** What `encode` takes: omitted fields are zero, empty or absent. */
export type Encodable<M extends MessageDescriptor> = { readonly [K in keyof M["fields"]]?: EncodableField<M["fields"][K]> | undefined };
type EncodableField<F extends FieldDescriptor> = F extends { readonly repeated: true }
  ? readonly EncodableOne<F["type"]>[]
  : EncodableOne<F["type"]>;
type EncodableOne<T> = T extends ScalarType ? ScalarTypes[T] : T extends MessageDescriptor ? Encodable<T> : never;

/** Maximum message nesting, as in other implementations. Without a limit a small input could exhaust the stack. */
export const NESTING_MAX = 100;

export function encode<M extends MessageDescriptor>(descriptor: M, message: Encodable<M>): Uint8Array {
  const writer = new Writer();
  writeMessage(writer, descriptor, message, 0);
  return writer.finish();
}

export function decode<M extends MessageDescriptor>(descriptor: M, input: Uint8Array): Decoded<M> {
  const message = emptyMessage(descriptor);
  readMessage(new Reader(input), descriptor, message, 0);
  return message as Decoded<M>;
}

const ZEROES: ScalarTypes = { bool: false, int32: 0, uint32: 0, int64: 0, uint64: 0n, string: "", bytes: NO_BYTES };

type Untyped = Record<string, unknown>;

function emptyMessage(descriptor: MessageDescriptor): Untyped {
  const message: Untyped = {};
  for (const [name, field] of Object.entries(descriptor.fields)) {
    if (field.repeated === true) message[name] = [];
    else message[name] = typeof field.type === "string" ? ZEROES[field.type] : undefined;
  }
  return message;
}

// Reading.

/** Reads to the end of `reader` into `message`: a message in two pieces is merged, as the specification requires. */
function readMessage(reader: Reader, descriptor: MessageDescriptor, message: Untyped, depth: number): void {
  checkDepth(descriptor, depth);
  const { byNumber } = planOf(descriptor);
  while (!reader.atEnd) {
    const tag = reader.tag();
    const number = tag >>> 3;
    const wireType = tag & 7;
    if (number === 0) throw new ProtobufError(`Cannot decode ${descriptor.name}: field number 0 at byte ${reader.position}`);
    const known = byNumber.get(number);
    if (known === undefined) reader.skip(wireType);
    else readField(reader, known, { message, wireType, depth, owner: descriptor.name });
  }
}

interface FieldPlace {
  readonly message: Untyped;
  readonly wireType: number;
  readonly depth: number;
  readonly owner: string;
}

function readField(reader: Reader, [name, field]: readonly [string, FieldDescriptor], place: FieldPlace): void {
  const { message, wireType, depth } = place;
  const { type } = field;
  if (typeof type !== "string") {
    if (wireType !== WIRE_BYTES) throw wrongWireType(name, place);
    const one = field.repeated === true ? emptyMessage(type) : ((message[name] as Untyped | undefined) ?? emptyMessage(type));
    readMessage(reader.slice(), type, one, depth + 1);
    if (field.repeated === true) (message[name] as unknown[]).push(one);
    else message[name] = one;
  } else if (field.repeated === true && wireType === WIRE_BYTES && wireTypeOf(type) === WIRE_VARINT) {
    const packed = reader.slice();
    while (!packed.atEnd) (message[name] as unknown[]).push(readScalar(packed, type));
  } else {
    if (wireType !== wireTypeOf(type)) throw wrongWireType(name, place);
    const value = readScalar(reader, type);
    if (field.repeated === true) (message[name] as unknown[]).push(value);
    else message[name] = value;
  }
}

function readScalar(reader: Reader, type: ScalarType): unknown {
  switch (type) {
    case "bool":
      return reader.varint() !== 0;
    case "int32":
      return Number(BigInt.asIntN(32, BigInt(reader.varint())));
    case "uint32":
      return Number(BigInt.asUintN(32, BigInt(reader.varint())));
    case "int64":
      return reader.int64();
    case "uint64":
      return BigInt.asUintN(64, BigInt(reader.varint()));
    case "string":
      return reader.string();
    case "bytes":
      return reader.bytes();
  }
}

// Writing.

/** Back to front: when a nested message's length is written, the message has already been written and its length is known. */
function writeMessage(writer: Writer, descriptor: MessageDescriptor, message: Untyped, depth: number): void {
  checkDepth(descriptor, depth);
  for (const [name, field] of planOf(descriptor).lastFirst) {
    const value = message[name];
    if (value === undefined) continue;
    if (field.repeated === true) writeRepeated(writer, field, value as readonly unknown[], depth);
    else if (typeof field.type !== "string" || !isZero(value)) writeOne(writer, field, value, depth);
  }
}

function writeRepeated(writer: Writer, field: FieldDescriptor, values: readonly unknown[], depth: number): void {
  const { type } = field;
  if (typeof type !== "string" || wireTypeOf(type) !== WIRE_VARINT) {
    for (let index = values.length - 1; index >= 0; index--) writeOne(writer, field, values[index], depth);
  } else if (values.length > 0) {
    const end = writer.length;
    for (let index = values.length - 1; index >= 0; index--) writeScalar(writer, type, values[index]);
    writer.varint(writer.length - end);
    writer.varint((field.number << 3) | WIRE_BYTES);
  }
}

function writeOne(writer: Writer, { number, type }: FieldDescriptor, value: unknown, depth: number): void {
  if (typeof type === "string") {
    writeScalar(writer, type, value);
    writer.varint((number << 3) | wireTypeOf(type));
  } else {
    const end = writer.length;
    writeMessage(writer, type, value as Untyped, depth + 1);
    writer.varint(writer.length - end);
    writer.varint((number << 3) | WIRE_BYTES);
  }
}

function writeScalar(writer: Writer, type: ScalarType, value: unknown): void {
  if (type === "string" || type === "bytes") {
    const length = type === "string" ? writer.string(value as string) : writer.bytes(value as Uint8Array);
    writer.varint(length);
  } else if (type === "bool") {
    writer.varint(value === true ? 1 : 0);
  } else {
    checkRange(type, value);
    writer.varint(value as number | bigint);
  }
}

// Shared by both directions.

type NamedField = readonly [name: string, field: FieldDescriptor];

/** The fields of a message, arranged for each direction. Computed once per descriptor. */
interface Plan {
  readonly byNumber: ReadonlyMap<number, NamedField>;
  readonly lastFirst: readonly NamedField[];
}

const plans = new WeakMap<MessageDescriptor, Plan>();

function planOf(descriptor: MessageDescriptor): Plan {
  let plan = plans.get(descriptor);
  if (plan === undefined) {
    const fields = Object.entries(descriptor.fields);
    plan = {
      byNumber: new Map(fields.map((named) => [named[1].number, named])),
      lastFirst: fields.sort(([, a], [, b]) => b.number - a.number),
    };
    plans.set(descriptor, plan);
  }
  return plan;
}

function wireTypeOf(type: ScalarType): number {
  return type === "string" || type === "bytes" ? WIRE_BYTES : WIRE_VARINT;
}

function isZero(value: unknown): boolean {
  return value instanceof Uint8Array ? value.length === 0 : value === 0 || value === 0n || value === false || value === "";
}

function checkRange(type: ScalarType, value: unknown): void {
  const fits =
    type === "uint64"
      ? typeof value === "bigint" && BigInt.asUintN(64, value) === value
      : Number.isSafeInteger(value) && (type === "int64" || (type === "int32" ? (value as number) | 0 : (value as number) >>> 0) === value);
  if (!fits) {
    const expected = type === "uint64" ? "a bigint" : "a whole number";
    throw new ProtobufError(`Cannot encode ${String(value)} as ${type}: it must be ${expected} in the range of that type`);
  }
}

function checkDepth(descriptor: MessageDescriptor, depth: number): void {
  if (depth > NESTING_MAX) throw new ProtobufError(`Cannot go into ${descriptor.name}: messages are nested more than ${NESTING_MAX} deep`);
}

function wrongWireType(name: string, { owner, wireType }: FieldPlace): ProtobufError {
  return new ProtobufError(`Cannot decode ${owner}.${name}: it has wire type ${wireType}, which does not go with its type`);
}
