/**
 * Arithmetic on the elliptic curves of certificates (y² = x³ − 3x + b over a prime field), to check signatures with public keys. It takes
 * its time from what it is given, which is fine for what is public: no secret may ever come here.
 */

export interface Curve {
  /** As Go calls it in messages. */
  readonly name: "P224" | "P256" | "P384" | "P521";
  /** Of a coordinate. */
  readonly sizeBytes: number;
  readonly prime: bigint;
  readonly b: bigint;
  /** How many points the base generates. */
  readonly order: bigint;
  readonly base: Point;
}

export interface Point {
  readonly x: bigint;
  readonly y: bigint;
}

function curve(name: Curve["name"], sizeBytes: number, prime: bigint, numbers: Record<"b" | "order" | "x" | "y", string>): Curve {
  const [b, order, x, y] = [numbers.b, numbers.order, numbers.x, numbers.y].map((hex) => BigInt(`0x${hex}`)) as [
    bigint,
    bigint,
    bigint,
    bigint,
  ];
  return { name, sizeBytes, prime, b, order, base: { x, y } };
}

/** FIPS 186-4, appendix D.1.2. */
const CURVES: ReadonlyMap<string, Curve> = new Map([
  [
    "1.3.132.0.33",
    curve("P224", 28, 2n ** 224n - 2n ** 96n + 1n, {
      b: "b4050a850c04b3abf54132565044b0b7d7bfd8ba270b39432355ffb4",
      order: "ffffffffffffffffffffffffffff16a2e0b8f03e13dd29455c5c2a3d",
      x: "b70e0cbd6bb4bf7f321390b94a03c1d356c21122343280d6115c1d21",
      y: "bd376388b5f723fb4c22dfe6cd4375a05a07476444d5819985007e34",
    }),
  ],
  [
    "1.2.840.10045.3.1.7",
    curve("P256", 32, 2n ** 256n - 2n ** 224n + 2n ** 192n + 2n ** 96n - 1n, {
      b: "5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604b",
      order: "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551",
      x: "6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296",
      y: "4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5",
    }),
  ],
  [
    "1.3.132.0.34",
    curve("P384", 48, 2n ** 384n - 2n ** 128n - 2n ** 96n + 2n ** 32n - 1n, {
      b: "b3312fa7e23ee7e4988e056be3f82d19181d9c6efe8141120314088f5013875ac656398d8a2ed19d2a85c8edd3ec2aef",
      order: "ffffffffffffffffffffffffffffffffffffffffffffffffc7634d81f4372ddf581a0db248b0a77aecec196accc52973",
      x: "aa87ca22be8b05378eb1c71ef320ad746e1d3b628ba79b9859f741e082542a385502f25dbf55296c3a545e3872760ab7",
      y: "3617de4a96262c6f5d9e98bf9292dc29f8f41dbd289a147ce9da3113b5f0b8c00a60b1ce1d7e819d7a431d7c90ea0e5f",
    }),
  ],
  [
    "1.3.132.0.35",
    curve("P521", 66, 2n ** 521n - 1n, {
      b: "51953eb9618e1c9a1f929a21a0b68540eea2da725b99b315f3b8b489918ef109e156193951ec7e937b1652c0bd3bb1bf073573df883d2c34f1ef451fd46b503f00",
      order:
        "1fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffa51868783bf2f966b7fcc0148f709a5d03bb5c9b8899c47aebb6fb71e91386409",
      x: "c6858e06b70404e9cd9e3ecb662395b4429c648139053fb521f828af606b4d3dbaa14b5e77efe75928fe1dc127a2ffa8de3348b3c1856a429bf97e7e31c2e5bd66",
      y: "11839296a789a3bc0045c8a5fb42c7d1bd998f54449579b446817afbd17273e662c97ee72995ef42640c550b9013fad0761353c7086a272c24088be94769fd16650",
    }),
  ],
]);

export function curveOf(objectIdentifier: string): Curve | undefined {
  return CURVES.get(objectIdentifier);
}

