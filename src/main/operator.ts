/**
 * Controllers of one's own as a program: over one connection and one set of informers, with leader election if it is asked for. The
 * cluster's own controllers are started elsewhere (controllers-part.ts, controller-manager.ts); this is for everybody else's.
 */
import type { Transport } from "../api/machinery/transport.ts";
import { aborted } from "../base/abort.ts";
import type { Clock } from "../base/clock.ts";
import { Disposables } from "../base/disposables.ts";
import { silentLogger, type Logger } from "../base/logger.ts";
import type { Random } from "../base/random.ts";
import { createEventRecorder } from "../client/events/create-event-recorder.ts";
import { createInformers } from "../client/informer/informers.ts";
import { createClient } from "../client/rest-client.ts";
import type { Controller } from "../controllers/runtime/controller.ts";
import { runControllers } from "../controllers/runtime/run-controllers.ts";
import { realClock } from "../host/real-clock.ts";
import { realRandom } from "../host/real-random.ts";
import { leadingOnly } from "./leading-only.ts";
import { leadershipOf, startLed, type Election } from "./led.ts";

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
}

export interface Operator extends AsyncDisposable {
  /** Resolves when the controllers know what is there and work; with an election, when this one leads for the first time. */
  readonly started: Promise<void>;
  /** Stops them; resolves when nothing of them runs any more and the lease is given back. */
  stop(): Promise<void>;
}

export function startOperator({ clock = realClock, random = realRandom(), log = silentLogger, ...options }: OperatorOptions): Operator {
  const { controllers, transport, election } = options;
  let onStarted: { resolve(): void; reject(error: unknown): void };
  const started = new Promise<void>((resolve, reject) => (onStarted = { resolve, reject }));
  // Who does not wait for it is not told by an unhandled rejection.
  started.catch(() => undefined);
  const client = createClient(transport);
  const act = async (signal: AbortSignal, isLeading: () => boolean): Promise<void> => {
    await using running = new Disposables();
    const informers = running.use(createInformers({ transport, clock, random, log }));
    running.use(
      await runControllers({
        controllers,
        informers,
        client,
        clientFor: () => createClient(leadingOnly(transport, { isLeading, leadership: leadershipOf(election) })),
        recorderFor: ({ account, component = account }, own) => createEventRecorder({ client: own, component, clock, random, log }),
        clock,
        random,
        log,
        signal,
      }),
    );
    onStarted.resolve();
    await aborted(signal);
  };
  const led = startLed({ election, client, clock, random, log, act, onFailed: (error) => onStarted.reject(error) });
  const stop = async (): Promise<void> => {
    await led[Symbol.asyncDispose]();
  };
  return { started, stop, [Symbol.asyncDispose]: stop };
}
