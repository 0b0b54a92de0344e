import { deepEqual, equal, match, throws } from "node:assert/strict";
import { createHash, createPublicKey, generateKeyPairSync, sign, verify, type KeyObject } from "node:crypto";
import { test } from "node:test";
import fc from "fast-check";
import type { SignatureAlgorithm } from "../../base/crypto/signing.ts";
import { testAuthority } from "../../testing/fixtures/certificates.ts";
import { isSignedBy, keyIdOf, keyProblem, makeKey, readJsonWebKey, signerFromPem, verifierOfSigner, verifiersFromPem } from "./keys.ts";

const MESSAGE = Buffer.from("a message");

function pemOf(key: KeyObject): string {
  return (key.type === "private" ? key.export({ type: "pkcs8", format: "pem" }) : key.export({ type: "spki", format: "pem" })) as string;
}

const RSA = generateKeyPairSync("rsa", { modulusLength: 2048 });
const CURVES = {
  ES256: generateKeyPairSync("ec", { namedCurve: "P-256" }),
  ES384: generateKeyPairSync("ec", { namedCurve: "P-384" }),
  ES512: generateKeyPairSync("ec", { namedCurve: "P-521" }),
};
const KEYS = { RS256: RSA, ...CURVES };

test("OpenSSL reads a generated key and verifies its signatures", () => {
  for (let times = 0; times < 300; times++) {
    const { pem, signer } = makeKey();
    const publicKey = createPublicKey(pem);
    deepEqual(publicKey.export({ type: "spki", format: "der" }), Buffer.from(signer.publicKey));
    if (times > 3) continue;
    const signature = signer.sign(MESSAGE);
    equal(verify("sha256", MESSAGE, { key: publicKey, dsaEncoding: "ieee-p1363" }, signature), true);
    equal(verifierOfSigner(signer).verify(MESSAGE, signature, "ES256"), true);
    deepEqual(signerFromPem(pem).publicKey, signer.publicKey);
  }
});

for (const [algorithm, { privateKey, publicKey }] of Object.entries(KEYS)) {
  test(`a ${algorithm} key signs, and its public key verifies in any encoding`, () => {
    const signer = signerFromPem(pemOf(privateKey));
    const signature = signer.sign(MESSAGE);

    equal(signer.algorithm, algorithm);
    const readers = [pemOf(publicKey), pemOf(privateKey)].flatMap(verifiersFromPem);
    const fromJwk = readJsonWebKey({ ...publicKey.export({ format: "jwk" }), kid: "one", use: "sig" });
    equal(fromJwk?.keyId, "one");
    for (const verifier of [...readers, fromJwk, verifierOfSigner(signer)]) {
      equal(verifier?.verify(MESSAGE, signature, algorithm as SignatureAlgorithm), true);
      deepEqual(verifier?.jwk, publicKey.export({ format: "jwk" }));
    }
  });

  test(`an invalid ${algorithm} signature is rejected without an exception`, () => {
    const [verifier] = verifiersFromPem(pemOf(publicKey));
    const good = signerFromPem(pemOf(privateKey)).sign(MESSAGE);
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        equal(verifier?.verify(MESSAGE, bytes, algorithm as SignatureAlgorithm), false);
      }),
    );
    fc.assert(
      fc.property(fc.nat(good.length * 8 - 1), (bit) => {
        const changed = Uint8Array.from(good);
        changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
        equal(verifier?.verify(MESSAGE, changed, algorithm as SignatureAlgorithm), false);
      }),
      { numRuns: 20 },
    );
  });
}

test("a signature is verified only with an algorithm of its key, whatever the token requests", () => {
  const [verifier] = verifiersFromPem(pemOf(CURVES.ES256.publicKey));
  const signature = signerFromPem(pemOf(CURVES.ES256.privateKey)).sign(MESSAGE);

  for (const algorithm of ["ES384", "ES512", "RS256", "PS256", "none", "HS256"]) {
    equal(verifier?.verify(MESSAGE, signature, algorithm as SignatureAlgorithm), false);
  }
  const asDer = sign("sha256", MESSAGE, { key: CURVES.ES256.privateKey, dsaEncoding: "der" });
  equal(verifier?.verify(MESSAGE, asDer, "ES256"), false);
});

