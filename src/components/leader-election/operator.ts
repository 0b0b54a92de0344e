/**
 * Controllers of one's own as a program: over one connection and one set of informers, with leader election if it is asked for. The
 * cluster's own controllers are started elsewhere (controllers.ts, controller-manager.ts); this is for everybody else's.
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
  /** To the API: `httpsTransport(await loadKubeconfig(…), …)` of k8ts/client, or that of a cluster in this process. */
  readonly transport: Transport;
  /** Absent: it acts at once, and nobody else may. */
  readonly election?: Election;
  /** Default: the real time. */
  readonly clock?: Clock;
  readonly random?: Random;
  /** Default: nothing is logged. */
  readonly log?: Logger;
  /**
   * Something does not end, 10 s after it was told to, be it because the lease was lost. It writes nothing more, but nothing can end it in
   * this process, which leads again only when it has ended: end the process, and let it be started anew. It is logged in any case.
   */
  readonly onStuck?: (error: Error) => void;
}

export interface Operator extends AsyncDisposable {
  /** Resolves when the controllers know what is there and work; with an election, when this one leads for the first time. */
  readonly started: Promise<void>;
  /**
   * Stops them; resolves when nothing of them runs any more and the lease is given back. What does not end within 10 s is given up: then
   * the lease is left to run out.
   */
  stop(): Promise<void>;
}

export function startOperator({ clock = realClock, random = realRandom(), log = silentLogger, ...options }: OperatorOptions): Operator {
  const { controllers, transport, election, onStuck } = options;
  let onStarted: { resolve(): void; reject(error: unknown): void };
  const started = new Promise<void>((resolve, reject) => (onStarted = { resolve, reject }));
  // Who does not wait for it is not told by an unhandled rejection.
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
  const led = startLeaderElected({
    ...{ election, client, clock, random, log, act },
    underWay: () => underWay(),
    onFailed: (error) => onStarted.reject(error),
    onGivenUp: (error) => onStuck?.(error),
  });
  const stop = async (): Promise<void> => {
    await led[Symbol.asyncDispose]();
  };
  return { started, stop, [Symbol.asyncDispose]: stop };
}
