/**
 * Repeats measurements: a warm-up round, then several that count, each with all the subjects that are compared, so that other load of the
 * machine affects all of them. A round with too much CPU steal is discarded and repeated. Not here: the meaning of the numbers (figure.ts).
 */
import { stealPercent, type CpuTimes } from "./cpu-steal.ts";

/** Enough for a median that one outlier does not move; at least 3. */
const REPETITIONS = 5;

/** Rounds above this are repeated. */
export const STEAL_PERCENT_MAX = 10;

/** Limit of repeated rounds per run, so that it ends; later rounds count, and the steal is reported. */
const REPEATS_MAX = 10;

export class Rounds {
  readonly #cpuTimes: () => CpuTimes | undefined;
  #repeated = 0;
  #stealPercent = 0;

  constructor(cpuTimes: () => CpuTimes | undefined) {
    this.#cpuTimes = cpuTimes;
  }

  /** Number of discarded rounds. */
  get repeated(): number {
    return this.#repeated;
  }

  /** Maximum over all counted rounds. */
  get stealPercent(): number {
    return this.#stealPercent;
  }

  /** Results per subject, one per round. Every second round runs the subjects in reverse, since the position may matter. */
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
