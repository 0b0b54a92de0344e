/**
 * Signatures as arguments: whoever signs or checks tokens and certificates is handed one of these, so that the control plane knows no
 * cryptography of the machine and, under virtual time, signs with a key whose signatures repeat. Everything is synchronous: a signature
 * takes less than a tenth of a millisecond, and what waits for nothing cannot come in another order.
 * The machine's own are in host/crypto/keys.ts; a pure one is api/machinery/x509.
 */

/** As JSON Web Signatures (RFC 7518) name them. "none" and those of shared secrets are not among them, and never will be. */
export type SignatureAlgorithm = "ES256" | "ES384" | "ES512" | "RS256" | "RS384" | "RS512" | "PS256" | "PS384" | "PS512";

export interface Signer {
  readonly algorithm: SignatureAlgorithm;
  /** The public key as certificates hold it: DER of SubjectPublicKeyInfo. */
  readonly publicKey: Uint8Array;
  /** In the form of JSON Web Signatures: for a curve, both numbers one after the other. */
  sign(message: Uint8Array): Uint8Array;
}

export interface Verifier {
  /** By which tokens say whose signature they carry: upstream's is the hash of the public key. "" if it has no name. */
  readonly keyId: string;
  /** With which signatures of this key may be made; all others are refused, whatever a token says of itself. */
  readonly algorithms: readonly SignatureAlgorithm[];
  verify(message: Uint8Array, signature: Uint8Array, algorithm: SignatureAlgorithm): boolean;
  /** As a JSON Web Key (RFC 7517), without `kid`, `use` and `alg`. */
  readonly jwk: Readonly<Record<string, string>>;
}

/** Reads a public key of a JSON Web Key; undefined if it is of no kind that is known. */
export type KeyReader = (jwk: Readonly<Record<string, unknown>>) => Verifier | undefined;
