/**
 * `application/vnd.kubernetes.protobuf`: the four bytes "k8s\0", then a runtime.Unknown with the kind and the message. Watches send frames:
 * a length of four bytes, big endian, and an event whose object is such an envelope. Every error in untrusted bytes is a StatusError
 * BadRequest.
 */
import { decode, encode, type MessageDescriptor } from "../../../../base/protobuf/messages.ts";
import { ProtobufError, Writer } from "../../../../base/protobuf/wire.ts";
import type { JsonObject } from "../../object.ts";
import type { ObjectSchema } from "../../schema.ts";
import { badRequest, type StatusError } from "../../status-error.ts";
import type { TypeMeta } from "../body-error.ts";
import { DecodeError } from "../decode-error.ts";
import { isJsonSyntaxError } from "../json.ts";
import { decodeMessage } from "./decode.ts";
import { encodeMessage } from "./encode.ts";
import { ProtobufUnsupported } from "./error.ts";

const MAGIC = Uint8Array.of(0x6b, 0x38, 0x73, 0x00);

const TYPE_META = {
  name: "TypeMeta",
  fields: { apiVersion: { number: 1, type: "string" }, kind: { number: 2, type: "string" } },
} as const satisfies MessageDescriptor;

const UNKNOWN = {
  name: "Unknown",
  fields: {
    typeMeta: { number: 1, type: TYPE_META },
    raw: { number: 2, type: "bytes" },
    contentEncoding: { number: 3, type: "string" },
    contentType: { number: 4, type: "string" },
  },
} as const satisfies MessageDescriptor;

/** {contentEncoding = 3, contentType = 4}: upstream writes both although they are empty. */
const EMPTY_ENCODING_AND_TYPE = Uint8Array.of(0x1a, 0x00, 0x22, 0x00);
/** {typeMeta = 1}, {raw = 2}. */
const TYPE_META_TAG = 0x0a;
const RAW_TAG = 0x12;

const WATCH_EVENT = {
  name: "WatchEvent",
  fields: {
    type: { number: 1, type: "string" },
    object: { number: 2, type: { name: "RawExtension", fields: { raw: { number: 1, type: "bytes" } } } },
  },
} as const satisfies MessageDescriptor;

export interface Envelope extends TypeMeta {
  /** The message itself. A view of the input. */
  readonly raw: Uint8Array;
}

/** Encodes an object without the envelope; `apiVersion` and `kind` of the object's root are not in it. */
export function encodeProtobuf(object: JsonObject, schema: ObjectSchema): Uint8Array {
  return encodeMessage(object, schema);
}

/** Equals decoding the object's JSON, but without `apiVersion` and `kind`: the envelope has them. */
export function decodeProtobuf(bytes: Uint8Array, schema: ObjectSchema): JsonObject {
  return refusing(() => decodeMessage(bytes, schema));
}

export function encodeEnvelope({ apiVersion, kind, raw }: Envelope): Uint8Array {
  // By hand, because upstream also writes an empty message. Back to front, as a Writer does.
  const writer = new Writer();
  writer.bytes(EMPTY_ENCODING_AND_TYPE);
  for (const [tag, part] of [[RAW_TAG, raw] as const, [TYPE_META_TAG, encode(TYPE_META, { apiVersion, kind })] as const]) {
    writer.varint(writer.bytes(part));
    writer.varint(tag);
  }
  writer.bytes(MAGIC);
  return writer.finish();
}

export function decodeEnvelope(bytes: Uint8Array): Envelope {
  if (bytes.length === 0) throw badRequest("empty data");
  if (!MAGIC.every((byte, index) => bytes[index] === byte)) {
    throw badRequest(`provided data does not appear to be a protobuf message, expected prefix [${MAGIC.join(" ")}]`);
  }
  if (bytes.length === MAGIC.length) throw badRequest("empty body");
  const { typeMeta, raw } = refusing(() => decode(UNKNOWN, bytes.subarray(MAGIC.length)));
  return { apiVersion: typeMeta?.apiVersion ?? "", kind: typeMeta?.kind ?? "", raw };
}

export function isEnvelope(bytes: Uint8Array): boolean {
  return MAGIC.every((byte, index) => bytes[index] === byte);
}

/** One event of a watch, with the length before it; `envelope` is the object's. */
export function encodeWatchFrame(type: string, envelope: Uint8Array): Uint8Array {
  const event = encode(WATCH_EVENT, { type, object: { raw: envelope } });
  const length = new Uint8Array(4);
  new DataView(length.buffer).setUint32(0, event.length);
  return concatenate(length, event);
}

function concatenate(...parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    whole.set(part, offset);
    offset += part.length;
  }
  return whole;
}

/** Converts every error of malformed bytes to a BadRequest. */
function refusing<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (
      error instanceof ProtobufError ||
      error instanceof DecodeError ||
      isJsonSyntaxError(error) ||
      error instanceof ProtobufUnsupported
    ) {
      throw refusal(error);
    }
    throw error;
  }
}

function refusal(error: Error): StatusError {
  return badRequest(error.message, error);
}
