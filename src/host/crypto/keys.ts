/**
 * The machine's keys: made, read and used by node:crypto, all of it synchronous (see base/crypto/signing.ts for why). What is too weak to be
 * trusted, or of a kind that is not known, is refused when it is read, so that nothing has to be asked when it is used. Checking a
 * signature never throws, whatever was sent in its place.
 * Not here: keys whose signatures repeat, for virtual time (api/machinery/x509/p256-signer.ts), and certificates (main/pki).
 */
import {
  constants,
  createECDH,
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPair,
  randomBytes,
  sign,
  verify,
  X509Certificate,
  type KeyObject,
} from "node:crypto";
import { promisify } from "node:util";
import type { KeyReader, SignatureAlgorithm, Signer, Verifier } from "../../base/crypto/signing.ts";

/** A private key and its operations. */
export interface SigningKey {
  /** PKCS #8, without a password. */
  readonly pem: string;
  readonly signer: Signer;
}

/** Smaller keys can be broken. */
const RSA_BITS_MIN = 2048;
/** Verification with larger ones is slow, and they are not used in practice. */
const RSA_BITS_MAX = 16_384;
/** With exponent 1 signatures could be forged. */
const RSA_EXPONENT_MIN = 3n;

const RSA_ALGORITHMS: readonly SignatureAlgorithm[] = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"];

/** Node's name of it. */
const CURVES: Readonly<Record<string, { readonly algorithm: SignatureAlgorithm; readonly signatureBytes: number }>> = {
  prime256v1: { algorithm: "ES256", signatureBytes: 64 },
  secp384r1: { algorithm: "ES384", signatureBytes: 96 },
  secp521r1: { algorithm: "ES512", signatureBytes: 132 },
};

/** DER prefixes of PKCS #8 and SubjectPublicKeyInfo of a P-256 key, whose lengths are constant. */
const P256_PRIVATE = { before: "308187020100301306072a8648ce3d020106082a8648ce3d030107046d306b0201010420", between: "a144034200" };
const P256_PUBLIC_BEFORE = "3059301306072a8648ce3d020106082a8648ce3d030107034200";
const P256_BYTES = 32;

/** P-256 key pair. Encoded here, because OpenSSL takes milliseconds to write a key, and most keys are only written to a file. */
export function makeKey(): SigningKey {
  const key = createECDH("prime256v1");
  const publicPoint = key.generateKeys("hex");
  const secret = key.getPrivateKey("hex").padStart(2 * P256_BYTES, "0");
  const der = Buffer.from(`${P256_PRIVATE.before}${secret}${P256_PRIVATE.between}${publicPoint}`, "hex");
  const lines = der.toString("base64").match(/.{1,64}/g) ?? [];
  const pem = `-----BEGIN PRIVATE KEY-----\n${lines.join("\n")}\n-----END PRIVATE KEY-----\n`;
  let signer: Signer | undefined;
  const sign = (message: Uint8Array) => (signer ??= signerOf(createPrivateKey({ key: der, format: "der", type: "pkcs8" }))).sign(message);
  return { pem, signer: { algorithm: "ES256", publicKey: Buffer.from(`${P256_PUBLIC_BEFORE}${publicPoint}`, "hex"), sign } };
}

const newKeyPair = promisify(generateKeyPair);

/** Generates a key of one of upstream's types for Pods, without holding the event loop: one of 4,096 bits takes a second. */
export async function generateKey(type: string): Promise<SigningKey> {
  const privateKey = await generatePrivateKey(type);
  const pem = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  return { pem, signer: signerOf(privateKey) };
}

