/**
 * Length and seed of long suites. `npm test` runs the quick form, `npm run torture` the full one; both read K8TS_SEED, so that a failing
 * run can be repeated exactly. The runner prints the seed.
 */

/** Returns `full` under `npm run torture` (K8TS_TORTURE=1), else `quick`, about a tenth of it. */
export function rounds(counts: { readonly quick: number; readonly full: number }): number {
  return process.env["K8TS_TORTURE"] === "1" ? counts.full : counts.quick;
}

/** Quick runs are deterministic by default. */
const DEFAULT_SEED = 1;

/** The seed of everything random in a test: K8TS_SEED, a whole number, or 1. */
export function testSeed(): number {
  const text = process.env["K8TS_SEED"];
  if (text === undefined || text === "") return DEFAULT_SEED;
  const seed = Number(text);
  if (!Number.isSafeInteger(seed) || seed < 0)
    throw new RangeError(`Cannot use K8TS_SEED: it must be a whole number, is ${JSON.stringify(text)}`);
  return seed;
}
