/**
 * Runs the built-in sidecars over one connection to the API server, for the drivers of all nodes. One process of a cluster runs them. Calls
 * are idempotent, so that a second one, or an official sidecar beside them, does no harm but repeated work.
 */
import type { Transport } from "../../api/machinery/transport.ts";
import type { Clock } from "../../base/clock.ts";
import { Disposables } from "../../base/disposables.ts";
import type { Logger } from "../../base/logger.ts";
import type { Random } from "../../base/random.ts";
import { createEventRecorder } from "../../client/events/create-event-recorder.ts";
import type { CSINode } from "../../api/generated/storage.k8s.io/v1.ts";
import { csiNodes } from "../../api/storage.k8s.io/v1/csi-node.ts";
import type { Informers } from "../../client/informer/informer.ts";
import { createInformers } from "../../client/informer/informers.ts";
import { createClient } from "../../client/rest-client.ts";
import { runControllers } from "../../controllers/runtime/run-controllers.ts";
import { attacherController } from "./attacher-controller.ts";
import { provisionerController } from "./provisioner-controller.ts";
import { resizerController } from "./resizer-controller.ts";
import type { ControllerDrivers } from "./sidecar.ts";

/** User agent, which determines the field manager. */
export const CSI_SIDECARS_AGENT = "k8ts-csi-sidecars";

export interface SidecarOptions {
  readonly drivers: ControllerDrivers;
  /** Has the identity CSI_SIDECARS. */
  readonly transport: Transport;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/** Starts in the background with the first driver of a node: a cluster without drivers watches CSINodes only. Disposing stops them; volumes stay. */
export function startSidecars(options: SidecarOptions): AsyncDisposable {
  const stopping = new AbortController();
  const owned = new Disposables();
  const { transport, clock, random, log } = options;
  const informers = owned.use(createInformers({ transport, clock, random, log }));
  let started: Promise<void> | undefined;
  const found = ({ spec }: CSINode): void => {
    const drivers: CSINode["spec"]["drivers"] | null | undefined = spec.drivers;
    const hasDrivers = (drivers ?? []).length > 0;
    if (hasDrivers && !stopping.signal.aborted) started ??= start(options, informers, owned, stopping.signal);
  };
  owned.use(informers.of(csiNodes).listen({ added: found, updated: found, deleted: () => undefined }));
  return {
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await started;
      await owned[Symbol.asyncDispose]();
    },
  };
}

async function start(
  { drivers, transport, clock, random, ...options }: SidecarOptions,
  informers: Informers,
  owned: Disposables,
  signal: AbortSignal,
): Promise<void> {
  const log = options.log.with({ part: "csi-sidecars" });
  const client = createClient(transport);
  try {
    const running = await runControllers({
      controllers: [provisionerController(drivers), attacherController(drivers), resizerController(drivers)],
      informers,
      client,
      clientFor: () => client,
      recorderFor: (_controller, own) => createEventRecorder({ client: own, component: CSI_SIDECARS_AGENT, clock, random, log }),
      ...{ clock, random, log, signal },
    });
    owned.use(running);
  } catch (error) {
    if (!signal.aborted) log.error("Starting the built-in sidecars of CSI drivers failed", { error });
  }
}
