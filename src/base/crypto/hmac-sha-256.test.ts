import assert from "node:assert/strict";
import { test } from "node:test";
import { hmacSha256 } from "./hmac-sha-256.ts";

const text = (value: string) => new TextEncoder().encode(value);
const bytes = (length: number, value: number) => new Uint8Array(length).fill(value);

/** RFC 4231, sections 4.2, 4.3, 4.4, 4.7 and 4.8. */
const SAMPLES: readonly [title: string, key: Uint8Array, message: Uint8Array, hash: string][] = [
  ["of 20 bytes", bytes(20, 0x0b), text("Hi There"), "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"],
  ["of text", text("Jefe"), text("what do ya want for nothing?"), "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"],
  ["of one byte again and again", bytes(20, 0xaa), bytes(50, 0xdd), "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"],
  [
    "longer than a block",
    bytes(131, 0xaa),
    text("Test Using Larger Than Block-Size Key - Hash Key First"),
    "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54",
  ],
];

for (const [title, key, message, hash] of SAMPLES) {
  test(`HMAC-SHA-256 with a key ${title} matches the RFC's test vector, also for a message in parts`, () => {
    const hex = (value: Uint8Array) => Array.from(value, (byte) => byte.toString(16).padStart(2, "0")).join("");

    assert.equal(hex(hmacSha256(key, message)), hash);
    assert.equal(hex(hmacSha256(key, message.subarray(0, 3), message.subarray(3))), hash);
  });
}
