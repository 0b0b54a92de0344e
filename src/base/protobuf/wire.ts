/**
 * Protocol buffers wire format: varints and length-delimited bytes. Reading is front to back, writing back to front: when a nested
 * message's length is written, the message has already been written and its length is known. What the fields mean is defined in
 * base/protobuf/messages.ts.
 */

/** The input does not match the descriptor, or a value does not fit its field. */
export class ProtobufError extends Error {
  override readonly name = "ProtobufError";
}

export const WIRE_VARINT = 0;
export const WIRE_FIXED64 = 1;
export const WIRE_BYTES = 2;
const WIRE_FIXED32 = 5;

export const NO_BYTES = new Uint8Array(0);

const UTF8 = new TextEncoder();
const UTF8_STRICT = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const UTF8_LENIENT = new TextDecoder("utf-8", { ignoreBOM: true });

/** Up to these lengths ASCII is read and written faster byte by byte than by TextDecoder and TextEncoder. */
const READ_ONE_BY_ONE_MAX = 24;
const WRITTEN_ONE_BY_ONE_MAX = 256;
/** Up to this length bytes are copied faster one by one than by `set`. */
const COPIED_ONE_BY_ONE_MAX = 16;
const NOT_ASCII = 0x80;

export class Reader {
  readonly #input: Uint8Array;
  #position = 0;
  /** End of the input, or of the entered message. */
  #end: number;

  constructor(input: Uint8Array) {
    this.#input = input;
    this.#end = input.length;
  }

  get atEnd(): boolean {
    return this.#position >= this.#end;
  }

  /** Reads a length and enters the message that follows; `leave` restores the limit that this returns. */
  enter(): number {
    const outerEnd = this.#end;
    const length = this.#length();
    this.#end = this.#position + length;
    return outerEnd;
  }

  /** The entered message must have been read completely. */
  leave(outerEnd: number): void {
    this.#end = outerEnd;
  }

  get position(): number {
    return this.#position;
  }

