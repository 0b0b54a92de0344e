/**
 * Reads a tar archive entry by entry as a stream, so that a layer of gigabytes is never held in memory. Supports what image tools write:
 * ustar, GNU long names and pax headers. Not here: unpacking to disk.
 */
import { TAR_BLOCK_BYTES } from "./tar-writer.ts";

export interface TarPart {
  /** Without "./" before and "/" after it. */
  readonly path: string;
  /** "link": symbolic or hard. */
  readonly is: "file" | "directory" | "link" | "other";
  readonly target: string;
  readonly sizeBytes: number;
  /** Content; must be read, if at all, before the next entry is requested. */
  content(): AsyncGenerator<Uint8Array>;
}

export class TarError extends Error {
  override readonly name = "TarError";
}

/** Longer names are rejected as malicious. */
const NAME_BYTES_MAX = 64 * 1024;

export async function* readTar(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<TarPart> {
  const input = new Pieces(pieces);
  let next: Overrides = {};
  for (;;) {
    const header = await input.block();
    if (header === undefined || header.every((byte) => byte === 0)) return;
    checkSum(header);
    const sizeBytes = next.sizeBytes ?? numberAt(header, 124, 12);
    const type = String.fromCharCode(header[156] ?? 0);
    if (isOverride(type)) {
      const bytes = await wholeOf(input, sizeBytes);
      next = { ...next, ...overridesOf(type, bytes) };
      continue;
    }
    const isFile = type === "0" || type === "\0" || type === "7";
    let remaining = isFile ? sizeBytes : 0;
    const padding = -remaining & (TAR_BLOCK_BYTES - 1);
    yield {
      path: (next.path ?? pathOf(header)).replace(/^(\.?\/)+/, "").replace(/\/+$/, ""),
      is: isFile ? "file" : type === "5" ? "directory" : type === "1" || type === "2" ? "link" : "other",
      target: next.target ?? textAt(header, 157, 100),
      sizeBytes: remaining,
      async *content() {
        while (remaining > 0) {
          const piece = await input.some(remaining);
          remaining -= piece.length;
          yield piece;
        }
      },
    };
    await input.skip(remaining + padding);
    next = {};
  }
}

/** Attributes of the next entry from an extension header. */
interface Overrides {
  readonly path?: string;
  readonly target?: string;
  readonly sizeBytes?: number;
}

/** GNU: "L" a long name, "K" a long target. pax: "x" for the next entry, "g" for all, of which nothing matters here. */
function isOverride(type: string): boolean {
  return type === "L" || type === "K" || type === "x" || type === "g";
}

function overridesOf(type: string, bytes: Uint8Array): Overrides {
  const text = new TextDecoder().decode(bytes);
  if (type === "L") return { path: untilNul(text) };
  if (type === "K") return { target: untilNul(text) };
  return type === "x" ? paxOverrides(bytes) : {};
}

/** Lines "<length> <key>=<value>\n", the length counting the bytes of all of its line. */
function paxOverrides(bytes: Uint8Array): Overrides {
  const found = new Map<string, string>();
  for (let offset = 0; offset < bytes.length;) {
    const blank = bytes.indexOf(0x20, offset);
    const lengthBytes = Number(new TextDecoder().decode(bytes.subarray(offset, blank)));
    if (blank < 0 || !Number.isInteger(lengthBytes) || lengthBytes <= 0 || lengthBytes > bytes.length - offset)
      throw new TarError("Cannot read the tar: a pax header is damaged");
    const line = new TextDecoder().decode(bytes.subarray(blank + 1, offset + lengthBytes - 1));
    const equals = line.indexOf("=");
    found.set(line.slice(0, equals), line.slice(equals + 1));
    offset += lengthBytes;
  }
  const [path, target, size] = [found.get("path"), found.get("linkpath"), found.get("size")];
  return {
    ...(path === undefined ? {} : { path }),
    ...(target === undefined ? {} : { target }),
    ...(size === undefined ? {} : { sizeBytes: Number(size) }),
  };
}

function pathOf(header: Uint8Array): string {
  const [name, prefix] = [textAt(header, 0, 100), textAt(header, 257, 5) === "ustar" ? textAt(header, 345, 155) : ""];
  return prefix === "" ? name : `${prefix}/${name}`;
}

function checkSum(header: Uint8Array): void {
  // The checksum field itself counts as blanks.
  const sum = header.reduce((total, byte, index) => total + (index >= 148 && index < 156 ? 0x20 : byte), 0);
  if (sum !== numberAt(header, 148, 8)) throw new TarError("Cannot read the tar: the sum of a header is wrong; it is damaged, or no tar");
}

function textAt(block: Uint8Array, offset: number, lengthBytes: number): string {
  return untilNul(new TextDecoder().decode(block.subarray(offset, offset + lengthBytes)));
}

function untilNul(text: string): string {
  const end = text.indexOf("\0");
  return end < 0 ? text : text.slice(0, end);
}

/** Octal digits, or for larger values GNU's encoding: the highest bit is set and the rest is the number. */
function numberAt(block: Uint8Array, offset: number, lengthBytes: number): number {
  const field = block.subarray(offset, offset + lengthBytes);
  const value =
    ((field[0] ?? 0) & 0x80) === 0
      ? Number.parseInt(textAt(block, offset, lengthBytes).trim() || "0", 8)
      : field.subarray(1).reduce((total, byte) => total * 256 + byte, 0);
  if (!Number.isSafeInteger(value) || value < 0)
    throw new TarError("Cannot read the tar: a number of a header is wrong; it is damaged, or no tar");
  return value;
}

async function wholeOf(input: Pieces, sizeBytes: number): Promise<Uint8Array> {
  if (sizeBytes > NAME_BYTES_MAX)
    throw new TarError(`Cannot read the tar: a name of ${sizeBytes} bytes; at most ${NAME_BYTES_MAX} are read`);
  const whole = new Uint8Array(sizeBytes);
  for (let offset = 0; offset < sizeBytes;) {
    const piece = await input.some(sizeBytes - offset);
    whole.set(piece, offset);
    offset += piece.length;
  }
  await input.skip(-sizeBytes & (TAR_BLOCK_BYTES - 1));
  return whole;
}

/** Takes an exact number of bytes from a stream of chunks. */
class Pieces {
  readonly #source: AsyncIterator<Uint8Array>;
  #piece: Uint8Array = new Uint8Array();

  constructor(pieces: AsyncIterable<Uint8Array>) {
    this.#source = pieces[Symbol.asyncIterator]();
  }

  /** A whole header; undefined at the end of the archive. */
  async block(): Promise<Uint8Array | undefined> {
    const block = new Uint8Array(TAR_BLOCK_BYTES);
    for (let offset = 0; offset < TAR_BLOCK_BYTES;) {
      if (!(await this.#fill())) {
        if (offset === 0) return undefined;
        throw new TarError("Cannot read the tar: it ends in the middle of a header");
      }
      const taken = this.#take(TAR_BLOCK_BYTES - offset);
      block.set(taken, offset);
      offset += taken.length;
    }
    return block;
  }

  /** At least one byte and at most this many. */
  async some(bytesMax: number): Promise<Uint8Array> {
    if (await this.#fill()) return this.#take(bytesMax);
    throw new TarError("Cannot read the tar: it ends in the middle of a file");
  }

  async skip(bytes: number): Promise<void> {
    for (let remaining = bytes; remaining > 0;) remaining -= (await this.some(remaining)).length;
  }

  /** True if a chunk is available. */
  async #fill(): Promise<boolean> {
    while (this.#piece.length === 0) {
      const { done, value } = await this.#source.next();
      if (done === true) return false;
      this.#piece = value;
    }
    return true;
  }

  #take(bytesMax: number): Uint8Array {
    const taken = this.#piece.subarray(0, bytesMax);
    this.#piece = this.#piece.subarray(taken.length);
    return taken;
  }
}
