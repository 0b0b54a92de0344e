import { deepEqual, throws } from "node:assert/strict";
import { describe, test } from "node:test";
import { crc32, deflateRawSync } from "node:zlib";
import fc from "fast-check";
import { readZip } from "./zip.ts";

interface Packed {
  readonly name: string;
  readonly content: Uint8Array;
  readonly method: "stored" | "deflated";
}

/** A zip according to the specification, written independently of the reader. */
function zipOf(files: readonly Packed[], comment = ""): Uint8Array {
  const locals: Buffer[] = [];
  const entries: Buffer[] = [];
  let offset = 0;
  for (const { name, content, method } of files) {
    const packed = method === "stored" ? Buffer.from(content) : deflateRawSync(content);
    const about = Buffer.alloc(26);
    about.writeUInt16LE(20, 0);
    about.writeUInt16LE(method === "stored" ? 0 : 8, 4);
    about.writeUInt32LE(crc32(content), 10);
    about.writeUInt32LE(packed.length, 14);
    about.writeUInt32LE(content.length, 18);
    about.writeUInt16LE(Buffer.byteLength(name), 22);
    const local = Buffer.concat([Buffer.from("PK\x03\x04"), about, Buffer.from(name), packed]);
    const place = Buffer.alloc(14);
    place.writeUInt32LE(offset, 10);
    entries.push(Buffer.concat([Buffer.from("PK\x01\x02\x14\x00"), about, place, Buffer.from(name)]));
    locals.push(local);
    offset += local.length;
  }
  const directory = Buffer.concat(entries);
  const end = Buffer.alloc(22);
  end.write("PK\x05\x06");
  end.writeUInt16LE(files.length, 8);
  end.writeUInt16LE(files.length, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(offset, 16);
  end.writeUInt16LE(comment.length, 20);
  return Buffer.concat([...locals, directory, end, Buffer.from(comment)]);
}

const file = fc.record({
  name: fc.string({ minLength: 1, maxLength: 20, unit: "grapheme" }),
  content: fc.uint8Array({ maxLength: 2_000 }),
  method: fc.constantFrom("stored" as const, "deflated" as const),
});
const files = fc.uniqueArray(file, { selector: ({ name }) => name, maxLength: 5 });

test("zip entries are extracted, stored or deflated, with or without a comment", () => {
  fc.assert(
    fc.property(files, fc.stringMatching(/^[a-z]{0,30}$/), (packed, comment) => {
      const zip = readZip(zipOf(packed, comment));
      deepEqual(
        zip.names,
        packed.map(({ name }) => name),
      );
      for (const { name, content } of packed) deepEqual(new Uint8Array(zip.read(name)), content);
    }),
  );
});

test("a flipped byte of a zip is an error or changes nothing: never other content", () => {
  fc.assert(
    fc.property(file, fc.nat(), fc.integer({ min: 1, max: 255 }), (packed, at, bits) => {
      const bytes = zipOf([packed]);
      bytes[at % bytes.length] = (bytes[at % bytes.length] ?? 0) ^ bits;
      try {
        deepEqual(new Uint8Array(readZip(bytes).read(packed.name)), packed.content);
      } catch (error) {
        if (!(error instanceof Error) || error.name === "AssertionError") throw error;
      }
    }),
  );
});

describe("an unreadable zip is reported with the reason", () => {
  const hello: Packed = { name: "hello", content: Buffer.from("hello hello hello"), method: "deflated" };
  const changed = (change: (bytes: DataView) => void) => {
    const bytes = zipOf([hello]);
    change(new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength));
    return bytes;
  };
  const directoryAt = zipOf([hello]).length - 22 - 46 - hello.name.length;
  for (const { it, bytes, says } of [
    {
      it: "something else",
      bytes: Buffer.from("not a zip at all, but long enough to be one"),
      says: /Cannot read the zip: it has no end-of-central-directory record/,
    },
    { it: "nothing", bytes: Buffer.alloc(0), says: /it has no end-of-central-directory record/ },
    { it: "a damaged entry", bytes: changed((view) => view.setUint32(directoryAt, 0)), says: /its entry 0 is corrupt/ },
    {
      it: "a wrong place",
      bytes: changed((view) => view.setUint32(directoryAt + 42, 1, true)),
      says: /"hello" in the zip: its local header is not where the central directory says/,
    },
    {
      it: "a wrong packed length",
      bytes: changed((view) => view.setUint32(directoryAt + 20, 1e6, true)),
      says: /"hello" in the zip: it is truncated/,
    },
    {
      it: "an unknown method",
      bytes: changed((view) => view.setUint16(directoryAt + 10, 12, true)),
      says: /its compression method 12 is neither stored nor deflated/,
    },
    { it: "a wrong checksum", bytes: changed((view) => view.setUint32(directoryAt + 16, 1, true)), says: /"hello": checksum mismatch/ },
    {
      it: "a size that is too large",
      bytes: changed((view) => view.setUint32(directoryAt + 24, 100, true)),
      says: /its size must be 100 bytes, is 17/,
    },
    { it: "a size that is too small", bytes: changed((view) => view.setUint32(directoryAt + 24, 3, true)), says: /larger than/ },
  ]) {
    test(it, () => throws(() => readZip(bytes).read("hello"), says));
  }
  test("a name that the zip does not have", () =>
    throws(() => readZip(zipOf([hello])).read("bye"), /Cannot find "bye" in the zip; it has hello/));
});
