/**
 * How often something is measured: a round to warm up, then several that count, each with all the subjects that are compared,
 * so that whatever else the machine does meets all of them. A round during which the machine below us took processor time away
 * is thrown away and repeated. Not here: what the numbers mean (figure.ts).
 */
import { stealPercent, type CpuTimes } from "./cpu-steal.ts";

/** Enough for a median that one bad round does not move; at least 3 are needed. */
const REPETITIONS = 5;

/** A round with more than this is repeated. */
export const STEAL_PERCENT_MAX = 10;

/** Rounds that a run repeats in all; after that it takes what it gets, and reports the steal, so that it ends. */
const REPEATS_MAX = 10;

export class Rounds {
  readonly #cpuTimes: () => CpuTimes | undefined;
  #repeated = 0;
  #stealPercent = 0;

  constructor(cpuTimes: () => CpuTimes | undefined) {
    this.#cpuTimes = cpuTimes;
  }

  /** Rounds thrown away so far. */
  get repeated(): number {
    return this.#repeated;
  }

  /** The highest of all rounds that counted so far. */
  get stealPercent(): number {
    return this.#stealPercent;
  }

  /** Each subject's results, one per round. Every other round goes through the subjects backwards, since being first may matter. */
  async measure<Subject extends string, Result>(
    subjects: Readonly<Record<Subject, () => Promise<Result>>>,
    repetitions = REPETITIONS,
  ): Promise<Readonly<Record<Subject, readonly Result[]>>> {
    const names = Object.keys(subjects) as Subject[];
    const results = Object.fromEntries(names.map((name) => [name, [] as Result[]])) as Record<Subject, Result[]>;
    await once(names, subjects);
    for (let round = 0; round < repetitions; round += 1) {
      const order = round % 2 === 0 ? names : names.toReversed();
      for (const [name, result] of await this.#undisturbed(() => once(order, subjects))) results[name].push(result);
    }
    return results;
  }

  async #undisturbed<T>(round: () => Promise<T>): Promise<T> {
    for (;;) {
      const before = this.#cpuTimes();
      const result = await round();
      const steal = stealPercent(before, this.#cpuTimes());
      if (steal <= STEAL_PERCENT_MAX || this.#repeated >= REPEATS_MAX) {
        this.#stealPercent = Math.max(this.#stealPercent, steal);
        return result;
      }
      this.#repeated += 1;
    }
  }
}

async function once<Subject extends string, Result>(
  order: readonly Subject[],
  subjects: Readonly<Record<Subject, () => Promise<Result>>>,
): Promise<[Subject, Result][]> {
  const results: [Subject, Result][] = [];
  for (const name of order) results.push([name, await subjects[name]()]);
  return results;
}
