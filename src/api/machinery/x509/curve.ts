/**
 * The elliptic curves of certificates: P-224, P-256, P-384, P-521 and Ed25519. Their parameters are here, their arithmetic is that of
 * @noble/curves (docs/decisions/0023-hashes-and-signatures.md). A curve is built on first use, since building all of them would take
 * milliseconds of every start. Only public keys are used here, and well-known private keys of tests and simulations (p256-signer.ts).
 */
import { edwards, eddsa, type EdDSA } from "@noble/curves/abstract/edwards.js";
import { ecdsa, weierstrass, type ECDSA } from "@noble/curves/abstract/weierstrass.js";
import { HASHES, type HashName } from "../../../base/crypto/hash.ts";

export interface Curve {
  /** Its name in Go's error messages. */
  readonly name: "P224" | "P256" | "P384" | "P521";
  /** Bytes of a coordinate. */
  readonly sizeBytes: number;
  readonly prime: bigint;
  /** Signs and verifies; accepts both values of `s`, as Go does. */
  readonly ecdsa: ECDSA;
}

interface Parameters extends Pick<Curve, "name" | "sizeBytes" | "prime"> {
  readonly hash: HashName;
  readonly b: bigint;
  readonly order: bigint;
  readonly baseX: bigint;
  readonly baseY: bigint;
}

/** By object identifier; FIPS 186-4, appendix D.1.2. */
const PARAMETERS: ReadonlyMap<string, Parameters> = new Map([
  [
    "1.3.132.0.33",
    {
      name: "P224",
      sizeBytes: 28,
      hash: "SHA-256",
      prime: 2n ** 224n - 2n ** 96n + 1n,
      b: 0xb4050a850c04b3abf54132565044b0b7d7bfd8ba270b39432355ffb4n,
      order: 0xffffffffffffffffffffffffffff16a2e0b8f03e13dd29455c5c2a3dn,
      baseX: 0xb70e0cbd6bb4bf7f321390b94a03c1d356c21122343280d6115c1d21n,
      baseY: 0xbd376388b5f723fb4c22dfe6cd4375a05a07476444d5819985007e34n,
    },
  ],
  [
    "1.2.840.10045.3.1.7",
    {
      name: "P256",
      sizeBytes: 32,
      hash: "SHA-256",
      prime: 2n ** 256n - 2n ** 224n + 2n ** 192n + 2n ** 96n - 1n,
      b: 0x5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604bn,
      order: 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n,
      baseX: 0x6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296n,
      baseY: 0x4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5n,
    },
  ],
  [
    "1.3.132.0.34",
    {
      name: "P384",
      sizeBytes: 48,
      hash: "SHA-384",
      prime: 2n ** 384n - 2n ** 128n - 2n ** 96n + 2n ** 32n - 1n,
      b: 0xb3312fa7e23ee7e4988e056be3f82d19181d9c6efe8141120314088f5013875ac656398d8a2ed19d2a85c8edd3ec2aefn,
      order: 0xffffffffffffffffffffffffffffffffffffffffffffffffc7634d81f4372ddf581a0db248b0a77aecec196accc52973n,
      baseX: 0xaa87ca22be8b05378eb1c71ef320ad746e1d3b628ba79b9859f741e082542a385502f25dbf55296c3a545e3872760ab7n,
      baseY: 0x3617de4a96262c6f5d9e98bf9292dc29f8f41dbd289a147ce9da3113b5f0b8c00a60b1ce1d7e819d7a431d7c90ea0e5fn,
    },
  ],
  [
    "1.3.132.0.35",
    {
      name: "P521",
      sizeBytes: 66,
      hash: "SHA-512",
      prime: 2n ** 521n - 1n,
      b: 0x51953eb9618e1c9a1f929a21a0b68540eea2da725b99b315f3b8b489918ef109e156193951ec7e937b1652c0bd3bb1bf073573df883d2c34f1ef451fd46b503f00n,
      order:
        0x1fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffa51868783bf2f966b7fcc0148f709a5d03bb5c9b8899c47aebb6fb71e91386409n,
      baseX:
        0xc6858e06b70404e9cd9e3ecb662395b4429c648139053fb521f828af606b4d3dbaa14b5e77efe75928fe1dc127a2ffa8de3348b3c1856a429bf97e7e31c2e5bd66n,
      baseY:
        0x11839296a789a3bc0045c8a5fb42c7d1bd998f54449579b446817afbd17273e662c97ee72995ef42640c550b9013fad0761353c7086a272c24088be94769fd16650n,
    },
  ],
]);

const built = new Map<string, Curve>();

export function curveOf(objectIdentifier: string): Curve | undefined {
  const parameters = PARAMETERS.get(objectIdentifier);
  if (parameters === undefined) return undefined;
  const known = built.get(objectIdentifier);
  if (known !== undefined) return known;
  const { name, sizeBytes, prime } = parameters;
  const curve = { name, sizeBytes, prime, ecdsa: ecdsaOf(parameters) };
  built.set(objectIdentifier, curve);
  return curve;
}

/**
 * Passed to the library instead of the machine's randomness, with which it would blind private keys: no secret key is used here, and under
 * virtual time everything must be deterministic. The library falls back to its path without blinding.
 */
function noRandomBytes(): never {
  throw new Error("Cannot draw random bytes: keys of this room are public");
}

/** Bits per window of the table of multiples of the base point, which the first signature builds: a larger one takes longer to build. */
const WINDOW_BITS = 4;

function ecdsaOf({ prime, order, b, baseX, baseY, hash }: Parameters): ECDSA {
  const equation = { p: prime, n: order, h: 1n, a: prime - 3n, b, Gx: baseX, Gy: baseY };
  const points = weierstrass(equation, { randomBytes: noRandomBytes });
  points.BASE.precompute(WINDOW_BITS);
  return ecdsa(points, HASHES[hash], { lowS: false, randomBytes: noRandomBytes });
}

const ED25519 = {
  p: 2n ** 255n - 19n,
  n: 2n ** 252n + 27742317777372353535851937790883648493n,
  h: 8n,
  a: 2n ** 255n - 20n,
  d: 0x52036cee2b6ffe738cc740797779e89800700a4d4141d8ab75eb4dca135978a3n,
  Gx: 0x216936d3cd6e53fec0a4e231fdd6dc5c692cc7609525a7b2c9562d608f25d51an,
  Gy: 0x6666666666666666666666666666666666666666666666666666666666666658n,
};

let builtEd25519: EdDSA | undefined;

/** RFC 8032, section 5.1; for verifying only. */
export function ed25519(): EdDSA {
  builtEd25519 ??= eddsa(edwards(ED25519, { randomBytes: noRandomBytes }), HASHES["SHA-512"], {
    randomBytes: noRandomBytes,
    zip215: false,
  });
  return builtEd25519;
}
