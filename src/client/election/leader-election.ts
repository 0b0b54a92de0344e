/**
 * Leader election among candidates by a Lease that the leader renews. It guarantees:
 * - There are never two leaders. A leader that cannot renew stops (its signal is aborted) before any other candidate may take the Lease.
 * - Clock skew between machines and wall-clock changes do not matter: only durations are measured, each by one monotonic clock.
 * - A leader that stops releases the Lease when its work has ended, and the next candidate acquires it at once; after a crash it is
 *   acquired when it has not changed for the lease duration.
 *
 * Candidates keep running after a loss: one whose work has ended stands for election again, and not before. The Lease format is
 * client-go's, so that both can take part in one election. Not here: coordinated leader election by the server, which is off by default
 * upstream.
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
import { within } from "./request-timeout.ts";

/** Upstream's defaults. */
export const LEASE_DURATION_MS = 15_000;
export const RENEW_DEADLINE_MS = 10_000;
export const RETRY_PERIOD_MS = 2_000;
/** Maximum jitter of a candidate's retry period, as a factor, so that candidates do not poll in lockstep. */
const RETRY_JITTER = 1.2;
/** Minimum timeout of one request. */
const ATTEMPT_MIN_MS = 1_000;

export interface ElectionTimes {
  /**
   * How long other candidates wait after the last observed change of the Lease before they acquire it. Default: 15 s. Written in whole
   * seconds.
   */
  readonly leaseDurationMs?: number;
  /** How long a leader that cannot renew the Lease keeps leading. Default: 10 s. */
  readonly renewDeadlineMs?: number;
  /** Renewal period of the leader and polling period of the others. Default: 2 s. */
  readonly retryPeriodMs?: number;
}

export interface LeaderElectionOptions extends ElectionTimes {
  readonly client: Client;
  readonly lease: { readonly namespace: string; readonly name: string };
  /** Unique among the candidates. */
  readonly identity: string;
  /** Whether to release the Lease on stop, so that the next candidate need not wait for its expiry. Default: true. */
  readonly releaseOnStop?: boolean;
  /**
   * Timeout for the work to end after a stop. When it expires the work is abandoned: the Lease is no longer renewed, so that others can
   * lead, and not released, since a release states that no work of this term is running. Default: no timeout.
   */
  readonly workGraceMs?: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Records an Event on the Lease for each change. */
  readonly events?: EventRecorder;

  /**
   * Called when the candidate becomes leader, until `signal` is aborted. If it returns a promise, the work lasts until it resolves, and the
   * Lease is not released before. Throwing ends the term: another candidate takes over.
   *
   * `lost` is aborted when the Lease can no longer be held, also while the work is ending: whatever still runs must be cancelled within the
   * lease duration less the renew deadline, since another leader may start then.
   */
  onStartedLeading(signal: AbortSignal, lost: AbortSignal): void | Promise<void>;
  /**
   * Called after each term, when its work has ended. Until it resolves the Lease is not released and the candidate does not stand again.
   */
  onStoppedLeading(): void | Promise<void>;
  /** The work was abandoned. If it ends later, `onStoppedLeading` is called then, and the candidate stands again unless it was stopped. */
  readonly onGivenUp?: () => void;
  /** Called when the observed leader changes, including the first one and this candidate itself. */
  readonly onNewLeader?: (identity: string) => void;
}

export interface LeaderElection extends AsyncDisposable {
  /** Whether this candidate is leader right now. Cheap: check it before everything that must not be done twice. */
  isLeading(): boolean;
  /** The last observed holder; "" if none exists. */
  readonly leader: string;
  /** Stops leading and standing. Resolves when the work has ended (or was abandoned) and the Lease was released, or could not be. */
  stop(): Promise<void>;
}

/** All problems of the durations, one sentence each. */
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

