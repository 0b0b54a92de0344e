/**
 * Starts the controllers with settings and a transport. Used by `k8ts up` and startCluster, in the API server's process, and by `k8ts
 * controller-manager`, over HTTPS.
 */
import { controllerIdentity, KUBE_CONTROLLER_MANAGER, type IdentityName } from "../api/identities.ts";
import type { Transport } from "../api/machinery/transport.ts";
import type { Clock } from "../base/clock.ts";
import { Disposables } from "../base/disposables.ts";
import type { Logger } from "../base/logger.ts";
import type { Random } from "../base/random.ts";
import { createEventRecorder } from "../client/events/create-event-recorder.ts";
import { createInformers } from "../client/informer/informers.ts";
import { createClient } from "../client/rest-client.ts";
import type { ApiServerPart } from "./api-server/secure-serving.ts";
import { all, type ControllerSettings } from "../controllers/all.ts";
import { machineTimeZone } from "../host/time-zones.ts";
import { chooseControllers } from "../controllers/runtime/enabled-controllers.ts";
import { runControllers, type RunningControllers } from "../controllers/runtime/run-controllers.ts";

/** Upstream's user agent, which determines the field manager. */
export const CONTROLLER_MANAGER_AGENT = "kube-controller-manager";

export interface ControllersPartOptions {
  /** Value of --controllers: ["*", "-garbage-collector-controller"]. */
  readonly controllers: readonly string[];
  readonly settings: ControllerSettings;
  /** Transport of an identity: of each controller, and of the controller manager for informers. */
  transportFor(identity: IdentityName): Transport | Promise<Transport>;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Aborts a start that waits for an unresponsive server. */
  readonly signal?: AbortSignal;
}

/** Settings derived from the API server's certificates. */
export function controllerSettings(server: Pick<ApiServerPart, "authority" | "pki" | "tokenSigner">): ControllerSettings {
  const { authority, tokenSigner } = server;
  const signing = server.pki.certificateSigning;
  return { rootCa: authority, ...(signing === undefined ? {} : { signing }), ...(tokenSigner === undefined ? {} : { tokenSigner }) };
}

/** Resolves when the caches of all controllers have synced and they run. */
export async function startControllersPart(options: ControllersPartOptions): Promise<RunningControllers> {
  const { transportFor, clock, random, signal } = options;
  const log = options.log.with({ part: "controllers" });
  const { chosen } = chooseControllers(all({ timeZones: machineTimeZone, ...options.settings }), options.controllers);
  await using starting = new Disposables();
  const transport = await transportFor(KUBE_CONTROLLER_MANAGER);
  const informers = starting.use(createInformers({ transport, clock, random, log }));
  const running = await runControllers({
    controllers: chosen,
    informers,
    client: createClient(transport),
    clientFor: async ({ account }) => createClient(await transportFor(controllerIdentity(account))),
    recorderFor: ({ account, component = account }, client) => createEventRecorder({ client, component, clock, random, log }),
    clock,
    random,
    log,
    ...(signal === undefined ? {} : { signal }),
  });
  starting.use(running);
  const owned = starting.move();
  const stop = () => owned[Symbol.asyncDispose]();
  return { ...running, stop, [Symbol.asyncDispose]: stop };
}
