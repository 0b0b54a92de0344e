/** Work that one of several processes does: at once if there is no election, otherwise each time this process leads. */
import type { Leadership } from "../api/machinery/leadership.ts";
import type { Clock } from "../base/clock.ts";
import { Disposables } from "../base/disposables.ts";
import type { Logger } from "../base/logger.ts";
import type { Random } from "../base/random.ts";
import { startLeaderElection, type ElectionTimes } from "../client/election/leader-election.ts";
import type { Client } from "../client/client.ts";

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
  /** Works until the signal comes; resolves when nothing of it runs any more. `isLeading` says whether it may write at this moment. */
  act(signal: AbortSignal, isLeading: () => boolean): Promise<void>;
  /** Each time it has ended. */
  onStopped?(): void;
  /** It ended with an error, and there is no election in which another could try. */
  onFailed(error: unknown): void;
}

export interface Led extends AsyncDisposable {
  isLeading(): boolean;
}

export function startLed({ election, client, clock, random, log, act, onStopped, onFailed }: LedOptions): Led {
  const owned = new Disposables();
  const dispose = () => owned[Symbol.asyncDispose]();
  if (election === undefined) {
    const stopping = new AbortController();
    const acting = act(stopping.signal, () => true).catch(onFailed);
    owned.defer(async () => {
      stopping.abort(new Error("It was stopped before it had started"));
      await acting;
    });
    return { isLeading: () => true, [Symbol.asyncDispose]: dispose };
  }
  const isLeading = (): boolean => running.isLeading();
  const onStartedLeading = (signal: AbortSignal) => act(signal, isLeading);
  const running = owned.use(
    startLeaderElection({ ...election, client, clock, random, log, onStartedLeading, onStoppedLeading: () => onStopped?.() }),
  );
  return { isLeading, [Symbol.asyncDispose]: dispose };
}
