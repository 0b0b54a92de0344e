/** Verifies signatures of certificates and requests. Returns undefined if valid, else Go's message. Only public keys are used here. */
import { mgf1, PKCS1_SHA1, PKCS1_SHA256, PKCS1_SHA384, PKCS1_SHA512, PSS, type Signer } from "micro-rsa-dsa-dh/rsa.js";
import { HASHES, type HashName } from "../../../base/crypto/hash.ts";
import { ed25519 } from "./curve.ts";
import { DerReader, explicitTag, TAG } from "./der.ts";
import type { AlgorithmIdentifier, PublicKey } from "./public-key.ts";

interface SignatureAlgorithm {
  readonly key: PublicKey["algorithm"];
  /** Hash of the signature; Ed25519 has none. */
  readonly hash?: HashName;
  readonly isPss?: true;
}

const ALGORITHMS: ReadonlyMap<string, SignatureAlgorithm> = new Map<string, SignatureAlgorithm>([
  ["1.2.840.113549.1.1.5", { key: "RSA", hash: "SHA-1" }],
  ["1.3.14.3.2.29", { key: "RSA", hash: "SHA-1" }],
  ["1.2.840.113549.1.1.11", { key: "RSA", hash: "SHA-256" }],
  ["1.2.840.113549.1.1.12", { key: "RSA", hash: "SHA-384" }],
  ["1.2.840.113549.1.1.13", { key: "RSA", hash: "SHA-512" }],
  ["1.2.840.10040.4.3", { key: "DSA", hash: "SHA-1" }],
  ["2.16.840.1.101.3.4.3.2", { key: "DSA", hash: "SHA-256" }],
  ["1.2.840.10045.4.1", { key: "ECDSA", hash: "SHA-1" }],
  ["1.2.840.10045.4.3.2", { key: "ECDSA", hash: "SHA-256" }],
  ["1.2.840.10045.4.3.3", { key: "ECDSA", hash: "SHA-384" }],
  ["1.2.840.10045.4.3.4", { key: "ECDSA", hash: "SHA-512" }],
  ["1.3.101.112", { key: "Ed25519" }],
]);

const MD5_WITH_RSA = "1.2.840.113549.1.1.4";
const RSA_PSS = "1.2.840.113549.1.1.10";
const UNIMPLEMENTED = "x509: cannot verify signature: algorithm unimplemented";
const RSA_FAILURE = "crypto/rsa: verification error";

/** Go's names of key types. */
const GO_TYPES = { RSA: "*rsa.PublicKey", ECDSA: "*ecdsa.PublicKey", Ed25519: "ed25519.PublicKey" } as const;

export interface Signed {
  readonly message: Uint8Array;
  readonly signature: Uint8Array;
  readonly algorithm: AlgorithmIdentifier;
  /** Undefined: unknown algorithm. */
  readonly publicKey: PublicKey | undefined;
}

export function signatureProblem({ message, signature, algorithm: identifier, publicKey }: Signed): string | undefined {
  if (identifier.algorithm === MD5_WITH_RSA) return "x509: cannot verify signature: insecure algorithm MD5-RSA";
  const algorithm = algorithmOf(identifier);
  if (algorithm === undefined || publicKey === undefined || publicKey.algorithm === "DSA") return UNIMPLEMENTED;
  if (publicKey.algorithm !== algorithm.key) {
    return `x509: signature algorithm specifies an ${algorithm.key} public key, but have public key of type ${GO_TYPES[publicKey.algorithm]}`;
  }
  if (publicKey.algorithm === "Ed25519") {
    return isEd25519Signature(publicKey.bytes, message, signature) ? undefined : "x509: Ed25519 verification failure";
  }
  const hash = algorithm.hash ?? "SHA-256";
  if (publicKey.algorithm === "RSA") return rsaProblem(publicKey, { hash, message, signature, isPss: algorithm.isPss ?? false });
  const { curve, point } = publicKey;
  const isGood = curve.ecdsa.verify(signature, HASHES[hash](message), point, { prehash: false, format: "der" });
  return isGood ? undefined : "x509: ECDSA verification failure";
}

const ED25519_SIGNATURE_BYTES = 64;

/** The library throws if the length is wrong. */
function isEd25519Signature(key: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  return signature.length === ED25519_SIGNATURE_BYTES && ed25519().verify(signature, message, key);
}

function algorithmOf({ algorithm, parameters }: AlgorithmIdentifier): SignatureAlgorithm | undefined {
  if (algorithm === RSA_PSS) return pssAlgorithm(parameters);
  const found = ALGORITHMS.get(algorithm);
  return found?.key === "Ed25519" && parameters.length > 0 ? undefined : found;
}

