/**
 * The contract of a comparison: the differences between this project and one kind of snapshot, as sentences that are stable between runs.
 */
export interface Comparison {
  /** Prefix of each difference; explained.ts refers to it. */
  readonly name: string;
  /** `directory` holds the snapshots. Each difference names the place, what we have and what the snapshot has. */
  compare(directory: string): Promise<readonly string[]>;
}
