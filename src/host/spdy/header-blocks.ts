/**
 * Headers as SPDY/3 packs them: all blocks of one direction are one zlib stream, flushed to a whole byte after each block. What comes may
 * point back into the last 32 KiB, so a reader keeps those and unpacks each block by itself; what goes out points only into itself, so a
 * writer keeps nothing. Both are done at once, without zlib's thread: frames keep their order, and nothing native must be let go.
 */
import { Buffer } from "node:buffer";
import { constants, deflateRawSync, inflateRawSync } from "node:zlib";
import { SPDY_DICTIONARY, SPDY_DICTIONARY_ID } from "./dictionary.ts";
import { SpdyProtocolError } from "./protocol-error.ts";
import { HEADER_BLOCK_BYTES_MAX } from "./limits.ts";

export type SpdyHeaders = Readonly<Record<string, string>>;

/** How far back deflate can point. */
const HISTORY_BYTES = 32 << 10;
/** Compression method and window, flags with "a dictionary is used" (RFC 1950); both together divisible by 31. */
const ZLIB_START = 0x78bb;
const ZLIB_USES_DICTIONARY = 0x20;
const ZLIB_METHOD_DEFLATE = 8;

export class HeaderWriter {
  #isFirst = true;

  write(headers: SpdyHeaders): Uint8Array {
    const packed = deflateRawSync(plainBlock(headers), { finishFlush: constants.Z_SYNC_FLUSH });
    if (!this.#isFirst) return packed;
    this.#isFirst = false;
    const start = Buffer.alloc(6);
    start.writeUInt16BE(ZLIB_START, 0);
    start.writeUInt32BE(SPDY_DICTIONARY_ID, 2);
    return Buffer.concat([start, packed]);
  }
}

function plainBlock(headers: SpdyHeaders): Buffer {
  const entries = Object.entries(headers);
  return Buffer.concat([uint32(entries.length), ...entries.flatMap(([name, value]) => [text(name.toLowerCase()), text(value)])]);
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value, "utf8");
  return Buffer.concat([uint32(bytes.length), bytes]);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

export class HeaderReader {
  #history: Uint8Array | undefined;

  /** Every block must be decoded in order, even if it is unused. Throws a SpdyProtocolError; later blocks cannot be decoded then. */
  read(block: Uint8Array): SpdyHeaders {
    const packed = this.#history === undefined ? this.#start(block) : block;
    const plain = unpack(packed, this.#history ?? new Uint8Array());
    this.#history = Buffer.concat([this.#history ?? new Uint8Array(), plain]).subarray(-HISTORY_BYTES);
    return parseBlock(plain);
  }

  /** Takes off what a zlib stream begins with. */
  #start(block: Uint8Array): Uint8Array {
    const bytes = Buffer.from(block.buffer, block.byteOffset, block.byteLength);
    if (bytes.length < 2 || bytes.readUInt16BE(0) % 31 !== 0 || (bytes.readUInt8(0) & 0x0f) !== ZLIB_METHOD_DEFLATE)
      throw new SpdyProtocolError("Headers must be compressed with zlib");
    if ((bytes.readUInt8(1) & ZLIB_USES_DICTIONARY) === 0) {
      this.#history = new Uint8Array();
      return bytes.subarray(2);
    }
    if (bytes.length < 6 || bytes.readUInt32BE(2) !== SPDY_DICTIONARY_ID)
      throw new SpdyProtocolError("Headers must be compressed with the dictionary of SPDY/3");
    this.#history = SPDY_DICTIONARY;
    return bytes.subarray(6);
  }
}

function unpack(packed: Uint8Array, history: Uint8Array): Buffer {
  try {
    return inflateRawSync(packed, {
      finishFlush: constants.Z_SYNC_FLUSH,
      maxOutputLength: HEADER_BLOCK_BYTES_MAX,
      ...(history.length === 0 ? {} : { dictionary: history }),
    });
  } catch (error) {
    throw new SpdyProtocolError(`Cannot decompress headers to at most ${HEADER_BLOCK_BYTES_MAX} bytes: ${String(error)}`, { cause: error });
  }
}

function parseBlock(plain: Buffer): SpdyHeaders {
  let offset = 0;
  const number = (): number => {
    if (offset + 4 > plain.length) throw new SpdyProtocolError(`Headers are truncated after ${plain.length} bytes`);
    offset += 4;
    return plain.readUInt32BE(offset - 4);
  };
  const word = (): string => {
    const length = number();
    if (length > plain.length - offset) throw new SpdyProtocolError(`Headers are truncated after ${plain.length} bytes`);
    offset += length;
    return plain.toString("utf8", offset - length, offset);
  };
  const headers = new Map<string, string>();
  for (let left = number(); left > 0; left--) {
    const name = word().toLowerCase();
    if (headers.has(name)) throw new SpdyProtocolError(`Duplicate header "${name}"`);
    // Multiple values of one name are joined with a zero byte; a single one is used here.
    headers.set(name, word().split("\0")[0] ?? "");
  }
  return Object.fromEntries(headers);
}
