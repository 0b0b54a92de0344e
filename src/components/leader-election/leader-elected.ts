/**
 * Work that one of several processes does: at once if there is no election, otherwise each time this process leads. Work that does not end
 * when it is told to keeps neither this process from stopping nor another from leading.
 */
import type { Leadership } from "../../api/machinery/leadership.ts";
import type { Clock } from "../../base/clock.ts";
import { Disposables } from "../../base/disposables.ts";
import type { Logger } from "../../base/logger.ts";
import type { Random } from "../../base/random.ts";
import { startLeaderElection, type ElectionTimes } from "../../client/election/leader-election.ts";
import type { Client } from "../../client/client.ts";

/** More than what ends at all needs: its requests are given up at once. Less than those wait who kill a process that does not stop. */
const END_GRACE_MS = 10_000;

export interface Election extends ElectionTimes {
  readonly lease: { readonly namespace: string; readonly name: string };
  /** Unlike that of any other process. */
  readonly identity: string;
}

/** What the server checks of each write. */
export function leadershipOf(election: Election | undefined): Leadership | undefined {
  return election === undefined ? undefined : { ...election.lease, holder: election.identity };
}

export interface LedOptions {
  /** Absent: it acts at once, and is the only one that may. */
  readonly election?: Election | undefined;
  /** For the election. */
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /**
   * Works until the signal comes; resolves when nothing of it runs any more. `isLeading` says whether it may write at this moment, and
   * never does again after the signal, not even if this process leads a second time.
   */
  act(signal: AbortSignal, isLeading: () => boolean): Promise<void>;
  /** What of it runs at this moment. */
  underWay(): readonly string[];
  /** Who leads, each time that is another; of this process, too. */
  onLeader?(identity: string): void;
  /** Each time it has ended. */
  onStopped?(): void;
  /** It ended with an error, and there is no election in which another could try. */
  onFailed(error: unknown): void;
  /**
   * It did not end in time. The lease is then not renewed and not given back, but left to run out: what is left here writes nothing more
   * (leadingOnly, and the server's own look at the lease), but who gives a lease back says that nothing runs any more, and it may do
   * something else than write to this API, or write to a server that does not look. It stands again only when that has ended.
   */
  onGivenUp?(error: Error): void;
}

export interface LeaderElectedRun extends AsyncDisposable {
  isLeading(): boolean;
}

export function startLeaderElected(options: LedOptions): LeaderElectedRun {
  return options.election === undefined ? startAlone(options) : startElected(options, options.election);
}

function startAlone(options: LedOptions): LeaderElectedRun {
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

function startElected(options: LedOptions, election: Election): LeaderElectedRun {
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

function giveUp({ log, underWay, onGivenUp }: LedOptions): void {
  const what = underWay();
  const error = new Error(`Did not stop within ${END_GRACE_MS / 1_000} s after cancellation: ${what.join(", ") || "startup"}`);
  log.warn("Component does not stop; abandoning it", { underWay: what });
  onGivenUp?.(error);
}
