/** Runs the local-path provisioner over one connection. Not here: the storage (disk/, simulated-volumes.ts), the default class. */
import type { Transport } from "../api/machinery/transport.ts";
import type { Clock } from "../base/clock.ts";
import { Disposables } from "../base/disposables.ts";
import type { Logger } from "../base/logger.ts";
import type { Random } from "../base/random.ts";
import { createEventRecorder } from "../client/events/create-event-recorder.ts";
import { createInformers } from "../client/informer/informers.ts";
import { createClient } from "../client/rest-client.ts";
import { runControllers } from "../controllers/runtime/run-controllers.ts";
import { localPathController } from "./local-path-controller.ts";
import { LOCAL_PATH_PROVISIONER } from "../api/local-path.ts";
import type { LocalPathOptions } from "./volume-pass.ts";

/** User agent, which determines the field manager. */
export const LOCAL_PATH_AGENT = "k8ts-local-path";

export interface ProvisionerOptions extends LocalPathOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/**
 * Starts in the background: the API server may be away when a node starts, and Pods whose volumes exist need no provisioner. Disposing
 * stops it; volumes stay.
 */
export function startProvisioner(options: ProvisionerOptions): AsyncDisposable {
  const { transport, clock, random } = options;
  const log = options.log.with({ part: "local-path" });
  const stopping = new AbortController();
  const owned = new Disposables();
  const client = createClient(transport);
  const informers = owned.use(createInformers({ transport, clock, random, log }));
  const started = runControllers({
    controllers: [localPathController(options)],
    informers,
    client,
    clientFor: () => client,
    recorderFor: (_controller, own) => createEventRecorder({ client: own, component: LOCAL_PATH_PROVISIONER, clock, random, log }),
    ...{ clock, random, log, signal: stopping.signal },
  }).then(
    (running) => void owned.use(running),
    (error: unknown) => {
      if (!stopping.signal.aborted) log.error("Starting the local-path provisioner failed", { error });
    },
  );
  return {
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await started;
      await owned[Symbol.asyncDispose]();
    },
  };
}
