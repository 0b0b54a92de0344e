/**
 * Chance as an argument. The same seed gives the same sequence on every machine and Node version, so a failing run can be
 * repeated. Not for secrets: keys and tokens come from `host`.
 */
export interface Random {
  /** A number in [0, 1). */
  fraction(): number;
  /** A whole number in [0, limit). `limit` is a whole number from 1 to 2^32. */
  below(limit: number): number;
  /** An independent sequence that is fixed by this one and `name`: parts that draw from their own do not disturb each other. */
  derive(name: string): Random;
}
