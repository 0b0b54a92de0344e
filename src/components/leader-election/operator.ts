/**
 * Runs custom controllers as a program: with one connection and one set of informers, and optional leader election. The cluster's own
 * controllers are started elsewhere (controllers.ts, controller-manager.ts).
 */
import type { Transport } from "../../api/machinery/transport.ts";
import { aborted } from "../../base/abort.ts";
import type { Clock } from "../../base/clock.ts";
import { Disposables } from "../../base/disposables.ts";
import { silentLogger, type Logger } from "../../base/logger.ts";
import type { Random } from "../../base/random.ts";
import { createEventRecorder } from "../../client/events/create-event-recorder.ts";
import { createInformers } from "../../client/informer/informers.ts";
import { createClient } from "../../client/rest-client.ts";
import type { Controller } from "../../controllers/runtime/controller.ts";
import { runControllers, type RunningControllers } from "../../controllers/runtime/run-controllers.ts";
import { realClock } from "../../host/real-clock.ts";
import { realRandom } from "../../host/real-random.ts";
import { leaderOnlyTransport } from "./leader-only-transport.ts";
import { leadershipOf, startLeaderElected, type Election } from "./leader-elected.ts";

export interface OperatorOptions {
  readonly controllers: readonly Controller[];
  /** Transport to the API: `httpsTransport(await loadKubeconfig(…), …)` of k8ts/client, or that of an embedded cluster. */
  readonly transport: Transport;
  /** Absent: it is active immediately, and must be the only instance. */
  readonly election?: Election;
  /** Default: real time. */
  readonly clock?: Clock;
  readonly random?: Random;
  /** Default: nothing is logged. */
  readonly log?: Logger;
  /**
   * Called if something does not stop within 10 s after cancellation, for instance after a lost lease. It writes nothing more, but cannot
   * be killed inside this process, which becomes the leader again only after it has stopped: exit the process and let it be restarted.
   * Always logged.
   */
  readonly onStuck?: (error: Error) => void;
}

export interface Operator extends AsyncDisposable {
  /**
   * Resolves when the caches have synced and the controllers run; with leader election, when this process becomes the leader for the first
   * time.
   */
  readonly started: Promise<void>;
  /**
   * Stops them; resolves when nothing runs any more and the lease is released. Work that does not stop within 10 s is abandoned: then the
   * lease expires.
   */
  stop(): Promise<void>;
}

export function startOperator({ clock = realClock, random = realRandom(), log = silentLogger, ...options }: OperatorOptions): Operator {
  const { controllers, transport, election, onStuck } = options;
  let onStarted: { resolve(): void; reject(error: unknown): void };
  const started = new Promise<void>((resolve, reject) => (onStarted = { resolve, reject }));
  // Avoids an unhandled rejection if it is not awaited.
  started.catch(() => undefined);
  const client = createClient(transport);
  let underWay: RunningControllers["underWay"] = () => [];
  const act = async (signal: AbortSignal, isLeading: () => boolean): Promise<void> => {
    await using running = new Disposables();
    const informers = running.use(createInformers({ transport, clock, random, log }));
    const controlling = running.use(
      await runControllers({
        controllers,
        informers,
        client,
        clientFor: () => createClient(leaderOnlyTransport(transport, { isLeading, leadership: leadershipOf(election) })),
        recorderFor: ({ account, component = account }, own) => createEventRecorder({ client: own, component, clock, random, log }),
        clock,
        random,
        log,
        signal,
      }),
    );
    underWay = () => controlling.underWay();
    onStarted.resolve();
    await aborted(signal);
  };
  const run = startLeaderElected({
    ...{ election, client, clock, random, log, act },
    underWay: () => underWay(),
    onFailed: (error) => onStarted.reject(error),
    onGivenUp: (error) => onStuck?.(error),
  });
  const stop = async (): Promise<void> => {
    await run[Symbol.asyncDispose]();
  };
  return { started, stop, [Symbol.asyncDispose]: stop };
}
