/**
 * SHA-1, SHA-384 and SHA-512 in plain arithmetic, beside base/crypto/sha-256.ts, to check signatures. Numbers of 64 bits are pairs of 32, since
 * bigints would be fifty times slower on a request of a megabyte.
 */
import { sha256 } from "../../../base/crypto/sha-256.ts";

export const HASHES = { "SHA-1": sha1, "SHA-256": sha256, "SHA-384": sha384, "SHA-512": sha512 } as const;

export type HashName = keyof typeof HASHES;

/** The input, a one bit, zeroes, and the length in bits at the end of the last block. */
function padded(input: Uint8Array, blockBytes: number, lengthBytes: number): DataView {
  const blocks = Math.ceil((input.length + 1 + lengthBytes) / blockBytes);
  const bytes = new Uint8Array(blocks * blockBytes);
  bytes.set(input);
  bytes[input.length] = 0x80;
  const view = new DataView(bytes.buffer);
  view.setBigUint64(bytes.length - 8, BigInt(input.length) * 8n);
  return view;
}

function sha1(input: Uint8Array): Uint8Array {
  const view = padded(input, 64, 8);
  const state = new Int32Array([0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0]);
  const schedule = new Int32Array(80);
  for (let block = 0; block < view.byteLength; block += 64) {
    for (let index = 0; index < 16; index++) schedule[index] = view.getInt32(block + index * 4);
    for (let index = 16; index < 80; index++) {
      schedule[index] = rotateLeft(
        at(schedule, index - 3) ^ at(schedule, index - 8) ^ at(schedule, index - 14) ^ at(schedule, index - 16),
        1,
      );
    }
    addSha1Block(state, schedule);
  }
  return bytesOf(state);
}

function addSha1Block(state: Int32Array, schedule: Int32Array): void {
  let [a, b, c, d, e] = state as unknown as [number, number, number, number, number];
  for (let round = 0; round < 80; round++) {
    const [mixed, constant] =
      round < 20
        ? [(b & c) | (~b & d), 0x5a827999]
        : round < 40
          ? [b ^ c ^ d, 0x6ed9eba1]
          : round < 60
            ? [(b & c) | (b & d) | (c & d), 0x8f1bbcdc]
            : [b ^ c ^ d, 0xca62c1d6];
    const next = (rotateLeft(a, 5) + mixed + e + constant + at(schedule, round)) | 0;
    [e, d, c, b, a] = [d, c, rotateLeft(b, 30), a, next];
  }
  [a, b, c, d, e].forEach((word, index) => (state[index] = at(state, index) + word));
}

function rotateLeft(word: number, bits: number): number {
  return (word << bits) | (word >>> (32 - bits));
}

function at(words: Int32Array, index: number): number {
  return words[index] as number;
}

function bytesOf(words: Int32Array): Uint8Array {
  const view = new DataView(new ArrayBuffer(words.length * 4));
  words.forEach((word, index) => view.setInt32(index * 4, word));
  return new Uint8Array(view.buffer);
}

function sha512(input: Uint8Array): Uint8Array {
  return wideHash(input, constants().start512);
}

function sha384(input: Uint8Array): Uint8Array {
  return wideHash(input, constants().start384).subarray(0, 48);
}

/** High and low halves of numbers of 64 bits, one after the other. */
type Words64 = Int32Array;

interface Constants {
  readonly rounds: Words64;
  readonly start512: Words64;
  readonly start384: Words64;
}

let computed: Constants | undefined;

/** Roots of the first primes, behind the point: computed when first needed, as 160 numbers of 16 digits are nothing to read. */
function constants(): Constants {
  if (computed !== undefined) return computed;
  const primes: bigint[] = [];
  for (let candidate = 2n; primes.length < 80; candidate++) if (primes.every((prime) => candidate % prime !== 0n)) primes.push(candidate);
  const square = (prime: bigint) => root(prime << 128n, 2n);
  computed = {
    rounds: words64(primes.map((prime) => root(prime << 192n, 3n))),
    start512: words64(primes.slice(0, 8).map(square)),
    start384: words64(primes.slice(8, 16).map(square)),
  };
  return computed;
}

/** The largest whole number whose power is not above the value, by halving. */
function root(value: bigint, exponent: bigint): bigint {
  let [low, high] = [0n, 1n << 70n];
  while (high - low > 1n) {
    const middle = (low + high) >> 1n;
    if (middle ** exponent <= value) low = middle;
    else high = middle;
  }
  return low;
}

function words64(values: readonly bigint[]): Words64 {
  return Int32Array.from(values.flatMap((value) => [Number(BigInt.asIntN(32, value >> 32n)), Number(BigInt.asIntN(32, value))]));
}

const BLOCK_BYTES = 128;
const ROUNDS = 80;

