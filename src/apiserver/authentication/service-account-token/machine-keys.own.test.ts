/** Tokens with Node's cryptography: signatures interoperate, and attacks based on a public key fail. */
import { deepEqual, doesNotThrow, equal, throws } from "node:assert/strict";
import { createHmac, createPublicKey, generateKeyPairSync, sign, verify, type KeyObject } from "node:crypto";
import { test } from "node:test";
import type { SignatureAlgorithm, Signer, Verifier } from "../../../base/crypto/signing.ts";
import { writeToken } from "../../../api/machinery/codec/json-web-token-writer.ts";
import { checkSignature, readToken, type SignedToken } from "../../shared/json-web-token.ts";
import { KEY, signed, toBase64Url } from "./testing/token-server.ts";
import { encodeBase64Url } from "../../../api/machinery/codec/base64-url.ts";

interface Pair {
  readonly algorithm: SignatureAlgorithm;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

const PAIRS: readonly Pair[] = [
  { algorithm: "ES256", ...generateKeyPairSync("ec", { namedCurve: "P-256" }) },
  { algorithm: "ES384", ...generateKeyPairSync("ec", { namedCurve: "P-384" }) },
  { algorithm: "RS256", ...generateKeyPairSync("rsa", { modulusLength: 2048 }) },
];

function hashOf(algorithm: SignatureAlgorithm): string {
  return `sha${algorithm.slice(2)}`;
}

function signerOf({ algorithm, privateKey, publicKey }: Pair): Signer {
  return {
    algorithm,
    publicKey: publicKey.export({ type: "spki", format: "der" }),
    sign: (message) => sign(hashOf(algorithm), message, { key: privateKey, dsaEncoding: "ieee-p1363" }),
  };
}

function verifierOf({ algorithm, publicKey }: Pair): Verifier {
  return {
    keyId: "k",
    algorithms: [algorithm],
    jwk: {},
    verify: (message, signature) => verify(hashOf(algorithm), message, { key: publicKey, dsaEncoding: "ieee-p1363" }, signature),
  };
}

const BAD = { message: "go-jose/go-jose: error in cryptographic primitive" };

for (const pair of PAIRS) {
  const { algorithm, privateKey, publicKey } = pair;
  const verifiers = [verifierOf(pair)];

  test(`a token signed with ${algorithm} is accepted, and no other is`, () => {
    const token = writeToken({ iss: "i" }, { signer: signerOf(pair), keyId: "k" });

    doesNotThrow(() => checkSignature(readToken(token) as SignedToken, verifiers));
    throws(() => checkSignature(readToken(writeToken({}, { signer: KEY.signer, keyId: "k" })) as SignedToken, verifiers), BAD);
  });

  for (const [form, secret] of [
    ["PEM", publicKey.export({ type: "spki", format: "pem" })],
    ["DER", publicKey.export({ type: "spki", format: "der" })],
  ] as const) {
    test(`the public key of ${algorithm} in ${form} is not accepted as a shared secret`, () => {
      const message = `${toBase64Url('{"alg":"HS256","kid":"k"}')}.${toBase64Url('{"iss":"i"}')}`;
      const token = `${message}.${createHmac("sha256", secret).update(message).digest("base64url")}`;

      throws(() => checkSignature(readToken(token) as SignedToken, verifiers), BAD);
    });
  }

  if (algorithm !== "RS256") {
    test(`an ASN.1 DER encoded ${algorithm} signature is rejected`, () => {
      const message = `${toBase64Url(`{"alg":"${algorithm}","kid":"k"}`)}.${toBase64Url('{"iss":"i"}')}`;
      const token = `${message}.${encodeBase64Url(sign(hashOf(algorithm), Buffer.from(message), privateKey))}`;

      throws(() => checkSignature(readToken(token) as SignedToken, verifiers), BAD);
    });
  }
}

test("external verifiers can check our tokens with the published key", () => {
  const [header = "", payload = "", signature = ""] = signed({ iss: "i" }).split(".");
  const key = createPublicKey({ key: { ...KEY.verifier.jwk }, format: "jwk" });

  const options = { key, dsaEncoding: "ieee-p1363" } as const;
  equal(verify("sha256", Buffer.from(`${header}.${payload}`), options, Buffer.from(signature, "base64url")), true);
  deepEqual(JSON.parse(Buffer.from(payload, "base64url").toString()), { iss: "i" });
});
