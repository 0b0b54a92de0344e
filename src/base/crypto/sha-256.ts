/**
 * SHA-256 in plain arithmetic, for rooms that may not touch the machine: entity tags and hashes of documents, which must be the same in
 * every process. About 100 MB/s. Not for secrets: those are the business of host, which has the machine's own.
 */

/** The fractional parts of the cube roots of the first 64 primes, and of the square roots of the first 8, as the standard has it. */
const ROUND_CONSTANTS = new Int32Array(64);
const START = new Int32Array(8);

function fillConstants(): void {
  let filled = 0;
  for (let candidate = 2; filled < 64; candidate++) {
    if (!isPrime(candidate)) continue;
    if (filled < 8) START[filled] = fractionBits(Math.sqrt(candidate));
    ROUND_CONSTANTS[filled++] = fractionBits(Math.cbrt(candidate));
  }
}

function isPrime(number: number): boolean {
  for (let divisor = 2; divisor * divisor <= number; divisor++) if (number % divisor === 0) return false;
  return true;
}

function fractionBits(value: number): number {
  return ((value - Math.floor(value)) * 2 ** 32) | 0;
}

fillConstants();

const BLOCK_BYTES = 64;

/** The 32 bytes of the hash. */
export function sha256(input: Uint8Array): Uint8Array {
  const state = START.slice();
  const schedule = new Int32Array(64);
  const whole = input.length - (input.length % BLOCK_BYTES);
  for (let at = 0; at < whole; at += BLOCK_BYTES) addBlock(state, schedule, input, at);
  const tail = paddedTail(input, whole);
  for (let at = 0; at < tail.length; at += BLOCK_BYTES) addBlock(state, schedule, tail, at);
  const hash = new DataView(new ArrayBuffer(32));
  state.forEach((word, index) => hash.setInt32(index * 4, word));
  return new Uint8Array(hash.buffer);
}

/** The rest of the input, a one bit, zeroes, and the length in bits. */
function paddedTail(input: Uint8Array, from: number): Uint8Array {
  const rest = input.length - from;
  const tail = new Uint8Array(rest + 9 > BLOCK_BYTES ? 2 * BLOCK_BYTES : BLOCK_BYTES);
  tail.set(input.subarray(from));
  tail[rest] = 0x80;
  new DataView(tail.buffer).setBigUint64(tail.length - 8, BigInt(input.length) * 8n);
  return tail;
}

function addBlock(state: Int32Array, schedule: Int32Array, bytes: Uint8Array, from: number): void {
  fillSchedule(schedule, bytes, from);
  let [a, b, c, d, e, f, g, h] = state as unknown as [number, number, number, number, number, number, number, number];
  for (let round = 0; round < 64; round++) {
    const mixed = (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + ((e & f) ^ (~e & g));
    const first = (h + mixed + (ROUND_CONSTANTS[round] as number) + (schedule[round] as number)) | 0;
    const second = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = (d + first) | 0;
    d = c;
    c = b;
    b = a;
    a = (first + second) | 0;
  }
  const added = [a, b, c, d, e, f, g, h];
  for (let index = 0; index < 8; index++) state[index] = (state[index] as number) + (added[index] as number);
}

function fillSchedule(schedule: Int32Array, bytes: Uint8Array, from: number): void {
  for (let index = 0; index < 16; index++) {
    const at = from + index * 4;
    schedule[index] =
      ((bytes[at] as number) << 24) | ((bytes[at + 1] as number) << 16) | ((bytes[at + 2] as number) << 8) | (bytes[at + 3] as number);
  }
  for (let index = 16; index < 64; index++) {
    const early = schedule[index - 15] as number;
    const late = schedule[index - 2] as number;
    const mixedEarly = rotate(early, 7) ^ rotate(early, 18) ^ (early >>> 3);
    const mixedLate = rotate(late, 17) ^ rotate(late, 19) ^ (late >>> 10);
    schedule[index] = (schedule[index - 16] as number) + mixedEarly + (schedule[index - 7] as number) + mixedLate;
  }
}

function rotate(word: number, bits: number): number {
  return (word >>> bits) | (word << (32 - bits));
}

/** Upper-case hexadecimal. */
export function sha256Hex(input: Uint8Array): string {
  return Array.from(sha256(input), (byte) => byte.toString(16).padStart(2, "0"))
    .join("")
    .toUpperCase();
}
