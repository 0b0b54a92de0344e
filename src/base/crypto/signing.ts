/**
 * Signatures as arguments: code that signs or verifies tokens and certificates receives one of these, so that the control plane needs no
 * cryptography of the machine and, under virtual time, signs with a key whose signatures are reproducible. Everything is synchronous: a
 * signature takes less than a tenth of a millisecond, and synchronous code cannot be reordered. The machine's implementation is
 * host/crypto/keys.ts; a pure one is api/machinery/x509.
 */

/** Named as in JSON Web Signatures (RFC 7518). "none" and the shared-secret algorithms are excluded on purpose. */
export type SignatureAlgorithm = "ES256" | "ES384" | "ES512" | "RS256" | "RS384" | "RS512" | "PS256" | "PS384" | "PS512" | "EdDSA";

export interface Signer {
  readonly algorithm: SignatureAlgorithm;
  /** The public key as in certificates: DER of SubjectPublicKeyInfo. */
  readonly publicKey: Uint8Array;
  /** In JSON Web Signature form: for a curve, r and s concatenated. */
  sign(message: Uint8Array): Uint8Array;
}

export interface Verifier {
  /** Key id that tokens carry: upstream uses the hash of the public key. "" if the key has none. */
  readonly keyId: string;
  /** Algorithms accepted for this key; any other is rejected, whatever the token's header says. */
  readonly algorithms: readonly SignatureAlgorithm[];
  verify(message: Uint8Array, signature: Uint8Array, algorithm: SignatureAlgorithm): boolean;
  /** As a JSON Web Key (RFC 7517), without `kid`, `use` and `alg`. */
  readonly jwk: Readonly<Record<string, string>>;
}

/** Reads a public key from a JSON Web Key; undefined if its type is unknown. */
export type KeyReader = (jwk: Readonly<Record<string, unknown>>) => Verifier | undefined;
