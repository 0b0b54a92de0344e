import { deepEqual, equal } from "node:assert/strict";
import { describe, it } from "node:test";
import { namesServer } from "./client-hello.ts";

const SERVER_NAME = extension(0, Buffer.from("00000b00000861", "hex"));
const KEY_SHARE = extension(51, Buffer.alloc(1_200));

function extension(type: number, content: Buffer): Buffer {
  return Buffer.concat([uint(type, 2), uint(content.length, 2), content]);
}

function uint(value: number, bytes: number): Buffer {
  const written = Buffer.alloc(bytes);
  written.writeUIntBE(value, 0, bytes);
  return written;
}

/** The handshake message of a client. */
function hello(...extensions: readonly Buffer[]): Buffer {
  const all = Buffer.concat(extensions);
  const [session, suites, methods] = [Buffer.alloc(32), Buffer.alloc(6), Buffer.alloc(1)];
  const body = Buffer.concat([
    ...[Buffer.alloc(34), uint(session.length, 1), session, uint(suites.length, 2), suites, uint(methods.length, 1), methods],
    ...(extensions.length === 0 ? [] : [uint(all.length, 2), all]),
  ]);
  return Buffer.concat([uint(1, 1), uint(body.length, 3), body]);
}

/** In records of at most this many bytes. */
function inRecords(message: Buffer, bytesMax = 16_384): Buffer {
  const records: Buffer[] = [];
  for (let start = 0; start < message.length; start += bytesMax) {
    const content = message.subarray(start, start + bytesMax);
    records.push(Buffer.from([22, 3, 1]), uint(content.length, 2), content);
  }
  return Buffer.concat(records);
}

describe("whether a TLS client names the server", () => {
  for (const [title, head, expected] of [
    ["with a name", inRecords(hello(KEY_SHARE, SERVER_NAME)), true],
    ["with a name, in several records", inRecords(hello(KEY_SHARE, SERVER_NAME), 100), true],
    ["with a name, followed by early data", Buffer.concat([inRecords(hello(SERVER_NAME)), Buffer.from([23, 3, 3, 0, 1, 0])]), true],
    ["without a name", inRecords(hello(KEY_SHARE)), false],
    ["without extensions", inRecords(hello()), false],
    ["not TLS", Buffer.from("GET / HTTP/1.1\r\n"), false],
    ["another message than the first of a client", inRecords(Buffer.from([2, 0, 0, 1, 0])), false],
    ["lengths beyond the end", inRecords(Buffer.concat([Buffer.from([1, 0, 0, 40]), Buffer.alloc(40, 255)])), false],
    ["a message that is too long", inRecords(Buffer.concat([Buffer.from([1, 255, 255, 255]), Buffer.alloc(40_000)])), false],
  ] as const) {
    it(title, () => equal(namesServer(head), expected));
  }

  it("is known from the last byte of the message on, however it is split", () => {
    const head = inRecords(hello(KEY_SHARE, SERVER_NAME), 500);
    const early = Array.from({ length: head.length }, (_, length) => namesServer(head.subarray(0, length)));
    deepEqual([...new Set(early)], [undefined]);
    equal(namesServer(head), true);
  });
});