async function generatePrivateKey(type: string): Promise<KeyObject> {
  switch (type) {
    case "RSA3072":
      return (await newKeyPair("rsa", { modulusLength: 3072 })).privateKey;
    case "RSA4096":
      return (await newKeyPair("rsa", { modulusLength: 4096 })).privateKey;
    case "ECDSAP256":
      return (await newKeyPair("ec", { namedCurve: "P-256" })).privateKey;
    case "ECDSAP384":
      return (await newKeyPair("ec", { namedCurve: "P-384" })).privateKey;
    case "ECDSAP521":
      return (await newKeyPair("ec", { namedCurve: "P-521" })).privateKey;
    case "ED25519":
      return (await newKeyPair("ed25519", {})).privateKey;
    default:
      throw new Error(`unknown key type ${JSON.stringify(type)}`);
  }
}

/** Returns the private key of a PEM file. Throws one sentence that says what the file is instead. */
export function signerFromPem(pem: string): Signer {
  let key: KeyObject;
  try {
    key = createPrivateKey(pem);
  } catch (error) {
    throw new Error("it contains no unencrypted PEM private key", { cause: error });
  }
  const problem = problemOf(key);
  if (problem !== undefined) throw new Error(problem);
  return signerOf(key);
}

/** Returns the public keys of a PEM file: of its public keys, private keys and certificates; other blocks are skipped. */
export function verifiersFromPem(pem: string): readonly Verifier[] {
  const keys = pemBlocksOf(pem).flatMap(publicKeyOf);
  if (keys.length === 0) throw new Error("it contains no PEM public key, private key or certificate");
  return keys.map((key) => {
    const problem = problemOf(key);
    if (problem !== undefined) throw new Error(problem);
    return verifierOf(key, algorithmsOf(key));
  });
}

export function verifierOfSigner({ publicKey }: Signer): Verifier {
  const key = createPublicKey({ key: Buffer.from(publicKey), format: "der", type: "spki" });
  return verifierOf(key, algorithmsOf(key));
}

/** Supports RSA and the three curves. A key that names its algorithm is used with no other. */
export const readJsonWebKey: KeyReader = (jwk) => {
  if (jwk["kty"] !== "RSA" && jwk["kty"] !== "EC") return undefined;
  let key: KeyObject;
  try {
    key = createPublicKey({ key: publicMembers(jwk), format: "jwk" });
  } catch {
    return undefined;
  }
  if (problemOf(key) !== undefined) return undefined;
  const { alg } = jwk;
  const algorithms = algorithmsOf(key).filter((algorithm) => alg === undefined || alg === algorithm);
  return algorithms.length === 0 ? undefined : verifierOf(key, algorithms, typeof jwk["kid"] === "string" ? jwk["kid"] : "");
};

/** Key ID of service account tokens, as upstream computes it: the hash of the public key. */
export function keyIdOf(publicKey: Uint8Array): string {
  return createHash("sha256").update(publicKey).digest("base64url");
}

/** Enough to make collisions of random values impossible in practice. */
const SERIAL_NUMBER_BYTES = 16;

/** Serial number of a certificate: positive. */
export function randomSerialNumber(): Uint8Array {
  const bytes = randomBytes(SERIAL_NUMBER_BYTES);
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40;
  return bytes;
}

/** True if the first certificate of one PEM text was issued by the first of another: by name and by signature. */
export function isSignedBy(certificate: string, authority: string): boolean {
  try {
    const [signed, signer] = [new X509Certificate(certificate), new X509Certificate(authority)];
    return signed.checkIssued(signer) && signed.verify(signer.publicKey);
  } catch {
    return false;
  }
}

/** Returns why a certificate and a key, both PEM, do not belong together. */
export function keyProblem(pair: { readonly certificate: string; readonly key: string }): "certificate" | "key" | "pair" | undefined {
  let certificate: X509Certificate;
  try {
    certificate = new X509Certificate(pair.certificate);
  } catch {
    return "certificate";
  }
  try {
    return certificate.checkPrivateKey(createPrivateKey(pair.key)) ? undefined : "pair";
  } catch {
    return "key";
  }
}

