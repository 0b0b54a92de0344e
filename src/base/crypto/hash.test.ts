import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { HASHES, hmacSha256, sha256, sha256Hex } from "./hash.ts";

const encoder = new TextEncoder();

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}

/** FIPS 180-4, the digests of "abc". */
const DIGESTS = {
  "SHA-1": "a9993e364706816aba3e25717850c26c9cd0d89d",
  "SHA-256": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
  "SHA-384": "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed8086072ba1e7cc2358baeca134c825a7",
  "SHA-512":
    "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
};

test("each name of HASHES is the hash function of that name", () => {
  deepEqual(Object.fromEntries(Object.entries(HASHES).map(([name, hash]) => [name, hex(hash(encoder.encode("abc")))])), DIGESTS);
});

test("sha256Hex writes upper-case hexadecimal, which entity tags and fingerprints are made of", () => {
  equal(sha256Hex(encoder.encode("abc")), DIGESTS["SHA-256"].toUpperCase());
});

test("sha256 of a view hashes the view and not the buffer behind it", () => {
  deepEqual(sha256(encoder.encode("xabcx").subarray(1, 4)), sha256(encoder.encode("abc")));
});

test("hmacSha256 takes the key first, then the message (RFC 4231, test case 2)", () => {
  equal(
    hex(hmacSha256(encoder.encode("Jefe"), encoder.encode("what do ya want for nothing?"))),
    "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
  );
});
