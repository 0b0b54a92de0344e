/** Puts the API server's core on a store: the built-in kinds, the real time, and the loops that keep the store small. */
import { all as builtInResources } from "../api/all.ts";
import { parseDescriptions, type Descriptions } from "../api/descriptions.ts";
import type { Resource } from "../api/machinery/resource.ts";
import { schemas } from "../api/schemas.ts";
import { startApiServer, type ApiServer } from "../apiserver/api-server.ts";
import { bearerToken } from "../apiserver/authentication.ts";
import type { Clock } from "../base/clock.ts";
import { Disposables } from "../base/disposables.ts";
import type { Logger } from "../base/logger.ts";
import { realRandom } from "../host/real-random.ts";
import { startCompaction } from "../store/compaction.ts";
import { startExpiry } from "../store/expiry.ts";
import type { Store } from "../store/store.ts";
import type { StartCore } from "./api-server-part.ts";
import type { ApiServerOptions } from "./apiserver-config.ts";
import { openStore } from "./open-store.ts";
import type { StoreConfig } from "./store-config.ts";

export interface CoreContext {
  readonly clock: Clock;
  readonly log: Logger;
}

/** Whoever has the token that is made at start: until there are users and roles, it may do everything. */
const ADMINISTRATOR = { name: "kubernetes-admin", groups: ["system:masters", "system:authenticated"] };

/** Opens the store and starts the core on it; both end together. */
export function startCoreOn(store: StoreConfig, context: CoreContext): StartCore {
  return async (options) => {
    await using starting = new Disposables();
    const opened = await openStore(store, { clock: context.clock, log: context.log.with({ part: "store" }) });
    starting.defer(() => opened.close());
    startStoreLoops(opened, context, starting);
    const core = await startCore(opened, { ...options, ...context });
    starting.defer(() => core.close());
    const running = starting.move();
    return { exchange: core.exchange, close: () => running[Symbol.asyncDispose]() };
  };
}

/** The core on a store that is open. */
export function startCore(
  store: Store,
  { api, eventTtlMs, token, clock, log }: Omit<ApiServerOptions, "serving"> & CoreContext & { readonly token: string },
): Promise<ApiServer> {
  return startApiServer({
    store,
    resources: builtInResources.map((resource) => withTimeToLive(resource, eventTtlMs)),
    schemas,
    clock,
    random: realRandom(),
    log: log.with({ part: "apiserver" }),
    authenticator: bearerToken(token, ADMINISTRATOR),
    loadDescriptions: () => clock.external(loadDescriptions()),
    config: api,
  });
}

/** Objects that expire do so after the time that was asked for (--event-ttl). */
function withTimeToLive(resource: Resource, eventTtlMs: number): Resource {
  return resource.secondsToLive === undefined ? resource : { ...resource, secondsToLive: eventTtlMs / 1_000 };
}

async function loadDescriptions(): Promise<Descriptions> {
  const { descriptionData } = await import("../api/generated/descriptions.ts");
  return parseDescriptions(descriptionData);
}

export function startStoreLoops(store: Store, context: CoreContext, owner: Disposables): void {
  for (const start of [startExpiry, startCompaction]) {
    const loop = start(store, context);
    owner.defer(() => loop.stop());
  }
}
