/** Parses public keys of certificates and requests. A malformed key, or one that Go does not support, is rejected with Go's message. */
import { curveOf, type Curve } from "./curve.ts";
import { DerReader, rightAligned, TAG, unsigned, type BitString } from "./der.ts";
import { refuse } from "./error.ts";

export type PublicKey =
  | { readonly algorithm: "RSA"; readonly modulus: bigint; readonly exponent: bigint }
  | {
      readonly algorithm: "ECDSA";
      readonly curve: Curve;
      /** Uncompressed point: 4, then both coordinates. */
      readonly point: Uint8Array;
    }
  | { readonly algorithm: "Ed25519"; readonly bytes: Uint8Array }
  | { readonly algorithm: "DSA" };

export interface AlgorithmIdentifier {
  readonly algorithm: string;
  /** The whole element; empty if none exists. */
  readonly parameters: Uint8Array;
}

const RSA = "1.2.840.113549.1.1.1";
const DSA = "1.2.840.10040.4.1";
const ECDSA = "1.2.840.10045.2.1";
const ED25519 = "1.3.101.112";
const ED25519_BYTES = 32;

/** Undefined for an unknown algorithm: the certificate may be valid all the same. */
export function readPublicKey({ algorithm, parameters }: AlgorithmIdentifier, key: BitString): PublicKey | undefined {
  const bytes = rightAligned(key);
  switch (algorithm) {
    case RSA:
      return readRsa(parameters, bytes);
    case ECDSA:
      return readEcdsa(parameters, bytes);
    case ED25519:
      if (parameters.length > 0) return refuse("x509: Ed25519 key encoded with illegal parameters");
      return bytes.length === ED25519_BYTES ? { algorithm: "Ed25519", bytes } : refuse("x509: wrong Ed25519 public key size");
    case DSA:
      return readDsa(parameters, bytes);
    default:
      return undefined;
  }
}

/** Numbers that fit Go's int64. */
const INT64_MAX = 2n ** 63n - 1n;

function readRsa(parameters: Uint8Array, bytes: Uint8Array): PublicKey {
  if (parameters.length !== 2 || parameters[0] !== TAG.null || parameters[1] !== 0) refuse("x509: RSA key missing NULL parameters");
  const reader = new DerReader(bytes).inside(TAG.sequence) ?? refuse("x509: invalid RSA public key");
  const modulus = reader.integer() ?? refuse("x509: invalid RSA modulus");
  const exponent = reader.integer() ?? refuse("x509: invalid RSA public exponent");
  if (exponent > INT64_MAX || exponent < -INT64_MAX - 1n) refuse("x509: invalid RSA public exponent");
  if (modulus <= 0n) refuse("x509: RSA modulus is not a positive number");
  if (exponent <= 0n) refuse("x509: RSA public exponent is not a positive number");
  return { algorithm: "RSA", modulus, exponent };
}

const UNCOMPRESSED = 4;

function readEcdsa(parameters: Uint8Array, bytes: Uint8Array): PublicKey {
  const identifier = new DerReader(parameters).objectIdentifier() ?? refuse("x509: invalid ECDSA parameters");
  const curve = curveOf(identifier) ?? refuse("x509: unsupported elliptic curve");
  if (bytes[0] !== UNCOMPRESSED) return refuse("ecdsa: invalid uncompressed public key");
  if (bytes.length !== 1 + 2 * curve.sizeBytes) return refuse(`invalid ${curve.name} point encoding`);
  const coordinates = [bytes.subarray(1, 1 + curve.sizeBytes), bytes.subarray(1 + curve.sizeBytes)];
  // One of the curves has an implementation of its own in Go, with a message of its own.
  if (coordinates.some((coordinate) => unsigned(coordinate) >= curve.prime))
    return refuse(`invalid ${curve.name}${curve.name === "P256" ? " element" : "Element"} encoding`);
  return curve.ecdsa.utils.isValidPublicKey(bytes)
    ? { algorithm: "ECDSA", curve, point: bytes }
    : refuse(`${curve.name} point not on curve`);
}

/** Such keys verify nothing here, so their numbers are not kept. */
function readDsa(parameters: Uint8Array, bytes: Uint8Array): PublicKey {
  const y = new DerReader(bytes).integer() ?? refuse("x509: invalid DSA public key");
  const reader = new DerReader(parameters).inside(TAG.sequence);
  const numbers = [y, ...[0, 1, 2].map(() => reader?.integer() ?? refuse("x509: invalid DSA parameters"))];
  if (numbers.some((number) => number <= 0n)) refuse("x509: zero or negative DSA parameter");
  return { algorithm: "DSA" };
}
