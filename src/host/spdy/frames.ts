/**
 * Frames of SPDY/3.1 and their encoding. A control frame begins with a set bit, version and type; a data frame with its stream. Flags and
 * length follow in both. Not here: decoding (frame-decoder.ts), semantics (session.ts).
 */
import { Buffer } from "node:buffer";
import type { HeaderWriter, SpdyHeaders } from "./header-blocks.ts";

export type Frame = HeadersFrame | ControlFrame | DataFrame;

/** Opens a stream, replies to that, or adds headers (unused in practice). */
export interface HeadersFrame {
  readonly is: "syn-stream" | "syn-reply" | "headers";
  readonly streamId: number;
  readonly headers: SpdyHeaders;
  /** The sender sends nothing more on the stream. */
  readonly isLast: boolean;
  /** Of syn-stream: the peer must not send on it. */
  readonly isOneWay?: boolean;
}

export type ControlFrame =
  | { readonly is: "reset"; readonly streamId: number; readonly status: number }
  | { readonly is: "settings"; readonly values: readonly { readonly id: number; readonly value: number }[] }
  | { readonly is: "ping"; readonly id: number }
  | { readonly is: "goaway"; readonly lastStreamId: number; readonly status: number }
  | { readonly is: "window-update"; readonly streamId: number; readonly bytes: number };

export interface DataFrame {
  readonly is: "data";
  readonly streamId: number;
  readonly bytes: Uint8Array;
  readonly isLast: boolean;
}

export const VERSION = 3;
export const FRAME_HEAD_BYTES = 8;
export const FLAG_LAST = 0x01;
export const FLAG_ONE_WAY = 0x02;

export const FRAME_TYPES = {
  "syn-stream": 1,
  "syn-reply": 2,
  reset: 3,
  settings: 4,
  ping: 6,
  goaway: 7,
  headers: 8,
  "window-update": 9,
} as const;

/** Reset status codes. */
export const RESET = { protocolError: 1, refusedStream: 3, cancel: 5, streamAlreadyClosed: 9 } as const;
/** GOAWAY status codes. */
export const GOAWAY = { ok: 0, protocolError: 1 } as const;
/** The setting of the initial window size. */
export const SETTING_INITIAL_WINDOW = 7;

export function encodeFrame(frame: Frame, writer: HeaderWriter): Uint8Array {
  switch (frame.is) {
    case "syn-stream": {
      // Stream, the stream it belongs to (none), priority and slot (none).
      const flags = (frame.isLast ? FLAG_LAST : 0) | (frame.isOneWay === true ? FLAG_ONE_WAY : 0);
      return control(frame.is, flags, [...uint32s(frame.streamId, 0), 0, 0], writer.write(frame.headers));
    }
    case "syn-reply":
    case "headers":
      return control(frame.is, frame.isLast ? FLAG_LAST : 0, uint32s(frame.streamId), writer.write(frame.headers));
    case "reset":
      return control(frame.is, 0, uint32s(frame.streamId, frame.status));
    case "settings":
      return control(frame.is, 0, uint32s(frame.values.length, ...frame.values.flatMap(({ id, value }) => [id, value])));
    case "ping":
      return control(frame.is, 0, uint32s(frame.id));
    case "goaway":
      return control(frame.is, 0, uint32s(frame.lastStreamId, frame.status));
    case "window-update":
      return control(frame.is, 0, uint32s(frame.streamId, frame.bytes));
    case "data":
      return data(frame);
  }
}

function control(
  type: keyof typeof FRAME_TYPES,
  flags: number,
  fields: readonly number[],
  block: Uint8Array = new Uint8Array(),
): Uint8Array {
  const frame = Buffer.alloc(FRAME_HEAD_BYTES + fields.length + block.length);
  frame.writeUInt16BE(0x8000 | VERSION, 0);
  frame.writeUInt16BE(FRAME_TYPES[type], 2);
  frame.writeUInt8(flags, 4);
  frame.writeUIntBE(fields.length + block.length, 5, 3);
  frame.set(fields, FRAME_HEAD_BYTES);
  frame.set(block, FRAME_HEAD_BYTES + fields.length);
  return frame;
}

/** A copy: the caller may reuse its bytes immediately. */
function data({ streamId, bytes, isLast }: DataFrame): Uint8Array {
  const frame = Buffer.allocUnsafe(FRAME_HEAD_BYTES + bytes.length);
  frame.writeUInt32BE(streamId, 0);
  frame.writeUInt8(isLast ? FLAG_LAST : 0, 4);
  frame.writeUIntBE(bytes.length, 5, 3);
  frame.set(bytes, FRAME_HEAD_BYTES);
  return frame;
}

function uint32s(...values: readonly number[]): number[] {
  return values.flatMap((value) => [value >>> 24, (value >>> 16) & 0xff, (value >>> 8) & 0xff, value & 0xff]);
}
