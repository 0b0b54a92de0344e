import assert from "node:assert/strict";
import { constants, generateKeyPairSync, sign, type KeyObject } from "node:crypto";
import test from "node:test";
import { DerReader, TAG } from "./der.ts";
import { readPublicKey, type PublicKey } from "./public-key.ts";
import { signatureProblem } from "./signature.ts";

interface Pair {
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

interface Case {
  readonly title: string;
  readonly pair: Pair;
  readonly hash: "sha1" | "sha256" | "sha384" | "sha512" | undefined;
  readonly algorithm: string;
  readonly parameters?: string;
  readonly options?: { readonly padding: number; readonly saltLength: number };
  readonly failure: string;
}

const ECDSA_FAILURE = "x509: ECDSA verification failure";
const RSA_FAILURE = "crypto/rsa: verification error";
const ED25519_FAILURE = "x509: Ed25519 verification failure";

const pss = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST };
/** RSASSA-PSS-params in DER: SHA-256 twice, a salt of 32 bytes. */
const PSS_SHA256 = "3034a00f300d06096086480165030402010500a11c301a06092a864886f70d010108300d06096086480165030402010500a203020120";

function curve(namedCurve: string): Pair {
  return generateKeyPairSync("ec", { namedCurve });
}

/** With 1025 bits a padded PSS message is one byte shorter than the signature. */
function rsa(modulusLength: number): Pair {
  return generateKeyPairSync("rsa", { modulusLength });
}

const CASES: readonly Case[] = [
  ...(["P-224", "P-256", "P-384", "P-521"] as const).flatMap((name) => [
    { title: `${name} with SHA-256`, pair: curve(name), hash: "sha256" as const, algorithm: "1.2.840.10045.4.3.2", failure: ECDSA_FAILURE },
    { title: `${name} with SHA-512`, pair: curve(name), hash: "sha512" as const, algorithm: "1.2.840.10045.4.3.4", failure: ECDSA_FAILURE },
  ]),
  { title: "P-256 with SHA-1", pair: curve("P-256"), hash: "sha1", algorithm: "1.2.840.10045.4.1", failure: ECDSA_FAILURE },
  { title: "Ed25519", pair: generateKeyPairSync("ed25519"), hash: undefined, algorithm: "1.3.101.112", failure: ED25519_FAILURE },
  ...[1024, 1025, 1031].flatMap((bits) => {
    const pair = rsa(bits);
    const scheme = { pair, failure: RSA_FAILURE };
    return [
      { ...scheme, title: `RSA of ${bits} bits with SHA-1`, hash: "sha1" as const, algorithm: "1.2.840.113549.1.1.5" },
      { ...scheme, title: `RSA of ${bits} bits with SHA-384`, hash: "sha384" as const, algorithm: "1.2.840.113549.1.1.12" },
      {
        ...scheme,
        title: `RSA-PSS of ${bits} bits with SHA-256`,
        hash: "sha256" as const,
        algorithm: "1.2.840.113549.1.1.10",
        parameters: PSS_SHA256,
        options: pss,
      },
    ];
  }),
];

const MESSAGE = new TextEncoder().encode("certificationRequestInfo");

for (const { title, pair, hash, algorithm, parameters = "", options = {}, failure } of CASES) {
  test(`a signature of ${title} by OpenSSL is accepted, and any other bytes fail with Go's message`, () => {
    const publicKey = publicKeyOf(pair.publicKey);
    const problem = (message: Uint8Array, signature: Uint8Array) =>
      signatureProblem({ message, signature, algorithm: { algorithm, parameters: bytesOf(parameters) }, publicKey });
    const signature = new Uint8Array(sign(hash, MESSAGE, { key: pair.privateKey, ...options }));

    assert.equal(problem(MESSAGE, signature), undefined);
    assert.equal(problem(MESSAGE.subarray(1), signature), failure);
    for (const wrong of wrongSignatures(signature)) assert.equal(problem(MESSAGE, wrong), failure);
  });
}

/** One bit changed, other lengths, and contents of the right length. */
function wrongSignatures(signature: Uint8Array): readonly Uint8Array[] {
  const { length } = signature;
  const changed = [0, 1, 5, length >> 1, length - 1].map((at) => signature.map((byte, index) => (index === at ? byte ^ 1 : byte)));
  const resized = [
    new Uint8Array(0),
    signature.subarray(1),
    signature.subarray(0, -1),
    Uint8Array.of(...signature, 0),
    Uint8Array.of(0, ...signature),
  ];
  return [...changed, ...resized, new Uint8Array(length), new Uint8Array(length).fill(1), new Uint8Array(length).fill(0xff)];
}

function publicKeyOf(key: KeyObject): PublicKey | undefined {
  const info = new DerReader(key.export({ type: "spki", format: "der" })).inside(TAG.sequence);
  const identifier = info?.inside(TAG.sequence);
  const algorithm = identifier?.objectIdentifier() ?? "";
  const parameters = identifier?.any()?.whole ?? new Uint8Array(0);
  return readPublicKey({ algorithm, parameters }, info?.bitString() ?? { bytes: new Uint8Array(0), unusedBits: 0 });
}

function bytesOf(hex: string): Uint8Array {
  return new Uint8Array(Buffer.from(hex, "hex"));
}
