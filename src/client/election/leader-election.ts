/**
 * One of several candidates leads, by a Lease that it renews. It keeps true:
 * - Never do two lead at once. A leader that cannot renew stops (its signal is aborted) before any other may take the Lease.
 * - Clocks of other machines do not matter, nor does setting one's own: only durations are measured, each by one clock.
 * - Who stops gives the Lease back when his work has ended, and the next one takes it at once; after a death it is taken when the Lease
 *   has not changed for as long as its holder promised.
 *
 * It goes on after a loss: a candidate whose work has ended stands again, and none before that. The same Leases as client-go's, so both may stand in one
 * election. Not here: elections by the server itself (coordinated leader election), which upstream has switched off.
 */
import type { Lease } from "../../api/generated/coordination.k8s.io/v1.ts";
import { isReason } from "../../api/machinery/status-error.ts";
import { aborted, onAbort } from "../../base/abort.ts";
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import type { Random } from "../../base/random.ts";
import type { Client } from "../client.ts";
import type { EventRecorder } from "../events/event-recorder.ts";
import { LeaseLock, type ClaimResult } from "./lease-lock.ts";
import { watchLease } from "./lease-watch.ts";
import { Term } from "./term.ts";
import { within } from "./within.ts";

/** Upstream's numbers. */
export const LEASE_DURATION_MS = 15_000;
export const RENEW_DEADLINE_MS = 10_000;
export const RETRY_PERIOD_MS = 2_000;
/** A candidate's wait is longer than the retry period by up to this many times of it, so that candidates do not look all at once. */
const RETRY_JITTER = 1.2;
/** The shortest time that one request is given. */
const ATTEMPT_MIN_MS = 1_000;

export interface ElectionTimes {
  /** How long others wait, from when they last saw the Lease change, before they take it. Default: 15 s. Written in whole seconds. */
  readonly leaseDurationMs?: number;
  /** How long a leader goes on that cannot renew the Lease. Default: 10 s. */
  readonly renewDeadlineMs?: number;
  /** How often the leader renews, and how often others look even if they hear nothing. Default: 2 s. */
  readonly retryPeriodMs?: number;
}

export interface LeaderElectionOptions extends ElectionTimes {
  readonly client: Client;
  readonly lease: { readonly namespace: string; readonly name: string };
  /** Unlike that of any other candidate. */
  readonly identity: string;
  /** Whether to give the Lease back when it is stopped, so that the next need not wait for its end. Default: true. */
  readonly releaseOnStop?: boolean;
  /**
   * How long the work may take to end when it is told to. Then it is given up: the Lease is no longer renewed, so that others can lead,
   * and not given back, since that would say that nothing of this leadership runs any more. Default: as long as it takes.
   */
  readonly workGraceMs?: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Tells of each change on the Lease. */
  readonly events?: EventRecorder;

  /**
   * It leads until `signal` is aborted. If this returns a promise, the leadership's work lasts until it resolves, and the Lease is not
   * given back before. Throwing ends the leadership: who cannot do the work leaves it to another.
   *
   * `lost` is aborted when the Lease cannot be held any longer, also while the work comes to its end: whatever still runs must be cut off
   * within the lease duration less the renew deadline, since another may begin then.
   */
  onStartedLeading(signal: AbortSignal, lost: AbortSignal): void | Promise<void>;
  /** Called after each leadership, when the work has ended. The Lease is not given back, and it does not stand again, before it is done. */
  onStoppedLeading(): void | Promise<void>;
  /** The work was given up. If it ends later, `onStoppedLeading` is called then, and it stands again unless it was stopped. */
  readonly onGivenUp?: () => void;
  /** Another one leads, or this one does. Called for the first that is seen, too. */
  readonly onNewLeader?: (identity: string) => void;
}

export interface LeaderElection extends AsyncDisposable {
  /** Whether it may act at this very moment. Cheap: ask it before everything that must not be done twice. */
  isLeading(): boolean;
  /** Who was last seen to lead; "" if nobody. */
  readonly leader: string;
  /** Stops leading and standing. Resolves when the work has ended and the Lease is given back, or could not be; or the work was given up. */
  stop(): Promise<void>;
}

/** All that is wrong with the times, one sentence each. */
export function electionProblems(times: ElectionTimes): string[] {
  const { leaseDurationMs, renewDeadlineMs, retryPeriodMs } = withDefaults(times);
  const problems: string[] = [];
  for (const [name, value] of Object.entries({ leaseDurationMs, renewDeadlineMs, retryPeriodMs })) {
    if (!(value > 0)) problems.push(`${name} must be greater than 0, is ${value}`);
  }
  if (!(leaseDurationMs > renewDeadlineMs)) {
    problems.push(`leaseDurationMs must be greater than renewDeadlineMs (${renewDeadlineMs}), is ${leaseDurationMs}`);
  }
  if (!(renewDeadlineMs > retryPeriodMs * RETRY_JITTER)) {
    problems.push(`renewDeadlineMs must be greater than ${RETRY_JITTER} times retryPeriodMs (${retryPeriodMs}), is ${renewDeadlineMs}`);
  }
  return problems;
}

