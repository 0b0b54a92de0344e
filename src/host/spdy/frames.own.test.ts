import assert from "node:assert/strict";
import test from "node:test";
import { constants, createDeflate, deflateSync, type Deflate } from "node:zlib";
import fc from "fast-check";
import { rounds, testSeed } from "../../testing/rounds.ts";
import { SPDY_DICTIONARY, SPDY_DICTIONARY_ID } from "./dictionary.ts";
import { FrameDecoder } from "./frame-decoder.ts";
import { encodeFrame, type Frame } from "./frames.ts";
import { SpdyProtocolError } from "./protocol-error.ts";
import { HeaderReader, HeaderWriter } from "./header-blocks.ts";
import { CONTROL_FRAME_BYTES_MAX, HEADER_BLOCK_BYTES_MAX } from "./limits.ts";

const streamId = fc.integer({ min: 1, max: 0x7fffffff });
const uint31 = fc.integer({ min: 0, max: 0x7fffffff });
const headers = fc.dictionary(
  fc.string({ maxLength: 20 }).map((name) => name.toLowerCase()),
  fc.string({ maxLength: 60 }).map((value) => value.replaceAll("\0", "")),
  { maxKeys: 8, noNullPrototype: true },
);

/** Plain objects, as the decoder makes. */
const record = <T>(model: { [K in keyof T]: fc.Arbitrary<T[K]> }): fc.Arbitrary<T> => fc.record(model, { noNullPrototype: true });

const anyFrame: fc.Arbitrary<Frame> = fc.oneof(
  record({ is: fc.constant("syn-stream" as const), streamId, headers, isLast: fc.boolean(), isOneWay: fc.boolean() }),
  record({ is: fc.constantFrom("syn-reply" as const, "headers" as const), streamId, headers, isLast: fc.boolean() }),
  record({ is: fc.constant("reset" as const), streamId, status: uint31 }),
  record({
    is: fc.constant("settings" as const),
    values: fc.array(record({ id: fc.integer({ min: 1, max: 0xffffff }), value: uint31 }), { maxLength: 4 }),
  }),
  record({ is: fc.constant("ping" as const), id: uint31 }),
  record({ is: fc.constant("goaway" as const), lastStreamId: uint31, status: uint31 }),
  record({ is: fc.constant("window-update" as const), streamId, bytes: uint31 }),
  record({ is: fc.constant("data" as const), streamId, bytes: fc.uint8Array({ maxLength: 300 }), isLast: fc.boolean() }),
);

/** Reassembles the parts of a data frame. */
function whole(frames: readonly Frame[]): Frame[] {
  const joined: Frame[] = [];
  for (const frame of frames) {
    const last = joined.at(-1);
    if (frame.is === "data" && last?.is === "data" && last.streamId === frame.streamId && !last.isLast)
      joined[joined.length - 1] = { ...frame, bytes: Uint8Array.from([...last.bytes, ...frame.bytes]) };
    else joined.push(frame.is === "data" ? { ...frame, bytes: Uint8Array.from(frame.bytes) } : frame);
  }
  return joined;
}

test("decoded frames equal the encoded ones, however their bytes are split", () => {
  fc.assert(
    fc.property(fc.array(anyFrame, { maxLength: 12 }), fc.infiniteStream(fc.integer({ min: 1, max: 40 })), (frames, lengths) => {
      const writer = new HeaderWriter();
      const bytes = Buffer.concat(frames.map((frame) => encodeFrame(frame, writer)));
      const decoder = new FrameDecoder();
      const received: Frame[] = [];
      for (let at = 0; at < bytes.length;) {
        const end = at + (lengths.next().value as number);
        received.push(...decoder.take(bytes.subarray(at, end)));
        at = end;
      }

      assert.deepEqual(whole(received), whole(frames));
    }),
    { numRuns: rounds({ quick: 200, full: 5_000 }), seed: testSeed() },
  );
});

test("arbitrary bytes give frames or a SpdyProtocolError", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 400 }), fc.boolean(), (bytes, isControl) => {
      if (isControl && bytes.length > 4) bytes.set([0x80, 3, 0, (bytes[3] ?? 0) % 10]);
      try {
        for (const _frame of new FrameDecoder().take(bytes));
      } catch (error) {
        assert.ok(error instanceof SpdyProtocolError, String(error));
      }
    }),
    { numRuns: rounds({ quick: 500, full: 20_000 }), seed: testSeed() },
  );
});

test("the dictionary has the checksum that zlib announces", () => {
  // zlib writes the checksum of its dictionary after its first two bytes.
  assert.equal(deflateSync("", { dictionary: SPDY_DICTIONARY }).readUInt32BE(2), SPDY_DICTIONARY_ID);
});

