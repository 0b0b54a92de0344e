/**
 * Whether who sent a request has the key that belongs to it: the request is signed with it. Undefined if so, else what Go says.
 * Only public keys come here.
 */
import { addMultiples, invert, power, type Curve } from "./curve.ts";
import { DerReader, explicitTag, TAG, unsigned } from "./der.ts";
import { isEd25519Signature } from "./ed25519.ts";
import { HASHES, type HashName } from "./hash.ts";
import type { AlgorithmIdentifier, PublicKey } from "./public-key.ts";

interface SignatureAlgorithm {
  readonly key: PublicKey["algorithm"];
  /** Ed25519 has none. */
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

/** How Go prints the types of keys. */
const GO_TYPES = { RSA: "*rsa.PublicKey", ECDSA: "*ecdsa.PublicKey", Ed25519: "ed25519.PublicKey" } as const;

export interface Signed {
  readonly message: Uint8Array;
  readonly signature: Uint8Array;
  readonly algorithm: AlgorithmIdentifier;
  /** Undefined: of an algorithm that nobody here knows. */
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
  const digest = HASHES[hash](message);
  if (publicKey.algorithm === "ECDSA")
    return isEcdsaSignature(publicKey, digest, signature) ? undefined : "x509: ECDSA verification failure";
  return rsaProblem(publicKey, { hash, digest, signature, isPss: algorithm.isPss ?? false });
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

/** Of all the ways to combine its parts only those are known in which they fit each other: one hash, and a salt of its length. */
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

/** The hash that is next; it has no parameters, or a NULL in their place. */
function hashOf(parent: DerReader | undefined): string | undefined {
  const reader = parent?.inside(TAG.sequence);
  const hash = reader?.objectIdentifier();
  if (reader === undefined || reader.isEmpty) return hash;
  return reader.content(TAG.null)?.length === 0 ? hash : undefined;
}

type EcdsaKey = Extract<PublicKey, { readonly algorithm: "ECDSA" }>;

function isEcdsaSignature(key: EcdsaKey, digest: Uint8Array, signature: Uint8Array): boolean {
  const outer = new DerReader(signature);
  const reader = outer.inside(TAG.sequence);
  const [r, s] = [reader?.integer() ?? 0n, reader?.integer() ?? 0n];
  return outer.isEmpty && reader?.isEmpty === true && isEcdsaPair(key, digest, { r, s });
}

/** The two numbers of a signature, however they were written. */
export function isEcdsaPair({ curve, x, y }: EcdsaKey, digest: Uint8Array, { r, s }: { readonly r: bigint; readonly s: bigint }): boolean {
  if (r <= 0n || s <= 0n || r >= curve.order || s >= curve.order) return false;
  const inverse = invert(s, curve.order);
  const point = addMultiples(curve, (numberOf(digest, curve) * inverse) % curve.order, curve.base, (r * inverse) % curve.order, { x, y });
  return point !== undefined && point.x % curve.order === r;
}

/** The first bits of the hash, as many as the order has. */
function numberOf(digest: Uint8Array, { order }: Curve): bigint {
  const surplusBits = digest.length * 8 - order.toString(2).length;
  return surplusBits > 0 ? unsigned(digest) >> BigInt(surplusBits) : unsigned(digest);
}

interface RsaSignature {
  readonly hash: HashName;
  readonly digest: Uint8Array;
  readonly signature: Uint8Array;
  readonly isPss: boolean;
}

type RsaKey = Extract<PublicKey, { readonly algorithm: "RSA" }>;

const RSA_MIN_BITS = 1_024;
/** Larger keys cost time without end; nobody has one. */
const RSA_MAX_BITS = 16_384;
const RSA_EXPONENT_MAX = 2n ** 31n - 1n;

function rsaProblem(key: RsaKey, { hash, digest, signature, isPss }: RsaSignature): string | undefined {
  const { modulus, exponent } = key;
  const sizeBits = modulus.toString(2).length;
  if (sizeBits < RSA_MIN_BITS) {
    return `crypto/rsa: ${sizeBits}-bit keys are insecure (see https://go.dev/pkg/crypto/rsa#hdr-Minimum_key_size)`;
  }
  if (modulus % 2n === 0n) return "crypto/rsa: public modulus is even";
  if (exponent < 2n) return "crypto/rsa: public exponent too small or negative";
  if (exponent % 2n === 0n) return "crypto/rsa: public exponent is even";
  if (exponent > RSA_EXPONENT_MAX) return "crypto/rsa: public exponent too large";
  const value = unsigned(signature);
  const sizeBytes = Math.ceil(sizeBits / 8);
  if (sizeBits > RSA_MAX_BITS || signature.length !== sizeBytes || value >= modulus) return RSA_FAILURE;
  const opened = power(value, exponent, modulus);
  const isGood = isPss ? isPssMessage(opened, digest, hash, sizeBits - 1) : opened === plainMessage(digest, hash, sizeBytes);
  return isGood ? undefined : RSA_FAILURE;
}

/** What stands before a hash: its name, in DER. */
const HASH_PREFIXES: Readonly<Record<HashName, string>> = {
  "SHA-1": "3021300906052b0e03021a05000414",
  "SHA-256": "3031300d060960864801650304020105000420",
  "SHA-384": "3041300d060960864801650304020205000430",
  "SHA-512": "3051300d060960864801650304020305000440",
};

/** 1, a row of ones, 0, the hash with its name (PKCS #1 v1.5). */
function plainMessage(digest: Uint8Array, hash: HashName, sizeBytes: number): bigint {
  const tail = `00${HASH_PREFIXES[hash]}${hexOf(digest)}`;
  return BigInt(`0x01${"ff".repeat(sizeBytes - 2 - tail.length / 2)}${tail}`);
}

function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** RFC 8017, section 9.1.2, with a salt as long as the hash. */
function isPssMessage(value: bigint, digest: Uint8Array, hash: HashName, messageBits: number): boolean {
  const length = Math.ceil(messageBits / 8);
  const hex = value.toString(16).padStart(length * 2, "0");
  if (hex.length !== length * 2 || length < 2 * digest.length + 2) return false;
  const message = Uint8Array.from({ length }, (_, index) => Number.parseInt(hex.slice(index * 2, index * 2 + 2), 16));
  const maskedLength = length - digest.length - 1;
  const seed = message.subarray(maskedLength, length - 1);
  const unusedBits = 8 * length - messageBits;
  if (message.at(-1) !== 0xbc || (message[0] ?? 0) >> (8 - unusedBits) !== 0) return false;
  const mask = generateMask(seed, maskedLength, hash);
  const block = message.subarray(0, maskedLength).map((byte, index) => byte ^ (mask[index] ?? 0));
  block[0] = (block[0] ?? 0) & (0xff >> unusedBits);
  const saltAt = maskedLength - digest.length;
  if (block[saltAt - 1] !== 1 || block.subarray(0, saltAt - 1).some((byte) => byte !== 0)) return false;
  const again = HASHES[hash](Uint8Array.from([0, 0, 0, 0, 0, 0, 0, 0, ...digest, ...block.subarray(saltAt)]));
  return again.every((byte, index) => byte === seed[index]);
}

function generateMask(seed: Uint8Array, length: number, hash: HashName): Uint8Array {
  const bytes: number[] = [];
  for (let counter = 0; bytes.length < length; counter++)
    bytes.push(...HASHES[hash](Uint8Array.from([...seed, 0, 0, counter >> 8, counter & 0xff])));
  return Uint8Array.from(bytes.slice(0, length));
}
