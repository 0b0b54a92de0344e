/**
 * The contract of an attack: something that a user, or somebody without credentials, tries against a running k8ts, with a bounded number of
 * attempts and a timeout. An attack that achieves what it tries reports each time as a breach, and the run fails.
 * Not here: which attacks there are (all.ts), what they attack (target.ts).
 */
import type { Target } from "./target.ts";

export interface Attack {
  /** Whole words with dashes: "many-headers". */
  readonly name: string;
  /** For the list: what is tried, and what k8ts does instead. */
  readonly tries: string;
  /** Flags of the API server that is attacked, beyond those of target.ts. */
  readonly flags?: readonly string[];
  /** After this the attack is cancelled and counts as a breach. */
  readonly timeoutMs: number;
  run(target: Target, signal: AbortSignal): Promise<AttackReport>;
}

export interface AttackReport {
  readonly attempts: number;
  /** What succeeded although it must not; empty if the attack failed. */
  readonly breaches: readonly string[];
  /** Measured values, with their unit, for the report. */
  readonly measured?: Readonly<Record<string, string>>;
}
