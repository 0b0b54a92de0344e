import { deepEqual, doesNotThrow, equal, throws } from "node:assert/strict";
import { test } from "node:test";
import { writeToken } from "../../api/machinery/codec/json-web-token-writer.ts";
import { checkSignature, readToken, TOKEN_LENGTH_MAX, type SignedToken } from "./json-web-token.ts";
import {
  headerOf,
  KEY,
  OTHER_KEY,
  signed,
  signedText,
  textOf,
  toBase64Url,
} from "../authentication/service-account-token/testing/token-server.ts";

const HEADER = `{"alg":"ES256","kid":"${KEY.verifier.keyId}"}`;

test("a JSON Web Token names algorithm and key, and its claims are sorted by name", () => {
  const token = writeToken({ iss: "<i>", aud: ["a"], "kubernetes.io": { z: 1, a: 2 } }, { signer: KEY.signer, keyId: "k" });

  deepEqual(headerOf(token), { alg: "ES256", kid: "k" });
  equal(textOf(token, 1), '{"aud":["a"],"iss":"\\u003ci\\u003e","kubernetes.io":{"a":2,"z":1}}');
});

test("an encoded JSON Web Token can be decoded, and its signature is valid", () => {
  const token = readToken(signed({ iss: "i" })) as SignedToken;

  deepEqual([token.algorithm, token.keyId, token.payload], ["ES256", KEY.verifier.keyId, { iss: "i" }]);
  doesNotThrow(() => checkSignature(token, [OTHER_KEY.verifier, KEY.verifier]));
});

for (const [what, text] of [
  ["nothing", ""],
  ["one part", "abc"],
  ["two parts", "e30.e30"],
  ["four parts", "e30.e30.e30.e30"],
  ["a header that is not base64", "!.e30.e30"],
  ["a payload that is not base64", "e30.!.e30"],
  ["a signature that is not base64", "e30.e30.!"],
  ["a padded signature", `${signed({})}=`],
  ["a header that is not JSON", `${toBase64Url("{")}.e30.e30`],
  ["a payload that is not JSON", `e30.${toBase64Url("x")}.e30`],
  ["a header that is a list", `${toBase64Url("[]")}.e30.e30`],
  ["a payload that is a string", `e30.${toBase64Url('"x"')}.e30`],
  ["a payload that is null", `e30.${toBase64Url("null")}.e30`],
  ["a header with two algorithms", signedText(`{"alg":"none","alg":"ES256"}`, "{}")],
  ["a numeric key id", signedText(`{"alg":"ES256","kid":1}`, "{}")],
  ["a token longer than any header", signed({ iss: "A".repeat(TOKEN_LENGTH_MAX) })],
  ["deeply nested JSON", `e30.${toBase64Url("[".repeat(100_000))}.e30`],
] as const) {
  test(`${what} is not a JSON Web Token`, () => {
    equal(readToken(text), undefined);
  });
}

const BAD = "go-jose/go-jose: error in cryptographic primitive";

for (const [what, text, message] of [
  ["with a modified payload", signed({ iss: "i" }).replace(/\.[^.]+\./, `.${toBase64Url('{"iss":"j"}')}.`), BAD],
  ["with the signature of another token", signed({ iss: "i" }).replace(/[^.]+$/, signed({ iss: "j" }).split(".")[2] ?? ""), BAD],
  ["without a signature", signed({ iss: "i" }).replace(/[^.]+$/, ""), BAD],
  ["with a truncated signature", signed({ iss: "i" }).replace(/[^.]+$/, (signature) => signature.slice(0, 40)), BAD],
  ["with the algorithm none", `${toBase64Url('{"alg":"none"}')}.${toBase64Url("{}")}.`, BAD],
  ["with the algorithm none in other case", signedText('{"alg":"NONE"}', "{}"), BAD],
  ["with a lower-case algorithm", signedText('{"alg":"es256"}', "{}"), BAD],
  ["with an HMAC algorithm", signedText(HEADER.replace("ES256", "HS256"), "{}"), BAD],
  ["with an algorithm of another key type", signedText(HEADER.replace("ES256", "RS256"), "{}"), BAD],
  ["without an algorithm", signedText("{}", "{}"), BAD],
  ["with a list as algorithm", signedText('{"alg":["ES256"]}', "{}"), BAD],
  ["with a critical extension", signedText('{"alg":"ES256","crit":["b64"],"b64":false}', "{}"), BAD],
  ["signed by another key, with our key id", writeToken({}, { signer: OTHER_KEY.signer, keyId: KEY.verifier.keyId }), BAD],
  ["signed by another key, without a key id", writeToken({}, { signer: OTHER_KEY.signer, keyId: "" }), BAD],
  ["signed by another key, with its key id", signed({}, OTHER_KEY), "invalid signature, no keys found"],
  ["with an unknown key id", writeToken({}, { signer: KEY.signer, keyId: "x" }), "invalid signature, no keys found"],
] as const) {
  test(`the signature of a token ${what} is rejected`, () => {
    throws(() => checkSignature(readToken(text) as SignedToken, [KEY.verifier]), { name: "AuthenticationError", message });
  });
}

test("a key is not used with an algorithm that it does not allow", () => {
  const gullible = { ...KEY.verifier, verify: () => true };

  for (const algorithm of ["none", "HS256", "RS256", "es256", ""]) {
    const token = readToken(signedText(`{"alg":"${algorithm}"}`, "{}")) as SignedToken;
    throws(() => checkSignature(token, [gullible]), { message: BAD }, algorithm);
  }
});

test("an ASN.1 DER encoded token signature is rejected", () => {
  const [header = "", payload = ""] = signed({ iss: "i" }).split(".");
  const numbers = KEY.signer.sign(new TextEncoder().encode(`${header}.${payload}`));
  const der = [0x30, 70, 2, 33, 0, ...numbers.subarray(0, 32), 2, 33, 0, ...numbers.subarray(32)];
  const token = { ...(readToken(signed({ iss: "i" })) as SignedToken), signature: Uint8Array.from(der) };

  throws(() => checkSignature(token, [KEY.verifier]), { message: BAD });
});

test("a token without a key id is checked against all keys", () => {
  const token = readToken(signedText('{"alg":"ES256"}', "{}")) as SignedToken;

  doesNotThrow(() => checkSignature(token, [OTHER_KEY.verifier, KEY.verifier]));
});
