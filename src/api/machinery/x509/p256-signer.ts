/**
 * A signer on the curve P-256 in plain arithmetic, whose signatures repeat (RFC 6979): the same key and message give the same bytes on
 * every machine, so that histories under virtual time and golden certificates do. For fixed keys that everybody may know, and for nothing
 * else: how long it takes depends on the key. Real keys are the machine's (host/crypto/keys.ts).
 */
import { hmacSha256 } from "../../../base/crypto/hmac-sha-256.ts";
import { sha256 } from "../../../base/crypto/sha-256.ts";
import type { Signer, Verifier } from "../../../base/crypto/signing.ts";
import { encodeBase64Url } from "../codec/base64.ts";
import { addMultiples, curveOf, invert, type Curve } from "./curve.ts";
import { unsigned } from "./der.ts";
import { bitString, explicit, objectIdentifier, octetString, sequence, unsignedInteger } from "./der-writer.ts";
import { pemText } from "./pem.ts";
import type { PublicKey } from "./public-key.ts";
import { isEcdsaPair } from "./signature.ts";

const CURVE_ID = "1.2.840.10045.3.1.7";
const ALGORITHM = sequence(objectIdentifier("1.2.840.10045.2.1"), objectIdentifier(CURVE_ID));
const CURVE = curveOf(CURVE_ID) as Curve;
const { order: ORDER, sizeBytes: SIZE_BYTES, base: BASE } = CURVE;

export interface P256Key {
  readonly signer: Signer;
  readonly verifier: Verifier;
  /** PKCS #8, for what wants the key itself: TLS. */
  readonly pem: string;
}

/** `secret`: a number from 1 on, less than the curve's order. */
export function p256Key(secret: bigint): P256Key {
  if (secret < 1n || secret >= ORDER) throw new RangeError("Cannot make a key: the number must be from 1 to the order of the curve P-256");
  const point = multiple(secret);
  const [x, y] = [bytesOf(point.x), bytesOf(point.y)];
  const key = Uint8Array.of(4, ...x, ...y);
  const publicKey = sequence(ALGORITHM, bitString(key));
  return {
    signer: { algorithm: "ES256", publicKey, sign: (message) => sign(secret, sha256(message)) },
    verifier: {
      keyId: encodeBase64Url(sha256(publicKey)),
      algorithms: ["ES256"],
      jwk: { kty: "EC", crv: "P-256", x: encodeBase64Url(x), y: encodeBase64Url(y) },
      verify: (message, signature, algorithm) =>
        algorithm === "ES256" && isSignature({ algorithm: "ECDSA", curve: CURVE, ...point }, sha256(message), signature),
    },
    pem: pemText("PRIVATE KEY", privateKeyInfo(secret, key)),
  };
}

function multiple(factor: bigint) {
  const point = addMultiples(CURVE, factor, BASE, 0n, BASE);
  if (point === undefined) throw new RangeError("Cannot multiply by a multiple of the curve's order");
  return point;
}

/** With a hash as long as the order, so that nothing is cut off. */
function sign(secret: bigint, digest: Uint8Array): Uint8Array {
  for (const nonce of noncesOf(secret, digest)) {
    const r = multiple(nonce).x % ORDER;
    const s = (invert(nonce, ORDER) * (unsigned(digest) + r * secret)) % ORDER;
    if (r !== 0n && s !== 0n) return Uint8Array.of(...bytesOf(r), ...bytesOf(s));
  }
  throw new Error("Cannot sign: there is always a next number to try");
}

function isSignature(key: Extract<PublicKey, { readonly algorithm: "ECDSA" }>, digest: Uint8Array, signature: Uint8Array): boolean {
  if (signature.length !== 2 * SIZE_BYTES) return false;
  return isEcdsaPair(key, digest, { r: unsigned(signature.subarray(0, SIZE_BYTES)), s: unsigned(signature.subarray(SIZE_BYTES)) });
}

/** RFC 6979, section 3.2: numbers that nobody can foresee without the key, each fit to be the secret of one signature. */
function* noncesOf(secret: bigint, digest: Uint8Array): Generator<bigint, void> {
  let key: Uint8Array = new Uint8Array(SIZE_BYTES);
  let value: Uint8Array = new Uint8Array(SIZE_BYTES).fill(1);
  const mix = (...more: readonly Uint8Array[]) => {
    key = hmacSha256(key, value, ...more);
    value = hmacSha256(key, value);
  };
  const seed = [bytesOf(secret), bytesOf(unsigned(digest) % ORDER)];
  mix(Uint8Array.of(0), ...seed);
  mix(Uint8Array.of(1), ...seed);
  for (;;) {
    value = hmacSha256(key, value);
    const candidate = unsigned(value);
    if (candidate >= 1n && candidate < ORDER) yield candidate;
    mix(Uint8Array.of(0));
  }
}

function bytesOf(number: bigint): Uint8Array {
  const digits = number.toString(16).padStart(SIZE_BYTES * 2, "0");
  return Uint8Array.from({ length: SIZE_BYTES }, (_, index) => Number.parseInt(digits.slice(index * 2, index * 2 + 2), 16));
}

/** RFC 5958 around RFC 5915. */
function privateKeyInfo(secret: bigint, publicKey: Uint8Array): Uint8Array {
  const key = sequence(unsignedInteger(Uint8Array.of(1)), octetString(bytesOf(secret)), explicit(1, bitString(publicKey)));
  return sequence(unsignedInteger(Uint8Array.of(0)), ALGORITHM, octetString(key));
}