/** Stands in the election until it is stopped. Throws a RangeError with all that is wrong with the times. */
export function startLeaderElection(options: LeaderElectionOptions): LeaderElection {
  const problems = electionProblems(options);
  if (options.identity === "") problems.push("identity must not be empty");
  if (problems.length > 0) throw new RangeError(`Cannot take part in the election: ${problems.join("; ")}`);
  return new Candidate(options);
}

function withDefaults(times: ElectionTimes): Required<ElectionTimes> {
  const { leaseDurationMs = LEASE_DURATION_MS, renewDeadlineMs = RENEW_DEADLINE_MS, retryPeriodMs = RETRY_PERIOD_MS } = times;
  return { leaseDurationMs, renewDeadlineMs, retryPeriodMs };
}

class Candidate implements LeaderElection {
  readonly #options: LeaderElectionOptions;
  readonly #times: Required<ElectionTimes>;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #log: Logger;
  readonly #lock: LeaseLock;
  readonly #stop = new AbortController();
  readonly #ended: Promise<void>;
  #term: Term | undefined;
  #attempt: AbortController | undefined;
  #reportedLeader = "";
  #failures = 0;
  /** Ends the present pause, or the next one. */
  #wake = (): void => undefined;
  #isWoken = false;

  constructor(options: LeaderElectionOptions) {
    const { client, lease, identity, clock, random } = options;
    this.#options = options;
    this.#times = withDefaults(options);
    this.#clock = clock;
    this.#random = random.derive(`election of ${identity}`);
    this.#log = options.log.with({ lease: `${lease.namespace}/${lease.name}`, identity });
    this.#lock = new LeaseLock({ client, lease, identity, leaseDurationMs: this.#times.leaseDurationMs, clock });
    const heard = (seen: Lease, is: "there" | "deleted"): void => this.#hear(seen, is);
    const watching = { client, lease, retryMs: this.#times.retryPeriodMs, clock, random: this.#random, log: this.#log, heard };
    const watched = watchLease(watching, this.#stop.signal);
    this.#ended = this.#run().then(() => watched);
  }

  isLeading(): boolean {
    return this.#term?.isLeading() ?? false;
  }

  get leader(): string {
    return this.#lock.holder;
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    this.#term?.end("The election was stopped");
    if (this.#term === undefined) {
      // A write that is under way may make it the leader: it is waited for, so that the Lease can be given back.
      if (!this.#lock.isWriting) this.#attempt?.abort();
      this.#wakeUp();
    }
    await this.#ended;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  // ── standing ──────────────────────────────────────────────────────────────────────────────────────

  async #run(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      const claimed = await this.#try(this.#attemptMs);
      if (claimed?.isOurs !== true) {
        if (!this.#stop.signal.aborted) await this.#pause(this.#standingPauseMs());
        continue;
      }
      await this.#lead(claimed.sinceMs);
      // Others come first now, and work that fails at once must not make it try again at once.
      await this.#clock.sleep(this.#standingPauseMs(), this.#stop.signal).catch(() => undefined);
    }
  }

  /** Until the next look, or until the Lease is free if that is earlier. */
  #standingPauseMs(): number {
    const retryMs = this.#times.retryPeriodMs * (1 + RETRY_JITTER * this.#random.fraction());
    const { freeInMs } = this.#lock;
    return freeInMs > 0 ? Math.min(retryMs, freeInMs) : retryMs;
  }

  #hear(lease: Lease, is: "there" | "deleted"): void {
    const { identity } = this.#options;
    this.#lock.hear(lease, is);
    this.#report();
    if (this.#term !== undefined && this.#lock.holder !== identity) this.#term.lose(this.#heldByAnother());
    // Given back: who waits takes it. Deleted: who holds it makes it again.
    if (this.#lock.holder === "" || (is === "deleted" && this.#term !== undefined)) this.#wakeUp();
  }

  #heldByAnother(): string {
    return `The lease is held by ${JSON.stringify(this.#lock.holder)}`;
  }

  // ── leading ───────────────────────────────────────────────────────────────────────────────────────

  async #lead(sinceMs: number): Promise<void> {
    const term = new Term({ clock: this.#clock, renewDeadlineMs: this.#times.renewDeadlineMs, sinceMs });
    if (this.#stop.signal.aborted) return this.#release();
    // The answer came so late that the Lease may have gone to another.
    if (!term.isLeading()) return;
    this.#term = term;
    this.#log.info("Leads");
    this.#tell("became leader");
    const finished = new AbortController();
    const renewing = this.#renewWhile(term, finished.signal);
    const ended = this.#work(term).then(() => true);
    const hasEnded = await Promise.race([ended, this.#graceIsOver(term, finished.signal)]);
    if (!hasEnded) term.lose("The leader's work did not end in time");
    finished.abort();
    this.#wakeUp();
    await renewing;
    this.#term = undefined;
    this.#log.info("Leads no more", { why: term.signal.reason as unknown });
    this.#tell("stopped leading");
    if (!hasEnded) await this.#giveUp(ended);
    else if (!term.isLost) await this.#release();
  }

  /** Resolves with false when the work has not ended in time, and never if it has or there is no limit. */
  async #graceIsOver(term: Term, finished: AbortSignal): Promise<false> {
    const { workGraceMs } = this.#options;
    if (workGraceMs === undefined) return never();
    await aborted(term.signal);
    await this.#clock.sleep(workGraceMs, finished).catch(never);
    return false;
  }

  /** Whoever led again beside what is left of the last time would be two. */
  async #giveUp(ended: Promise<unknown>): Promise<void> {
    this.#options.onGivenUp?.();
    await Promise.race([ended, aborted(this.#stop.signal)]);
  }

  /** Resolves when the leadership is over and what it did has ended. */
  async #work(term: Term): Promise<void> {
    const over = new Promise<void>((resolve) => onAbort(term.signal, resolve));
    try {
      await this.#options.onStartedLeading(term.signal, term.lost);
    } catch (error) {
      if (!term.signal.aborted) this.#log.error("The leader's work failed", { error });
      term.end("The leader's work failed");
    }
    if (!term.signal.aborted) await over;
    try {
      await this.#options.onStoppedLeading();
    } catch (error) {
      this.#log.error("What follows the leader's work failed", { error });
    }
  }

  /** Also while the work comes to its end, so that nobody else begins before. */
  async #renewWhile(term: Term, finished: AbortSignal): Promise<void> {
    while (!finished.aborted && !term.isLost) {
      if (term.leftMs <= 0) return term.lose("The lease could not be renewed in time");
      await this.#pause(Math.min(this.#times.retryPeriodMs, term.leftMs));
      if (finished.aborted || term.isLost || term.leftMs <= 0) continue;
      const claimed = await this.#try(Math.min(this.#attemptMs, term.leftMs));
      if (claimed?.isOurs === true) term.renewed(claimed.sinceMs);
      else if (claimed?.isOurs === false) term.lose(this.#heldByAnother());
    }
  }

  // ── what both do ──────────────────────────────────────────────────────────────────────────────────

  /** As upstream: one request that gets no answer must not cost the leadership. */
  get #attemptMs(): number {
    return Math.max(ATTEMPT_MIN_MS, this.#times.renewDeadlineMs / 2);
  }

  /** Undefined: it is not known whose the Lease is. */
  async #try(limitMs: number): Promise<ClaimResult | undefined> {
    const attempt = new AbortController();
    this.#attempt = attempt;
    try {
      const claimed = await within(this.#clock, limitMs, attempt, (signal) => this.#lock.claim(signal));
      if (this.#failures > 0) this.#log.info("The lease can be reached again", { failures: this.#failures });
      this.#failures = 0;
      this.#report();
      return claimed;
    } catch (error) {
      if (!this.#stop.signal.aborted) this.#logFailure(error);
      return undefined;
    }
  }

  #logFailure(error: unknown): void {
    if (isReason(error, "Conflict") || isReason(error, "AlreadyExists")) {
      this.#log.debug("Somebody else wrote the lease first");
      return;
    }
    // Once per outage: it is tried again every few seconds.
    this.#log[this.#failures++ === 0 ? "warn" : "debug"]("Cannot reach the lease", { error });
  }

  async #release(): Promise<void> {
    if (this.#options.releaseOnStop === false) return;
    try {
      await within(this.#clock, this.#times.renewDeadlineMs, new AbortController(), (signal) => this.#lock.release(signal));
      this.#log.info("Gave the lease back");
    } catch (error) {
      this.#log.warn("Cannot give the lease back: others wait until it ends", { error });
    }
  }

  #report(): void {
    const { holder } = this.#lock;
    if (holder === "" || holder === this.#reportedLeader) return;
    this.#reportedLeader = holder;
    try {
      this.#options.onNewLeader?.(holder);
    } catch (error) {
      this.#log.error("onNewLeader failed", { error });
    }
  }

  #tell(what: string): void {
    const { lease } = this.#lock;
    if (lease === undefined) return;
    const message = `${this.#options.identity} ${what}`;
    this.#options.events?.record(lease, { type: "Normal", reason: "LeaderElection", message });
  }

  async #pause(durationMs: number): Promise<void> {
    const waking = new AbortController();
    this.#wake = () => waking.abort();
    if (!this.#isWoken) await this.#clock.sleep(durationMs, waking.signal).catch(() => undefined);
    this.#isWoken = false;
  }

  #wakeUp(): void {
    this.#isWoken = true;
    this.#wake();
  }
}

function never(): Promise<never> {
  return new Promise(() => undefined);
}
