/**
 * Controllers of one's own as a program: over one connection and one set of informers, with leader election if it is asked for. The
 * cluster's own controllers are started elsewhere (controllers-part.ts, controller-manager.ts); this is for everybody else's.
 */
import type { Transport } from "../api/machinery/transport.ts";
import { onAbort } from "../base/abort.ts";
import type { Clock } from "../base/clock.ts";
import { Disposables } from "../base/disposables.ts";
import { silentLogger, type Logger } from "../base/logger.ts";
import type { Random } from "../base/random.ts";
import { startLeaderElection, type ElectionTimes } from "../client/election/leader-election.ts";
import { createEventRecorder } from "../client/events/create-event-recorder.ts";
import { createInformers } from "../client/informer/informers.ts";
import { createClient } from "../client/rest-client.ts";
import type { Controller } from "../controllers/runtime/controller.ts";
import { runControllers } from "../controllers/runtime/run-controllers.ts";
import { realClock } from "../host/real-clock.ts";
import { realRandom } from "../host/real-random.ts";
import { leadingOnly } from "./leading-only.ts";

export interface OperatorOptions {
  readonly controllers: readonly Controller[];
  /** To the API: `httpsTransport(await loadKubeconfig(…), …)` of k8ts/client, or that of a cluster in this process. */
  readonly transport: Transport;
  /** Absent: it acts at once, and nobody else may. */
  readonly election?: ElectionTimes & { readonly lease: { readonly namespace: string; readonly name: string }; readonly identity: string };
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
  const owned = new Disposables();
  let onStarted: { resolve(): void; reject(error: unknown): void };
  const started = new Promise<void>((resolve, reject) => (onStarted = { resolve, reject }));
  // Who does not wait for it is not told by an unhandled rejection.
  started.catch(() => undefined);
  let isLeading = (): boolean => true;
  const act = async (signal: AbortSignal): Promise<void> => {
    await using running = new Disposables();
    const guarded = leadingOnly(transport, () => isLeading());
    const informers = running.use(createInformers({ transport, clock, random, log }));
    running.use(
      await runControllers({
        controllers,
        informers,
        client: createClient(transport),
        clientFor: () => createClient(guarded),
        recorderFor: ({ account, component = account }, client) => createEventRecorder({ client, component, clock, random, log }),
        clock,
        random,
        log,
      }),
    );
    onStarted.resolve();
    if (!signal.aborted) await new Promise<void>((resolve) => void onAbort(signal, resolve));
  };
  if (election === undefined) {
    const stopping = new AbortController();
    const acting = act(stopping.signal).catch((error: unknown) => onStarted.reject(error));
    owned.defer(async () => {
      stopping.abort();
      await acting;
    });
  } else {
    const client = createClient(transport);
    const running = owned.use(
      startLeaderElection({ ...election, client, clock, random, log, onStartedLeading: act, onStoppedLeading() {} }),
    );
    isLeading = () => running.isLeading();
  }
  const stop = () => owned[Symbol.asyncDispose]();
  return { started, stop, [Symbol.asyncDispose]: stop };
}