/** Compresses as other implementations do: one zlib stream for all blocks, which refers to the dictionary and to earlier blocks. */
async function packed(deflate: Deflate, block: Uint8Array): Promise<Uint8Array> {
  const pieces: Buffer[] = [];
  const listener = (piece: Buffer) => void pieces.push(piece);
  deflate.on("data", listener);
  deflate.write(block);
  await new Promise<void>((resolve) => deflate.flush(constants.Z_SYNC_FLUSH, () => setImmediate(resolve)));
  deflate.off("data", listener);
  return Buffer.concat(pieces);
}

function block(entries: readonly (readonly [string, string])[]): Buffer {
  const number = (value: number) => Buffer.from([value >>> 24, value >>> 16, value >>> 8, value]);
  return Buffer.concat([number(entries.length), ...entries.flat().flatMap((word) => [number(word.length), Buffer.from(word)])]);
}

test("headers that refer to the dictionary and to all earlier blocks are decoded", async () => {
  const deflate = createDeflate({ dictionary: SPDY_DICTIONARY, level: 9 });
  const reader = new HeaderReader();
  const long = Array.from({ length: 400 }, (_, index) => String(index * 7919)).join(" ");

  for (let round = 0; round < 100; round++) {
    const entries = [
      ["streamtype", "error"],
      ["accept-encoding", "gzip,deflate,sdch"],
      ["round", String(round)],
      ["long", `${round}${long}`],
    ] as const;
    assert.deepEqual(reader.read(await packed(deflate, block(entries))), Object.fromEntries(entries));
  }
});

const zlib = (plain: Uint8Array) => deflateSync(plain, { dictionary: SPDY_DICTIONARY, finishFlush: constants.Z_SYNC_FLUSH });
const lie = Buffer.from([0, 0, 0, 1, 0x7f, 0xff, 0xff, 0xff, 0x61]);

for (const [what, bytes, why] of [
  [
    "that unpack to more than the limit",
    zlib(Buffer.alloc(HEADER_BLOCK_BYTES_MAX * 1_000)),
    /Cannot decompress headers to at most 65536 bytes/,
  ],
  ["that are not packed", Buffer.from("plain text"), /must be compressed with zlib/],
  ["with another dictionary", deflateSync("", { dictionary: Buffer.from("other") }), /with the dictionary of SPDY\/3/],
  ["without any bytes", Buffer.alloc(0), /must be compressed with zlib/],
  ["whose lengths lie", zlib(lie), /Headers are truncated/],
  ["that say they are four billion", zlib(Buffer.from([0xff, 0xff, 0xff, 0xff])), /Headers are truncated/],
  [
    "of the same name twice",
    zlib(
      block([
        ["a", "1"],
        ["A", "2"],
      ]),
    ),
    /Duplicate header "a"/,
  ],
] as const) {
  test(`headers ${what} are rejected`, () => {
    assert.throws(() => new HeaderReader().read(bytes), { name: "SpdyProtocolError", message: why });
  });
}

test("a header named __proto__ is decoded", () => {
  const read = new HeaderReader().read(new HeaderWriter().write(Object.fromEntries([["__proto__", "x"]])));

  assert.deepEqual(Object.entries(read), [["__proto__", "x"]]);
});

for (const [what, bytes, why] of [
  ["of another version", [0x80, 2, 0, 6, 0, 0, 0, 4, 0, 0, 0, 1], /SPDY version must be 3, is 2/],
  ["that is too large", [0x80, 3, 0, 6, 0, 1, 0, 1], new RegExp(`at most ${CONTROL_FRAME_BYTES_MAX} bytes, has 65537`)],
  ["that is too short", [0x80, 3, 0, 3, 0, 0, 0, 4, 0, 0, 0, 1], /truncated after 4 bytes/],
  ["of settings that are not there", [0x80, 3, 0, 4, 0, 0, 0, 4, 0xff, 0xff, 0xff, 0xff], /truncated after/],
] as const) {
  test(`a control frame ${what} is rejected`, () => {
    assert.throws(() => [...new FrameDecoder().take(Uint8Array.from(bytes))], { name: "SpdyProtocolError", message: why });
  });
}

test("control frames of unknown types are ignored", () => {
  const ping = encodeFrame({ is: "ping", id: 1 }, new HeaderWriter());
  const frames = [...new FrameDecoder().take(Buffer.concat([Buffer.from([0x80, 3, 0, 77, 0, 0, 0, 2, 1, 2]), ping]))];

  assert.deepEqual(frames, [{ is: "ping", id: 1 }]);
});

test("a data frame of 16 MB is passed on as it arrives", () => {
  const decoder = new FrameDecoder();
  const first = [...decoder.take(Uint8Array.from([0, 0, 0, 5, 1, 0xff, 0xff, 0xff, 1, 2, 3]))];

  assert.deepEqual(whole(first), [{ is: "data", streamId: 5, bytes: Uint8Array.of(1, 2, 3), isLast: false }]);
});