export function isOnCurve({ prime, b }: Curve, { x, y }: Point): boolean {
  return (y * y - (x * x * x - 3n * x + b)) % prime === 0n;
}

/** x/z², y/z³: so that adding needs no division. z = 0 is the point at infinity. */
interface JacobianPoint extends Point {
  readonly z: bigint;
}

const INFINITY: JacobianPoint = { x: 1n, y: 1n, z: 0n };

/** a·A + b·B; undefined for the point at infinity. */
export function addMultiples(on: Curve, a: bigint, pointA: Point, b: bigint, pointB: Point): Point | undefined {
  const [first, second] = [pointA, pointB].map((point) => ({ ...point, z: 1n })) as [JacobianPoint, JacobianPoint];
  const both = add(on, first, second);
  let sum = INFINITY;
  for (let bit = BigInt(on.order.toString(2).length) - 1n; bit >= 0n; bit--) {
    sum = double(on, sum);
    const [hasA, hasB] = [(a >> bit) & 1n, (b >> bit) & 1n];
    if (hasA === 1n) sum = add(on, sum, hasB === 1n ? both : first);
    else if (hasB === 1n) sum = add(on, sum, second);
  }
  if (sum.z === 0n) return undefined;
  const inverse = invert(sum.z, on.prime);
  return { x: modulo(sum.x * inverse ** 2n, on.prime), y: modulo(sum.y * inverse ** 3n, on.prime) };
}

function double({ prime }: Curve, point: JacobianPoint): JacobianPoint {
  const { x, y, z } = point;
  if (z === 0n) return point;
  const squared = (y * y) % prime;
  const beta = (4n * x * squared) % prime;
  const alpha = (3n * (x - z * z) * (x + z * z)) % prime;
  const nextX = modulo(alpha * alpha - 2n * beta, prime);
  return { x: nextX, y: modulo(alpha * (beta - nextX) - 8n * squared * squared, prime), z: (2n * y * z) % prime };
}

function add(on: Curve, left: JacobianPoint, right: JacobianPoint): JacobianPoint {
  if (left.z === 0n) return right;
  if (right.z === 0n) return left;
  const { prime } = on;
  const [leftZ2, rightZ2] = [(left.z * left.z) % prime, (right.z * right.z) % prime];
  const leftX = (left.x * rightZ2) % prime;
  const leftY = (left.y * rightZ2 * right.z) % prime;
  const h = modulo(right.x * leftZ2 - leftX, prime);
  const r = modulo(right.y * leftZ2 * left.z - leftY, prime);
  if (h === 0n) return r === 0n ? double(on, left) : INFINITY;
  const h2 = (h * h) % prime;
  const h3 = (h * h2) % prime;
  const x = modulo(r * r - h3 - 2n * leftX * h2, prime);
  return { x, y: modulo(r * (leftX * h2 - x) - leftY * h3, prime), z: (left.z * right.z * h) % prime };
}

/** From 0 on. */
export function modulo(value: bigint, modulus: bigint): bigint {
  const rest = value % modulus;
  return rest < 0n ? rest + modulus : rest;
}

/** For a prime modulus, or at least a value that has nothing in common with it. */
export function invert(value: bigint, modulus: bigint): bigint {
  let [low, high, lowFactor, highFactor] = [modulo(value, modulus), modulus, 1n, 0n];
  while (low > 1n) {
    const quotient = high / low;
    [low, high] = [high % low, low];
    [lowFactor, highFactor] = [highFactor - quotient * lowFactor, lowFactor];
  }
  return modulo(lowFactor, modulus);
}

export function power(base: bigint, exponent: bigint, modulus: bigint): bigint {
  let result = 1n;
  for (let square = modulo(base, modulus), rest = exponent; rest > 0n; rest >>= 1n) {
    if ((rest & 1n) === 1n) result = (result * square) % modulus;
    square = (square * square) % modulus;
  }
  return result;
}