  /** A number while it is small, as nearly always; else a bigint below 2^70. */
  varint(): number | bigint {
    let value = 0;
    for (let shift = 0; shift < 28; shift += 7) {
      const byte = this.#byte();
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    let large = BigInt(value);
    for (let shift = 28n; shift < 70n; shift += 7n) {
      const byte = this.#byte();
      large |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return large;
    }
    throw new ProtobufError(`Cannot decode: a number at byte ${this.#position} has more than 10 bytes`);
  }

  /** The next field's number and wire type. */
  tag(): number {
    const tag = this.varint();
    if (tag > 0xffff_ffff) throw new ProtobufError(`Cannot decode: there is no field of the number before byte ${this.#position}`);
    return Number(tag);
  }

  int64(): number {
    const value = this.varint();
    if (typeof value === "number") return value;
    const number = Number(BigInt.asIntN(64, value));
    if (!Number.isSafeInteger(number)) throw new ProtobufError(`Cannot decode: ${value} at byte ${this.#position} is not a safe integer`);
    return number;
  }

  bytes(): Uint8Array {
    const length = this.#length();
    const start = this.#position;
    this.#position = start + length;
    return length === 0 ? NO_BYTES : this.#input.subarray(start, start + length);
  }

  double(): number {
    const start = this.#position;
    this.#advance(8);
    return new DataView(this.#input.buffer, this.#input.byteOffset + start, 8).getFloat64(0, true);
  }

  string(): string {
    const bytes = this.bytes();
    try {
      return UTF8_STRICT.decode(bytes);
    } catch (error) {
      throw new ProtobufError(`Cannot decode: the text before byte ${this.#position} is not UTF-8`, { cause: error });
    }
  }

  /** Like `string`, but invalid UTF-8 becomes U+FFFD. */
  text(): string {
    const length = this.#length();
    const start = this.#position;
    const end = start + length;
    this.#position = end;
    if (length > READ_ONE_BY_ONE_MAX) return UTF8_LENIENT.decode(this.#input.subarray(start, end));
    let text = "";
    for (let at = start; at < end; at++) {
      const byte = this.#input[at] ?? NOT_ASCII;
      if (byte >= NOT_ASCII) return UTF8_LENIENT.decode(this.#input.subarray(start, end));
      text += String.fromCharCode(byte);
    }
    return text;
  }

  slice(): Reader {
    return new Reader(this.bytes());
  }

  skip(wireType: number): void {
    if (wireType === WIRE_VARINT) this.varint();
    else if (wireType === WIRE_BYTES) this.bytes();
    else if (wireType === WIRE_FIXED64) this.#advance(8);
    else if (wireType === WIRE_FIXED32) this.#advance(4);
    else throw new ProtobufError(`Cannot decode: wire type ${wireType} at byte ${this.#position} is none of proto3's`);
  }

  /** Length of what follows, checked against the remaining input. */
  #length(): number {
    const length = Number(this.varint());
    const left = this.#end - this.#position;
    if (length > left) throw new ProtobufError(`Cannot decode: ${length} bytes announced at byte ${this.#position}, ${left} left`);
    return length;
  }

  #advance(count: number): void {
    if (count > this.#end - this.#position) {
      throw new ProtobufError(`Cannot decode: the input ends inside a number of ${count} bytes`);
    }
    this.#position += count;
  }

  #byte(): number {
    const byte = this.#input[this.#position];
    if (byte === undefined || this.#position >= this.#end)
      throw new ProtobufError(`Cannot decode: the input ends inside a number, at byte ${this.#position}`);
    this.#position += 1;
    return byte;
  }
}

export class Writer {
  #buffer = new Uint8Array(256);
  /** Everything from this index on has been written. */
  #start = this.#buffer.length;

  get length(): number {
    return this.#buffer.length - this.#start;
  }

  varint(value: number | bigint): void {
    // Negative numbers are written as their 64-bit two's complement.
    if (typeof value === "bigint" || value < 0 || value > 0x7fff_ffff) return this.#largeVarint(BigInt.asUintN(64, BigInt(value)));
    const length = value < 0x80 ? 1 : value < 0x4000 ? 2 : value < 0x20_0000 ? 3 : value < 0x1000_0000 ? 4 : 5;
    this.#makeRoom(length);
    let rest = value;
    for (let index = 0; index < length; index++) {
      this.#buffer[this.#start + index] = index + 1 < length ? (rest & 0x7f) | 0x80 : rest;
      rest >>>= 7;
    }
  }

  /** Copies `bytes` and returns their length. */
  bytes(bytes: Uint8Array): number {
    const { length } = bytes;
    this.#makeRoom(length);
    const buffer = this.#buffer;
    const start = this.#start;
    if (length > COPIED_ONE_BY_ONE_MAX) buffer.set(bytes, start);
    else for (let index = 0; index < length; index++) buffer[start + index] = bytes[index] as number;
    return length;
  }

  /** Writes `text` and returns its length in bytes. */
  string(text: string): number {
    const { length } = text;
    if (length > WRITTEN_ONE_BY_ONE_MAX) return this.bytes(UTF8.encode(text));
    this.#makeRoom(length);
    const buffer = this.#buffer;
    const start = this.#start;
    for (let index = 0; index < length; index++) {
      const code = text.charCodeAt(index);
      if (code >= NOT_ASCII) {
        this.#start += length;
        return this.bytes(UTF8.encode(text));
      }
      buffer[start + index] = code;
    }
    return length;
  }

  double(value: number): void {
    this.#makeRoom(8);
    new DataView(this.#buffer.buffer).setFloat64(this.#start, value, true);
  }

  finish(): Uint8Array {
    return this.#buffer.subarray(this.#start);
  }

  #largeVarint(value: bigint): void {
    const bytes: number[] = [];
    for (let rest = value; ; rest >>= 7n) {
      bytes.push(Number(rest & 0x7fn) | (rest > 0x7fn ? 0x80 : 0));
      if (rest <= 0x7fn) break;
    }
    this.bytes(Uint8Array.from(bytes));
  }

  #makeRoom(count: number): void {
    if (count > this.#start) {
      const used = this.length;
      const larger = new Uint8Array(Math.max(this.#buffer.length * 2, used + count + 64));
      larger.set(this.finish(), larger.length - used);
      this.#buffer = larger;
      this.#start = larger.length - used;
    }
    this.#start -= count;
  }
}
