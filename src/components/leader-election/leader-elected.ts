/**
 * Runs work in one of several processes: immediately without leader election, otherwise each time this process becomes the leader. Work
 * that does not stop when cancelled prevents neither this process from stopping nor another from becoming the leader.
 */
import type { Leadership } from "../../api/machinery/leadership.ts";
import type { Clock } from "../../base/clock.ts";
import { Disposables } from "../../base/disposables.ts";
import type { Logger } from "../../base/logger.ts";
import type { Random } from "../../base/random.ts";
import { startLeaderElection, type ElectionTimes } from "../../client/election/leader-election.ts";
import type { Client } from "../../client/client.ts";

/** Timeout of stopping: its requests are aborted immediately. Shorter than the timeouts after which supervisors kill a process. */
const END_GRACE_MS = 10_000;

export interface Election extends ElectionTimes {
  readonly lease: { readonly namespace: string; readonly name: string };
  /** Unique among all processes. */
  readonly identity: string;
}

/** Sent with each write for the server to verify. */
export function leadershipOf(election: Election | undefined): Leadership | undefined {
  return election === undefined ? undefined : { ...election.lease, holder: election.identity };
}

export interface LeaderElectedOptions {
  /** Absent: it runs immediately, and must be the only instance. */
  readonly election?: Election | undefined;
  /** For the election. */
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /**
   * Runs until the signal is aborted; resolves when it has stopped. `isLeading` is true while writes are allowed, and never again after the
   * signal, not even if this process becomes the leader again.
   */
  act(signal: AbortSignal, isLeading: () => boolean): Promise<void>;
  /** Work in progress. */
  underWay(): readonly string[];
  /** Called for each new leader, including this process. */
  onLeader?(identity: string): void;
  /** Called each time it has stopped. */
  onStopped?(): void;
  /** Called if it failed without leader election. */
  onFailed(error: unknown): void;
  /**
   * Called if it did not stop in time. The lease is then neither renewed nor released, but expires: the remaining work writes nothing more
   * (leaderOnlyTransport, and the server's check), but releasing a lease promises that nothing runs any more, and the work may have other
   * effects, or use a server without that check. This process takes part in the election again only after it has stopped.
   */
  onGivenUp?(error: Error): void;
}

export interface LeaderElectedRun extends AsyncDisposable {
  isLeading(): boolean;
}

export function startLeaderElected(options: LeaderElectedOptions): LeaderElectedRun {
  return options.election === undefined ? startAlone(options) : startElected(options, options.election);
}

function startAlone(options: LeaderElectedOptions): LeaderElectedRun {
  const { clock, act, onFailed } = options;
  const stopping = new AbortController();
  const acting = act(stopping.signal, () => !stopping.signal.aborted).catch(onFailed);
  const owned = new Disposables();
  owned.defer(async () => {
    stopping.abort(new Error("Stopped before startup had completed"));
    const inTime = new AbortController();
    void acting.then(() => inTime.abort());
    const isOver = clock.sleep(END_GRACE_MS, inTime.signal).then(
      () => giveUp(options),
      () => undefined,
    );
    await Promise.race([acting, isOver]);
  });
  return { isLeading: () => true, [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose]() };
}

function startElected(options: LeaderElectedOptions, election: Election): LeaderElectedRun {
  const { client, clock, random, log, act } = options;
  const running = startLeaderElection({
    ...{ ...election, client, clock, random, log, workGraceMs: END_GRACE_MS },
    onStartedLeading: (signal) => act(signal, () => !signal.aborted && running.isLeading()),
    onStoppedLeading: () => options.onStopped?.(),
    onNewLeader: (identity) => options.onLeader?.(identity),
    onGivenUp: () => giveUp(options),
  });
  return { isLeading: () => running.isLeading(), [Symbol.asyncDispose]: () => running.stop() };
}

function giveUp({ log, underWay, onGivenUp }: LeaderElectedOptions): void {
  const what = underWay();
  const error = new Error(`Did not stop within ${END_GRACE_MS / 1_000} s after cancellation: ${what.join(", ") || "startup"}`);
  log.warn("Component does not stop; abandoning it", { underWay: what });
  onGivenUp?.(error);
}
