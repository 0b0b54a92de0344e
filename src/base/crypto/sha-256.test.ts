import { equal } from "node:assert/strict";
import { test } from "node:test";
import { sha256Hex } from "./sha-256.ts";

const encoder = new TextEncoder();

/** Inputs around the block length, where padding does or does not need a block of its own. */
const known: readonly { readonly input: string; readonly hash: string }[] = [
  { input: "", hash: "E3B0C44298FC1C149AFBF4C8996FB92427AE41E4649B934CA495991B7852B855" },
  { input: "abc", hash: "BA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD" },
  { input: "a".repeat(55), hash: "9F4390F8D30C2DD92EC9F095B65E2B9AE9B0A925A5258E241C9F1E910F734318" },
  { input: "a".repeat(56), hash: "B35439A4AC6F0948B6D6F9E3C6AF0F5F590CE20F1BDE7090EF7970686EC6738A" },
  { input: "a".repeat(63), hash: "7D3E74A05D7DB15BCE4AD9EC0658EA98E3F06EEECF16B4C6FFF2DA457DDC2F34" },
  { input: "a".repeat(64), hash: "FFE054FE7AE0CB6DC65C3AF9B61D5209F439851DB43D0BA5997337DF154668EB" },
  { input: "a".repeat(65), hash: "635361C48BB9EAB14198E76EA8AB7F1A41685D6AD62AA9146D301D4F17EB0AE0" },
  { input: "a".repeat(1000), hash: "41EDECE42D63E8D9BF515A9BA6932E1C20CBC9F5A5D134645ADB5DB1B9737EA3" },
];

for (const { input, hash } of known) {
  test(`SHA-256 of ${input.length} bytes matches the standard`, () => {
    equal(sha256Hex(encoder.encode(input)), hash);
  });
}

test("a view into a larger buffer is hashed alone", () => {
  equal(sha256Hex(encoder.encode("xabcx").subarray(1, 4)), sha256Hex(encoder.encode("abc")));
});