const PSS_HASHES: ReadonlyMap<string | undefined, { readonly hash: HashName; readonly saltBytes: bigint }> = new Map([
  ["2.16.840.1.101.3.4.2.1", { hash: "SHA-256", saltBytes: 32n }],
  ["2.16.840.1.101.3.4.2.2", { hash: "SHA-384", saltBytes: 48n }],
  ["2.16.840.1.101.3.4.2.3", { hash: "SHA-512", saltBytes: 64n }],
]);
const MASK_GENERATION = "1.2.840.113549.1.1.8";

/** Of all combinations of parameters only matching ones are supported: one hash, and a salt of its length. */
function pssAlgorithm(parameters: Uint8Array): SignatureAlgorithm | undefined {
  const reader = new DerReader(parameters).inside(TAG.sequence);
  const hash = hashOf(reader?.inside(explicitTag(0)));
  const mask = reader?.inside(explicitTag(1))?.inside(TAG.sequence);
  const usesMaskGeneration = mask?.objectIdentifier() === MASK_GENERATION;
  const maskHash = hashOf(mask);
  const saltBytes = reader?.inside(explicitTag(2))?.integer();
  const trailer = reader?.isNext(explicitTag(3)) === true ? reader.inside(explicitTag(3))?.integer() : 1n;
  const found = PSS_HASHES.get(hash);
  if (!usesMaskGeneration || maskHash !== hash || trailer !== 1n || found?.saltBytes !== saltBytes) return undefined;
  return found === undefined ? undefined : { key: "RSA", hash: found.hash, isPss: true };
}

/** The next hash; it has no parameters, or NULL instead. */
function hashOf(parent: DerReader | undefined): string | undefined {
  const reader = parent?.inside(TAG.sequence);
  const hash = reader?.objectIdentifier();
  if (reader === undefined || reader.isEmpty) return hash;
  return reader.content(TAG.null)?.length === 0 ? hash : undefined;
}

interface RsaSignature {
  readonly hash: HashName;
  readonly message: Uint8Array;
  readonly signature: Uint8Array;
  readonly isPss: boolean;
}

type RsaKey = Extract<PublicKey, { readonly algorithm: "RSA" }>;

const RSA_MIN_BITS = 1_024;
/** Larger keys are unused and cost unbounded time. */
const RSA_MAX_BITS = 16_384;
const RSA_EXPONENT_MAX = 2n ** 31n - 1n;

function rsaProblem(key: RsaKey, { hash, message, signature, isPss }: RsaSignature): string | undefined {
  const { modulus, exponent } = key;
  const sizeBits = modulus.toString(2).length;
  if (sizeBits < RSA_MIN_BITS) {
    return `crypto/rsa: ${sizeBits}-bit keys are insecure (see https://go.dev/pkg/crypto/rsa#hdr-Minimum_key_size)`;
  }
  if (modulus % 2n === 0n) return "crypto/rsa: public modulus is even";
  if (exponent < 2n) return "crypto/rsa: public exponent too small or negative";
  if (exponent % 2n === 0n) return "crypto/rsa: public exponent is even";
  if (exponent > RSA_EXPONENT_MAX) return "crypto/rsa: public exponent too large";
  if (sizeBits > RSA_MAX_BITS) return RSA_FAILURE;
  const scheme = isPss ? pssScheme(hash) : PKCS1_SCHEMES[hash];
  return isRsaSignature(scheme, { modulus, exponent }, message, signature) ? undefined : RSA_FAILURE;
}

const PKCS1_SCHEMES: Readonly<Record<HashName, Signer>> = {
  "SHA-1": PKCS1_SHA1,
  "SHA-256": PKCS1_SHA256,
  "SHA-384": PKCS1_SHA384,
  "SHA-512": PKCS1_SHA512,
};

/** With a salt as long as the hash. */
function pssScheme(hash: HashName): Signer {
  const hashFunction = HASHES[hash];
  return PSS(hashFunction, mgf1(hashFunction), hashFunction.outputLen);
}

/** The library throws if the signature, opened, is longer than a padded message can be. */
function isRsaSignature(scheme: Signer, key: Omit<RsaKey, "algorithm">, message: Uint8Array, signature: Uint8Array): boolean {
  try {
    return scheme.verify({ n: key.modulus, e: key.exponent }, message, signature);
  } catch {
    return false;
  }
}
