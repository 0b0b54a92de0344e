/**
 * Bytes in pieces of any size become frames. A control frame is gathered, and is small (limits.ts) or an error; the bytes of a data frame
 * are handed on as they come, in one or more frames of which only the last can be marked as the last of its stream. So nothing large
 * waits here.
 */
import { Buffer } from "node:buffer";
import { FLAG_LAST, FLAG_ONE_WAY, FRAME_HEAD_BYTES, FRAME_TYPES, VERSION, type Frame } from "./frames.ts";
import { SpdyProtocolError } from "./protocol-error.ts";
import { HeaderReader } from "./header-blocks.ts";
import { CONTROL_FRAME_BYTES_MAX } from "./limits.ts";

const STREAM_ID_MASK = 0x7fffffff;
/** The upper byte of a setting's number holds flags. */
const SETTING_ID_MASK = 0xffffff;

const TYPE_NAMES = new Map<number, keyof typeof FRAME_TYPES>(
  Object.entries(FRAME_TYPES).map(([name, type]) => [type, name as keyof typeof FRAME_TYPES]),
);

interface OpenData {
  readonly streamId: number;
  readonly isLast: boolean;
  leftBytes: number;
}

export class FrameDecoder {
  readonly #headers = new HeaderReader();
  /** Beginning of an incomplete frame. */
  #partial = Buffer.alloc(0);
  /** The data frame that is being received. */
  #data: OpenData | undefined;

  /** Throws a SpdyProtocolError, after which it must not be used any more. Data frames are views of `chunk`. */
  *take(chunk: Uint8Array): Generator<Frame, void> {
    let rest = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    for (;;) {
      if (this.#data !== undefined) {
        const bytes = rest.subarray(0, this.#data.leftBytes);
        rest = rest.subarray(bytes.length);
        const frame = this.#dataFrame(this.#data, bytes);
        if (frame === undefined) return;
        yield frame;
        continue;
      }
      // A copy of a few bytes, or of a control frame that came in pieces.
      if (this.#partial.length > 0) rest = Buffer.concat([this.#partial, rest]);
      this.#partial = Buffer.alloc(0);
      const length = wholeLength(rest);
      if (length === undefined) {
        this.#partial = Buffer.from(rest);
        return;
      }
      const head = rest.subarray(0, length);
      rest = rest.subarray(length);
      if (isControl(head)) yield* this.#controlFrame(head);
      else this.#data = { streamId: head.readUInt32BE(0), isLast: (head.readUInt8(4) & FLAG_LAST) !== 0, leftBytes: head.readUIntBE(5, 3) };
    }
  }

  #dataFrame(open: OpenData, bytes: Uint8Array): Frame | undefined {
    open.leftBytes -= bytes.length;
    const isWhole = open.leftBytes === 0;
    if (isWhole) this.#data = undefined;
    else if (bytes.length === 0) return undefined;
    return { is: "data", streamId: open.streamId, bytes, isLast: isWhole && open.isLast };
  }

  /** Ignores types that are not of SPDY/3.1. */
  *#controlFrame(frame: Buffer): Generator<Frame, void> {
    const version = frame.readUInt16BE(0) & 0x7fff;
    if (version !== VERSION) throw new SpdyProtocolError(`The SPDY version must be ${VERSION}, is ${version}`);
    const is = TYPE_NAMES.get(frame.readUInt16BE(2));
    if (is === undefined) return;
    const flags = frame.readUInt8(4);
    const body = frame.subarray(FRAME_HEAD_BYTES);
    if (is === "syn-stream" || is === "syn-reply" || is === "headers") {
      const isLast = (flags & FLAG_LAST) !== 0;
      const headers = this.#headers.read(body.subarray(is === "syn-stream" ? 10 : 4));
      const isOneWay = is === "syn-stream" ? { isOneWay: (flags & FLAG_ONE_WAY) !== 0 } : {};
      yield { is, streamId: uint32(body, 0) & STREAM_ID_MASK, headers, isLast, ...isOneWay };
    } else yield plainFrame(is, body);
  }
}

/** Length of the frame at this offset, or of the head of a data frame. Undefined: incomplete. */
function wholeLength(bytes: Buffer): number | undefined {
  if (bytes.length < FRAME_HEAD_BYTES) return undefined;
  if (!isControl(bytes)) return FRAME_HEAD_BYTES;
  const length = bytes.readUIntBE(5, 3);
  if (length > CONTROL_FRAME_BYTES_MAX)
    throw new SpdyProtocolError(`A control frame must have at most ${CONTROL_FRAME_BYTES_MAX} bytes, has ${length}`);
  return bytes.length < FRAME_HEAD_BYTES + length ? undefined : FRAME_HEAD_BYTES + length;
}

function isControl(head: Buffer): boolean {
  return (head.readUInt8(0) & 0x80) !== 0;
}

function plainFrame(is: "reset" | "settings" | "ping" | "goaway" | "window-update", body: Buffer): Frame {
  switch (is) {
    case "reset":
      return { is, streamId: uint32(body, 0) & STREAM_ID_MASK, status: uint32(body, 4) };
    case "ping":
      return { is, id: uint32(body, 0) };
    case "goaway":
      return { is, lastStreamId: uint32(body, 0) & STREAM_ID_MASK, status: uint32(body, 4) };
    case "window-update":
      return { is, streamId: uint32(body, 0) & STREAM_ID_MASK, bytes: uint32(body, 4) & STREAM_ID_MASK };
    case "settings": {
      // A count that is too high is an error at the first missing entry.
      const count = uint32(body, 0);
      const values: { id: number; value: number }[] = [];
      for (let at = 4; values.length < count; at += 8) values.push({ id: uint32(body, at) & SETTING_ID_MASK, value: uint32(body, at + 4) });
      return { is, values };
    }
  }
}

function uint32(body: Buffer, offset: number): number {
  if (offset + 4 > body.length) throw new SpdyProtocolError(`A control frame is truncated after ${body.length} bytes`);
  return body.readUInt32BE(offset);
}
