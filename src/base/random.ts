/**
 * Randomness as an argument. The same seed gives the same sequence on every machine and Node version, so that a failing run can be
 * reproduced. Not for secrets: keys and tokens come from `host`.
 */
import { assert } from "./assert.ts";

export interface Random {
  /** A number in [0, 1). */
  fraction(): number;
  /** An integer in [0, limit). `limit` is an integer from 1 to 2^32. */
  below(limit: number): number;
  /** An independent sequence determined by this one and `name`: components that draw from their own sequence do not affect each other. */
  derive(name: string): Random;
}

/** Any finite number is a seed; different seeds give different sequences. */
export function seededRandom(seed: number): Random {
  assert(Number.isFinite(seed), "a seed is a finite number");
  const bits = new DataView(new ArrayBuffer(8));
  bits.setFloat64(0, seed);
  return new SeededRandom(() => absorb(NO_STATE, [bits.getUint32(0), bits.getUint32(4)]));
}

/** One of `items`, uniformly. There must be at least one. */
export function pick<T>(random: Random, items: readonly T[]): T {
  assert(items.length > 0, "there is something to pick from");
  return items[random.below(items.length)] as T;
}

/** The items in a new array, in uniformly random order. */
export function shuffled<T>(random: Random, items: readonly T[]): T[] {
  const result = [...items];
  for (let last = result.length - 1; last > 0; last--) {
    const other = random.below(last + 1);
    [result[last], result[other]] = [result[other] as T, result[last] as T];
  }
  return result;
}

// ── the generator: "small fast counting" with 32-bit words, which passes PractRand; its counter forbids short cycles ──

interface State {
  a: number;
  b: number;
  c: number;
  counter: number;
}

const NO_STATE: Readonly<State> = { a: 0, b: 0, c: 0, counter: 1 };

/** Rounds until a changed bit has affected the whole state. */
const MIXING_ROUNDS = 12;

const TWO_TO_26 = 2 ** 26;
const TWO_TO_32 = 2 ** 32;
const TWO_TO_53 = 2 ** 53;

/** Above every UTF-16 unit, so that the end of a name is unambiguous: derive("ab") is not derive("a").derive("b"). */
const END_OF_NAME = 0x1_0000;

class SeededRandom implements Random {
  readonly #makeOrigin: () => Readonly<State>;
  #knownOrigin: Readonly<State> | undefined;
  #knownState: State | undefined;

  /** Initialised on first use: most sequences are for rare events. */
  constructor(makeOrigin: () => Readonly<State>) {
    this.#makeOrigin = makeOrigin;
  }

  /** The seed of this sequence; constant, so that `derive` does not depend on how much was drawn. */
  get #origin(): Readonly<State> {
    return (this.#knownOrigin ??= this.#makeOrigin());
  }

  get #state(): State {
    return (this.#knownState ??= { ...this.#origin });
  }

  fraction(): number {
    // 53 bits, all that a number in [0, 1) can hold.
    const high = nextWord(this.#state) >>> 5;
    const low = nextWord(this.#state) >>> 6;
    return (high * TWO_TO_26 + low) / TWO_TO_53;
  }

  below(limit: number): number {
    assert(Number.isInteger(limit) && limit >= 1 && limit <= TWO_TO_32, "a limit is a whole number from 1 to 2^32");
    // Words from the incomplete last stretch of `limit` would favour small numbers: draw again.
    const fairWords = TWO_TO_32 - (TWO_TO_32 % limit);
    let word = nextWord(this.#state);
    while (word >= fairWords) word = nextWord(this.#state);
    return word % limit;
  }

  derive(name: string): Random {
    return new SeededRandom(() => {
      const units = Array.from({ length: name.length }, (_, index) => name.charCodeAt(index));
      return absorb(this.#origin, [...units, END_OF_NAME]);
    });
  }
}

function nextWord(state: State): number {
  const result = (state.a + state.b + state.counter) | 0;
  state.counter = (state.counter + 1) | 0;
  state.a = state.b ^ (state.b >>> 9);
  state.b = (state.c + (state.c << 3)) | 0;
  state.c = (((state.c << 21) | (state.c >>> 11)) + result) | 0;
  return result >>> 0;
}

/** The state after mixing in `words` one by one. */
function absorb(state: Readonly<State>, words: readonly number[]): State {
  const mixed = { ...state };
  for (const word of words) {
    mixed.a ^= word;
    for (let round = 0; round < MIXING_ROUNDS; round++) nextWord(mixed);
  }
  return mixed;
}
