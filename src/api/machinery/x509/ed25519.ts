/** Signatures on the curve Ed25519 (RFC 8032): checking them, with public keys only, which may take as long as it does. */
import { HASHES } from "./hash.ts";
import { modulo, power } from "./curve.ts";

const PRIME = 2n ** 255n - 19n;
const ORDER = 2n ** 252n + 27742317777372353535851937790883648493n;
const D = modulo(-121665n * power(121666n, PRIME - 2n, PRIME), PRIME);
const ROOT_OF_MINUS_ONE = power(2n, (PRIME - 1n) / 4n, PRIME);

/** x = X/Z, y = Y/Z, and T = XY/Z. */
interface Point {
  readonly x: bigint;
  readonly y: bigint;
  readonly z: bigint;
  readonly t: bigint;
}

const NEUTRAL: Point = { x: 0n, y: 1n, z: 1n, t: 0n };

const POINT_BYTES = 32;
const SIGNATURE_BYTES = 64;

export function isEd25519Signature(key: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  const point = decodePoint(key);
  if (point === undefined || signature.length !== SIGNATURE_BYTES) return false;
  const first = signature.subarray(0, POINT_BYTES);
  const scalar = littleEndian(signature.subarray(POINT_BYTES));
  if (scalar >= ORDER) return false;
  const digest = HASHES["SHA-512"](Uint8Array.from([...first, ...key, ...message]));
  const factor = littleEndian(digest) % ORDER;
  // What was signed is first = scalar·base − factor·key.
  const minusKey = { ...point, x: PRIME - point.x, t: PRIME - point.t };
  const found = encodePoint(add(multiply(base(), scalar), multiply(minusKey, factor)));
  return found.every((byte, index) => byte === first[index]);
}

let basePoint: Point | undefined;

function base(): Point {
  const y = modulo(4n * power(5n, PRIME - 2n, PRIME), PRIME);
  return (basePoint ??= pointAt(y, 0n) ?? NEUTRAL);
}

function decodePoint(bytes: Uint8Array): Point | undefined {
  const value = littleEndian(bytes);
  return pointAt(value % 2n ** 255n, value >> 255n);
}

/** The point of that height whose x is even or odd, if there is one. */
function pointAt(height: bigint, sign: bigint): Point | undefined {
  const y = height % PRIME;
  const squared = modulo((y * y - 1n) * power(D * y * y + 1n, PRIME - 2n, PRIME), PRIME);
  let x = power(squared, (PRIME + 3n) / 8n, PRIME);
  if (modulo(x * x - squared, PRIME) !== 0n) x = (x * ROOT_OF_MINUS_ONE) % PRIME;
  if (modulo(x * x - squared, PRIME) !== 0n) return undefined;
  if ((x & 1n) !== sign) x = modulo(-x, PRIME);
  return { x, y, z: 1n, t: (x * y) % PRIME };
}

function add(left: Point, right: Point): Point {
  const a = (left.y - left.x) * (right.y - right.x);
  const b = (left.y + left.x) * (right.y + right.x);
  const c = 2n * left.t * D * right.t;
  const d = 2n * left.z * right.z;
  const [e, f, g, h] = [b - a, d - c, d + c, b + a].map((value) => modulo(value, PRIME)) as [bigint, bigint, bigint, bigint];
  return { x: (e * f) % PRIME, y: (g * h) % PRIME, z: (f * g) % PRIME, t: (e * h) % PRIME };
}

function multiply(point: Point, factor: bigint): Point {
  let sum = NEUTRAL;
  for (let doubled = point, rest = factor; rest > 0n; rest >>= 1n) {
    if ((rest & 1n) === 1n) sum = add(sum, doubled);
    doubled = add(doubled, doubled);
  }
  return sum;
}

function encodePoint({ x, y, z }: Point): Uint8Array {
  const inverse = power(z, PRIME - 2n, PRIME);
  const value = ((y * inverse) % PRIME) | ((((x * inverse) % PRIME) & 1n) << 255n);
  return Uint8Array.from({ length: POINT_BYTES }, (_, index) => Number((value >> BigInt(8 * index)) & 0xffn));
}

function littleEndian(bytes: Uint8Array): bigint {
  return bytes.reduceRight((total, byte) => (total << 8n) | BigInt(byte), 0n);
}
