import assert from "node:assert/strict";
import { createPrivateKey, createPublicKey, verify } from "node:crypto";
import test from "node:test";
import fc from "fast-check";
import { p256Key } from "./p256-signer.ts";

/** RFC 6979, appendix A.2.5. */
const SECRET = 0xc9afa9d845ba75166b5c215767b1d6934e50c3db36e89b127b8a622b120f6721n;
const SIGNATURES = {
  sample:
    "efd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716f7cb1c942d657c41d436c7a1b6e29f65f3e900dbb9aff4064dc4ab2f843acda8",
  test: "f1abb023518351cd71d881567b1ea663ed3efcf6c5132b354f28d3b0b7d38367019f4113742a2b14bd25926b49c649155f267e60d3814b4c0cc84250e46f0083",
};

for (const [message, expected] of Object.entries(SIGNATURES)) {
  test(`the signature of "${message}" equals that of RFC 6979, and verifies`, () => {
    const { signer, verifier } = p256Key(SECRET);
    const bytes = new TextEncoder().encode(message);

    const signature = signer.sign(bytes);

    assert.equal(Buffer.from(signature).toString("hex"), expected);
    assert.equal(verifier.verify(bytes, signature, "ES256"), true);
  });
}

test("OpenSSL parses the key and verifies its signatures, for any key and message", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 1n, max: 2n ** 255n }), fc.uint8Array({ maxLength: 200 }), (secret, message) => {
      const { signer, verifier, pem } = p256Key(secret);
      const key = createPublicKey(createPrivateKey(pem));
      const signature = signer.sign(message);

      assert.deepEqual(new Uint8Array(key.export({ type: "spki", format: "der" })), signer.publicKey);
      assert.equal(verify("sha256", message, { key, dsaEncoding: "ieee-p1363" }, signature), true);
      assert.deepEqual(verifier.jwk, key.export({ format: "jwk" }));
      assert.equal(verifier.verify(message, signature, "ES256"), true);
    }),
    { numRuns: 10 },
  );
});

test("a wrong signature is rejected", () => {
  const { signer, verifier } = p256Key(SECRET);
  const message = new TextEncoder().encode("sample");
  const signature = signer.sign(message);
  const changed = Uint8Array.from(signature);
  changed[10] = (changed[10] ?? 0) ^ 1;

  for (const bad of [changed, signature.subarray(1), new Uint8Array(64), new Uint8Array(0), Uint8Array.of(...signature, 0)]) {
    assert.equal(verifier.verify(message, bad, "ES256"), false);
  }
  assert.equal(verifier.verify(message, signature, "RS256"), false);
  assert.equal(verifier.verify(message.subarray(1), signature, "ES256"), false);
});

test("a number out of range is rejected as a key", () => {
  for (const secret of [0n, -1n, 2n ** 256n]) assert.throws(() => p256Key(secret), RangeError);
});
