/**
 * An API server for tests with the bootstrap roles of every cluster, and controllers in the same process, each under its own identity with
 * the permissions of its role, under virtual time.
 */
import { controllerIdentity, KUBE_CONTROLLER_MANAGER, type IdentityName } from "../../api/identities.ts";
import type { Transport } from "../../api/machinery/transport.ts";
import { DEFAULT_ADMISSION_CONFIG } from "../../apiserver/framework/admission-config.ts";
import type { ApiServerConfig } from "../../apiserver/framework/api-server-config.ts";
import type { ApiServerOptions } from "../../apiserver/api-server.ts";
import { startGuardedServer, type StartedServer } from "../../apiserver/testing/server.ts";
import { Disposables } from "../../base/disposables.ts";
import { silentLogger } from "../../base/logger.ts";
import { seededRandom } from "../../base/random.ts";
import type { VirtualClock } from "../../base/virtual-clock.ts";
import { createInformers } from "../../client/informer/informers.ts";
import { createClient } from "../../client/rest-client.ts";
import { all } from "../../controllers/all.ts";
import { chooseControllers } from "../../controllers/runtime/enabled-controllers.ts";
import { runControllers } from "../../controllers/runtime/run-controllers.ts";
import { driven } from "../driven.ts";
import { TEST_SETTINGS } from "../fixtures/controller-settings.ts";
import { silentRecorder } from "../given.ts";

export type ControlledServer = StartedServer;
export type ControlledServerOptions = Partial<ApiServerOptions> & { readonly clock?: VirtualClock };

/** Enables the mutating admission plugins, which test servers leave out by default. */
export const WITH_ALL_ADMISSION: Partial<ApiServerConfig> = { admission: DEFAULT_ADMISSION_CONFIG };

/** `controllers`: a value of --controllers. */
export async function startControlledServer(
  controllers: readonly string[],
  options: ControlledServerOptions = {},
): Promise<ControlledServer> {
  await using starting = new Disposables();
  const server = starting.use(await startGuardedServer(options));
  const { clock } = server;
  const transportFor = (user: IdentityName): Transport => server.server.transport({ user, userAgent: "kube-controller-manager" });
  const random = seededRandom(3);
  const reader = transportFor(KUBE_CONTROLLER_MANAGER);
  const informers = starting.use(createInformers({ transport: reader, clock, random, log: silentLogger }));
  const running = runControllers({
    controllers: chooseControllers(all(TEST_SETTINGS), controllers).chosen,
    informers,
    client: createClient(reader),
    clientFor: ({ account }) => createClient(transportFor(controllerIdentity(account))),
    recorderFor: () => silentRecorder,
    clock,
    random,
    log: silentLogger,
  });
  starting.use(await driven(clock, running));
  await clock.settle();
  const owned = starting.move();
  return { ...server, [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose]() };
}
