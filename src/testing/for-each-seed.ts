/**
 * Runs one test with many seeds: everything random (names, choices between equals, jitter) is tried with seed 1, 2, 3, …, and a failure
 * reports how to repeat that seed alone. For clusters under virtual time, whose history the seed determines.
 */
const VARIABLE = "K8TS_SEED";

/** Calls `run` with the seeds 1 to `count`, one after the other; only with that of the environment variable K8TS_SEED if it is set. */
export async function forEachSeed(count: number, run: (seed: number) => Promise<unknown>): Promise<void> {
  for (const seed of seedsOf(count, process.env[VARIABLE])) {
    try {
      await run(seed);
    } catch (error) {
      throw new Error(
        `Failed with seed ${seed}; repeat it alone with ${VARIABLE}=${seed} before the command that runs this test: ${textOf(error)}`,
        {
          cause: error,
        },
      );
    }
  }
}

export function seedsOf(count: number, only: string | undefined): readonly number[] {
  if (only === undefined || only === "") return Array.from({ length: count }, (_, index) => index + 1);
  const seed = Number(only);
  if (Number.isSafeInteger(seed)) return [seed];
  throw new RangeError(`Cannot use ${VARIABLE}="${only}": it must be a whole number`);
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
