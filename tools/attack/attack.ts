/**
 * The contract of an attack: an abuse of a running k8ts by a user or by an unauthenticated client, with a bounded number of attempts and a
 * timeout. An attack reports each success as a breach, and the run fails. Not here: the list of attacks (all.ts), the attacked server
 * (target.ts).
 */
import type { Target } from "./target.ts";

export interface Attack {
  /** Whole words with dashes: "many-headers". */
  readonly name: string;
  /** For the list: the attempt, and the expected defence. */
  readonly tries: string;
  /** Flags of the attacked API server, beyond those of target.ts. */
  readonly flags?: readonly string[];
  /** After this the attack is cancelled and counts as a breach. */
  readonly timeoutMs: number;
  run(target: Target, signal: AbortSignal): Promise<AttackReport>;
}

export interface AttackReport {
  readonly attempts: number;
  /** Successes of the attack; empty if it was repelled. */
  readonly breaches: readonly string[];
  /** Measured values, with their unit, for the report. */
  readonly measured?: Readonly<Record<string, string>>;
}