function wideHash(input: Uint8Array, start: Words64): Uint8Array {
  const view = padded(input, BLOCK_BYTES, 16);
  const state = start.slice();
  const schedule = new Int32Array(2 * ROUNDS);
  for (let block = 0; block < view.byteLength; block += BLOCK_BYTES) {
    for (let index = 0; index < 32; index++) schedule[index] = view.getInt32(block + index * 4);
    for (let index = 16; index < ROUNDS; index++) extendSchedule(schedule, index);
    addWideBlock(state, schedule);
  }
  return bytesOf(state);
}

function extendSchedule(words: Words64, index: number): void {
  const [earlyHigh, earlyLow] = [at(words, 2 * (index - 15)), at(words, 2 * (index - 15) + 1)];
  const [lateHigh, lateLow] = [at(words, 2 * (index - 2)), at(words, 2 * (index - 2) + 1)];
  const early0 = right(earlyHigh, earlyLow, 1) ^ right(earlyHigh, earlyLow, 8) ^ (earlyHigh >>> 7);
  const early1 = right(earlyLow, earlyHigh, 1) ^ right(earlyLow, earlyHigh, 8) ^ right(earlyLow, earlyHigh, 7);
  const late0 = right(lateHigh, lateLow, 19) ^ right(lateLow, lateHigh, 29) ^ (lateHigh >>> 6);
  const late1 = right(lateLow, lateHigh, 19) ^ right(lateHigh, lateLow, 29) ^ right(lateLow, lateHigh, 6);
  const low = (early1 >>> 0) + (late1 >>> 0) + (at(words, 2 * (index - 7) + 1) >>> 0) + (at(words, 2 * (index - 16) + 1) >>> 0);
  words[2 * index + 1] = low;
  words[2 * index] = early0 + late0 + at(words, 2 * (index - 7)) + at(words, 2 * (index - 16)) + Math.floor(low / 2 ** 32);
}

/** The half of a rotation to the right by less than 32 bits that begins with this half. */
function right(half: number, other: number, bits: number): number {
  return (half >>> bits) | (other << (32 - bits));
}

function addWideBlock(state: Words64, schedule: Words64): void {
  const { rounds } = constants();
  // a to h, each in two halves.
  const words = state.slice();
  for (let round = 0; round < ROUNDS; round++) {
    const [aHigh, aLow, eHigh, eLow] = [at(words, 0), at(words, 1), at(words, 8), at(words, 9)];
    const e0 = right(eHigh, eLow, 14) ^ right(eHigh, eLow, 18) ^ right(eLow, eHigh, 9);
    const e1 = right(eLow, eHigh, 14) ^ right(eLow, eHigh, 18) ^ right(eHigh, eLow, 9);
    const choice0 = (eHigh & at(words, 10)) ^ (~eHigh & at(words, 12));
    const choice1 = (eLow & at(words, 11)) ^ (~eLow & at(words, 13));
    const low1 =
      (at(words, 15) >>> 0) + (e1 >>> 0) + (choice1 >>> 0) + (at(rounds, 2 * round + 1) >>> 0) + (at(schedule, 2 * round + 1) >>> 0);
    const high1 = at(words, 14) + e0 + choice0 + at(rounds, 2 * round) + at(schedule, 2 * round) + Math.floor(low1 / 2 ** 32);
    const a0 = right(aHigh, aLow, 28) ^ right(aLow, aHigh, 2) ^ right(aLow, aHigh, 7);
    const a1 = right(aLow, aHigh, 28) ^ right(aHigh, aLow, 2) ^ right(aHigh, aLow, 7);
    const majority0 = (aHigh & at(words, 2)) ^ (aHigh & at(words, 4)) ^ (at(words, 2) & at(words, 4));
    const majority1 = (aLow & at(words, 3)) ^ (aLow & at(words, 5)) ^ (at(words, 3) & at(words, 5));
    const low2 = (low1 >>> 0) + (a1 >>> 0) + (majority1 >>> 0);
    const high2 = (high1 | 0) + a0 + majority0 + Math.floor(low2 / 2 ** 32);
    const lowE = (at(words, 7) >>> 0) + (low1 >>> 0);
    const highE = at(words, 6) + (high1 | 0) + Math.floor(lowE / 2 ** 32);
    words.copyWithin(2, 0, 14);
    [words[0], words[1], words[8], words[9]] = [high2, low2, highE, lowE];
  }
  addWords(state, words);
}

function addWords(state: Words64, words: Words64): void {
  for (let index = 0; index < state.length; index += 2) {
    const low = (at(state, index + 1) >>> 0) + (at(words, index + 1) >>> 0);
    state[index + 1] = low;
    state[index] = at(state, index) + at(words, index) + Math.floor(low / 2 ** 32);
  }
}
