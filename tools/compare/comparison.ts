/** The contract of a comparison: what differs between us and one kind of yardstick, as sentences that stay the same from run to run. */
export interface Comparison {
  /** Stands in front of each difference, and explained.ts refers to it. */
  readonly name: string;
  /** `directory` holds the yardsticks. Each difference names the place, what we have and what the yardstick has. */
  compare(directory: string): Promise<readonly string[]>;
}