/** Stands for election until stopped. Throws a RangeError with all problems of the durations. */
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
  /** Ends the current pause, or the next one. */
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
    const received = (seen: Lease, is: "there" | "deleted"): void => this.#hear(seen, is);
    const watching = { client, lease, retryMs: this.#times.retryPeriodMs, clock, random: this.#random, log: this.#log, received };
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
      // A write in flight may make it leader: awaited, so that the Lease can be released.
      if (!this.#lock.isWriting) this.#attempt?.abort();
      this.#wakeUp();
    }
    await this.#ended;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  // ── candidate ─────────────────────────────────────────────────────────────────────────────────────

  async #run(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      const claimed = await this.#try(this.#attemptMs);
      if (claimed?.isOurs !== true) {
        if (!this.#stop.signal.aborted) await this.#pause(this.#standingPauseMs());
        continue;
      }
      await this.#lead(claimed.sinceMs);
      // Other candidates go first now, and work that fails at once must not be retried at once.
      await this.#clock.sleep(this.#standingPauseMs(), this.#stop.signal).catch(() => undefined);
    }
  }

  /** Until the next poll, or until the Lease expires if that is earlier. */
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
    // Released: a waiting candidate takes it. Deleted: its holder creates it again.
    if (this.#lock.holder === "" || (is === "deleted" && this.#term !== undefined)) this.#wakeUp();
  }

  #heldByAnother(): string {
    return `The lease is held by ${JSON.stringify(this.#lock.holder)}`;
  }

  // ── leader ────────────────────────────────────────────────────────────────────────────────────────

  async #lead(sinceMs: number): Promise<void> {
    const term = new Term({ clock: this.#clock, renewDeadlineMs: this.#times.renewDeadlineMs, sinceMs });
    if (this.#stop.signal.aborted) return this.#release();
    // The response came so late that another candidate may already hold the Lease.
    if (!term.isLeading()) return;
    this.#term = term;
    this.#log.info("Became leader");
    this.#recordEvent("became leader");
    const finished = new AbortController();
    const renewing = this.#renewWhile(term, finished.signal);
    const ended = this.#work(term).then(() => true);
    const hasEnded = await Promise.race([ended, this.#graceIsOver(term, finished.signal)]);
    if (!hasEnded) term.lose("The leader's work did not end in time");
    finished.abort();
    this.#wakeUp();
    await renewing;
    this.#term = undefined;
    this.#log.info("Lost leadership", { why: term.signal.reason as unknown });
    this.#recordEvent("stopped leading");
    if (!hasEnded) await this.#giveUp(ended);
    else if (!term.isLost) await this.#release();
  }

  /** Resolves with false when the work exceeds its timeout; never if it has ended or there is no timeout. */
  async #graceIsOver(term: Term, finished: AbortSignal): Promise<false> {
    const { workGraceMs } = this.#options;
    if (workGraceMs === undefined) return never();
    await aborted(term.signal);
    await this.#clock.sleep(workGraceMs, finished).catch(never);
    return false;
  }

  /** Leading again beside the remains of the last term would make two leaders. */
  async #giveUp(ended: Promise<unknown>): Promise<void> {
    this.#options.onGivenUp?.();
    await Promise.race([ended, aborted(this.#stop.signal)]);
  }

  /** Resolves when the term is over and its work has ended. */
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
      this.#log.error("onStoppedLeading failed", { error });
    }
  }

  /** Also while the work is ending, so that no other candidate starts before. */
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

  // ── both ──────────────────────────────────────────────────────────────────────────────────────────

  /** As upstream: one unanswered request must not cost the leadership. */
  get #attemptMs(): number {
    return Math.max(ATTEMPT_MIN_MS, this.#times.renewDeadlineMs / 2);
  }

  /** Undefined: the holder of the Lease is unknown. */
  async #try(limitMs: number): Promise<ClaimResult | undefined> {
    const attempt = new AbortController();
    this.#attempt = attempt;
    try {
      const claimed = await within(this.#clock, limitMs, attempt, (signal) => this.#lock.claim(signal));
      if (this.#failures > 0) this.#log.info("The lease is reachable again", { failures: this.#failures });
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
      this.#log.debug("Another candidate wrote the lease first");
      return;
    }
    // Logged once per outage: retries follow every few seconds.
    this.#log[this.#failures++ === 0 ? "warn" : "debug"]("Cannot read or renew the lease", { error });
  }

  async #release(): Promise<void> {
    if (this.#options.releaseOnStop === false) return;
    try {
      await within(this.#clock, this.#times.renewDeadlineMs, new AbortController(), (signal) => this.#lock.release(signal));
      this.#log.info("Released the lease");
    } catch (error) {
      this.#log.warn("Cannot release the lease; other candidates wait until it expires", { error });
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

  #recordEvent(what: string): void {
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
