/**
 * Randomness that differs from run to run. The seed comes from the machine, the sequence from base/random.ts, so that a real run and a
 * simulated one differ only in the seed. Not for secrets: those use random bytes directly.
 */
import { randomInt } from "node:crypto";
import { seededRandom, type Random } from "../base/random.ts";

/** The largest range that randomInt allows. */
const SEEDS = 2 ** 48 - 1;

export function realRandom(): Random {
  return seededRandom(randomInt(SEEDS));
}