test("RSA keys support all of their algorithms, and salts must be as long as the hash", () => {
  const [verifier] = verifiersFromPem(pemOf(RSA.publicKey));
  for (const bits of [256, 384, 512]) {
    const plain = sign(`sha${bits}`, MESSAGE, { key: RSA.privateKey, padding: 1 });
    equal(verifier?.verify(MESSAGE, plain, `RS${bits}` as SignatureAlgorithm), true);
    equal(verifier?.verify(MESSAGE, plain, `PS${bits}` as SignatureAlgorithm), false);
    for (const [saltLength, expected] of [
      [bits / 8, true],
      [10, false],
    ] as const) {
      const salted = sign(`sha${bits}`, MESSAGE, { key: RSA.privateKey, padding: 6, saltLength });
      equal(verifier?.verify(MESSAGE, salted, `PS${bits}` as SignatureAlgorithm), expected);
    }
  }
});

test("a JSON Web Key that names its algorithm supports no other", () => {
  const jwk = RSA.publicKey.export({ format: "jwk" });
  deepEqual(readJsonWebKey({ ...jwk, alg: "RS512" })?.algorithms, ["RS512"]);
  equal(readJsonWebKey({ ...jwk, alg: "ES256" }), undefined);
  equal(readJsonWebKey({ ...jwk, alg: "none" }), undefined);
});

const weak = generateKeyPairSync("rsa", { modulusLength: 1024 });
const unknownCurve = generateKeyPairSync("ec", { namedCurve: "secp256k1" });

const BAD_JWKS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  "a shared secret": { kty: "oct", k: "c2VjcmV0" },
  "an RSA key that is too small": weak.publicKey.export({ format: "jwk" }),
  "an RSA key with an insecure exponent": { ...RSA.publicKey.export({ format: "jwk" }), e: "AQ" },
  "a curve that is not known": unknownCurve.publicKey.export({ format: "jwk" }),
  "a point that is not on its curve": { kty: "EC", crv: "P-256", x: "AAAA", y: "AAAA" },
  "a key of an unknown kind": { kty: "OKP", crv: "Ed25519", x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo" },
  "a key without its numbers": { kty: "RSA" },
  "numbers that are no text": { kty: "RSA", n: 1, e: {} },
  nothing: {},
};

for (const [what, jwk] of Object.entries(BAD_JWKS)) {
  test(`${what} is rejected as a key`, () => equal(readJsonWebKey(jwk), undefined));
}

test("of a private JSON Web Key only the public key is kept", () => {
  const jwk = CURVES.ES256.privateKey.export({ format: "jwk" });
  deepEqual(readJsonWebKey(jwk as Record<string, unknown>)?.jwk, CURVES.ES256.publicKey.export({ format: "jwk" }));
});

for (const [pem, message] of [
  ["garbage", /contains no unencrypted PEM private key/],
  [pemOf(RSA.publicKey), /contains no unencrypted PEM private key/],
  [RSA.privateKey.export({ type: "pkcs8", format: "pem", cipher: "aes-256-cbc", passphrase: "x" }) as string, /no unencrypted PEM/],
  [pemOf(weak.privateKey), /1024 bits, the minimum is 2048/],
  [pemOf(unknownCurve.privateKey), /curve secp256k1, it must be P-256/],
  [pemOf(generateKeyPairSync("ed25519").privateKey), /type ed25519/],
] as const) {
  test(`a file without a usable signing key is rejected: ${message.source}`, () => throws(() => signerFromPem(pem), message));
}

test("a file may have several keys and certificates; other blocks are skipped, and a file without a key is an error", () => {
  const { certificate } = testAuthority("a");
  const parameters = "-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n";
  equal(verifiersFromPem(`${pemOf(RSA.publicKey)}${parameters}${certificate}${pemOf(CURVES.ES384.privateKey)}`).length, 3);
  throws(() => verifiersFromPem(parameters), /contains no PEM public key/);
  throws(() => verifiersFromPem(pemOf(weak.publicKey)), /1024 bits/);
});

test("the key ID is the hash of the public key, as in upstream", () => {
  const [verifier] = verifiersFromPem(pemOf(RSA.publicKey));
  const expected = createHash("sha256")
    .update(RSA.publicKey.export({ type: "spki", format: "der" }))
    .digest("base64url");
  equal(verifier?.keyId, expected);
  equal(keyIdOf(RSA.publicKey.export({ type: "spki", format: "der" })), expected);
  match(expected, /^[\w-]{43}$/);
});

test("signer and key identifier are computed for any input", () => {
  const [ours, other] = [testAuthority("ca"), testAuthority("ca")];
  const leaf = ours.sign("x");
  deepEqual(
    [ours, other].map(({ certificate }) => isSignedBy(leaf.certificate, certificate)),
    [true, false],
  );
  equal(isSignedBy("garbage", ours.certificate), false);
  deepEqual([leaf, { ...leaf, key: other.key }, { ...leaf, key: "x" }, { ...leaf, certificate: "x" }].map(keyProblem), [
    undefined,
    "pair",
    "key",
    "certificate",
  ]);
});