/** Returns why a key is unusable, as a sentence about its file. */
function problemOf(key: KeyObject): string | undefined {
  const { modulusLength = 0, publicExponent = 0n, namedCurve = "" } = key.asymmetricKeyDetails ?? {};
  switch (key.asymmetricKeyType) {
    case "rsa":
      if (modulusLength < RSA_BITS_MIN) return `its RSA key has ${modulusLength} bits, the minimum is ${RSA_BITS_MIN}`;
      if (modulusLength > RSA_BITS_MAX) return `its RSA key has ${modulusLength} bits, the maximum is ${RSA_BITS_MAX}`;
      if (publicExponent < RSA_EXPONENT_MIN) return `its RSA key has the insecure exponent ${publicExponent}`;
      return undefined;
    case "ec":
      return Object.hasOwn(CURVES, namedCurve) ? undefined : `its key is on the curve ${namedCurve}, it must be P-256, P-384 or P-521`;
    default:
      return `its key is of type ${key.asymmetricKeyType}, it must be RSA, or ECDSA with P-256, P-384 or P-521`;
  }
}

function algorithmsOf(key: KeyObject): readonly SignatureAlgorithm[] {
  if (key.asymmetricKeyType === "rsa") return RSA_ALGORITHMS;
  return [curveOf(key).algorithm];
}

function curveOf(key: KeyObject): { readonly algorithm: SignatureAlgorithm; readonly signatureBytes: number } {
  const curve = CURVES[key.asymmetricKeyDetails?.namedCurve ?? ""];
  if (curve === undefined) throw new Error("Cannot use a key on an unknown curve");
  return curve;
}

function signerOf(key: KeyObject): Signer {
  const publicKey = createPublicKey(key).export({ type: "spki", format: "der" });
  if (key.asymmetricKeyType === "ed25519") return { algorithm: "EdDSA", publicKey, sign: (message) => sign(null, message, key) };
  const algorithm = key.asymmetricKeyType === "rsa" ? "RS256" : curveOf(key).algorithm;
  return {
    algorithm,
    publicKey,
    sign: (message) => sign(hashOf(algorithm), message, { key, ...encodingOf(algorithm) }),
  };
}

function verifierOf(key: KeyObject, algorithms: readonly SignatureAlgorithm[], givenId?: string): Verifier {
  const signatureBytes =
    key.asymmetricKeyType === "rsa" ? Math.ceil((key.asymmetricKeyDetails?.modulusLength ?? 0) / 8) : curveOf(key).signatureBytes;
  return {
    keyId: givenId ?? keyIdOf(key.export({ type: "spki", format: "der" })),
    algorithms,
    jwk: publicMembers(key.export({ format: "jwk" })),
    verify(message, signature, algorithm) {
      if (!algorithms.includes(algorithm) || signature.length !== signatureBytes) return false;
      try {
        return verify(hashOf(algorithm), message, { key, ...encodingOf(algorithm) }, signature);
      } catch {
        return false;
      }
    },
  };
}

function hashOf(algorithm: SignatureAlgorithm): string {
  return `sha${algorithm.slice(2)}`;
}

/** Signature format of JSON Web Signatures: the two numbers of a curve concatenated; a salt as long as the hash. */
function encodingOf(algorithm: SignatureAlgorithm) {
  if (algorithm.startsWith("ES")) return { dsaEncoding: "ieee-p1363" } as const;
  if (algorithm.startsWith("RS")) return { padding: constants.RSA_PKCS1_PADDING };
  return { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST };
}

/** Public members only: private ones are not read. */
const PUBLIC_MEMBERS = ["kty", "crv", "x", "y", "n", "e"];

function publicMembers(jwk: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(jwk).filter(([name, value]) => PUBLIC_MEMBERS.includes(name) && typeof value === "string"),
  ) as Record<string, string>;
}

function pemBlocksOf(text: string): readonly string[] {
  return text.match(/-----BEGIN ([^-\n]*)-----[^-]*-----END \1-----/g) ?? [];
}

/** Node parses public keys, private keys and certificates with the same function. */
function publicKeyOf(block: string): readonly KeyObject[] {
  try {
    return [createPublicKey(block)];
  } catch {
    return [];
  }
}
