/**
 * A deterministic ECDSA signer on the curve P-256 (RFC 6979): the same key and message give the same bytes on every machine, so that
 * histories under virtual time and golden certificates are reproducible. Only for fixed, publicly known keys: the library works without
 * blinding here (curve.ts). Real keys are the machine's (host/crypto/keys.ts).
 */
import { sha256 } from "../../../base/crypto/hash.ts";
import type { Signer, Verifier } from "../../../base/crypto/signing.ts";
import { encodeBase64Url } from "../codec/base64-url.ts";
import { curveOf, type Curve } from "./curve.ts";
import { bitString, explicit, objectIdentifier, octetString, sequence, unsignedInteger } from "./der-writer.ts";
import { pemText } from "./pem.ts";

const CURVE_ID = "1.2.840.10045.3.1.7";
const ALGORITHM = sequence(objectIdentifier("1.2.840.10045.2.1"), objectIdentifier(CURVE_ID));
const SIZE_BYTES = 32;

export interface P256Key {
  readonly signer: Signer;
  readonly verifier: Verifier;
  /** PKCS #8, for TLS, which needs the key itself. */
  readonly pem: string;
}

/**
 * `secret`: at least 1, less than the curve's order. `publicPoint`: that of the secret, uncompressed, if it is known: its computation takes
 * some 10 ms.
 */
export function p256Key(secret: bigint, publicPoint?: Uint8Array): P256Key {
  const { ecdsa } = curveOf(CURVE_ID) as Curve;
  const scalars = ecdsa.Point.Fn;
  if (!scalars.isValidNot0(secret)) throw new RangeError("Cannot make a key: the number must be from 1 to the order of the curve P-256");
  const secretKey = scalars.toBytes(secret);
  const point = publicPoint ?? ecdsa.getPublicKey(secretKey, false);
  const publicKey = sequence(ALGORITHM, bitString(point));
  const [x, y] = [point.subarray(1, 1 + SIZE_BYTES), point.subarray(1 + SIZE_BYTES)];
  return {
    signer: { algorithm: "ES256", publicKey, sign: (message) => ecdsa.sign(message, secretKey) },
    verifier: {
      keyId: encodeBase64Url(sha256(publicKey)),
      algorithms: ["ES256"],
      jwk: { kty: "EC", crv: "P-256", x: encodeBase64Url(x), y: encodeBase64Url(y) },
      verify: (message, signature, algorithm) =>
        algorithm === "ES256" && signature.length === 2 * SIZE_BYTES && ecdsa.verify(signature, message, point),
    },
    pem: pemText("PRIVATE KEY", privateKeyInfo(secretKey, point)),
  };
}

/** RFC 5958 around RFC 5915. */
function privateKeyInfo(secretKey: Uint8Array, point: Uint8Array): Uint8Array {
  const key = sequence(unsignedInteger(Uint8Array.of(1)), octetString(secretKey), explicit(1, bitString(point)));
  return sequence(unsignedInteger(Uint8Array.of(0)), ALGORITHM, octetString(key));
}
