/** Puts the API server's core on a store: the built-in kinds, the real time, and the loops that keep the store small. */
import { all as builtInResources } from "../api/all.ts";
import { parseDescriptions, type Descriptions } from "../api/descriptions.ts";
import type { Resource } from "../api/machinery/resource.ts";
import { schemas } from "../api/schemas.ts";
import { startApiServer, type ApiServer, type ApiServerOptions as CoreOptions } from "../apiserver/api-server.ts";
import type { Identity } from "../apiserver/identity.ts";
import type { Clock } from "../base/clock.ts";
import { Disposables } from "../base/disposables.ts";
import type { Logger } from "../base/logger.ts";
import { realRandom } from "../host/real-random.ts";
import { startCompaction } from "../store/compaction.ts";
import { startExpiry } from "../store/expiry.ts";
import type { Store } from "../store/store.ts";
import { startApiServerPart, type ApiServerPart } from "./api-server-part.ts";
import type { ApiServerOptions } from "./apiserver-config.ts";
import { checkNamedFiles } from "./named-files.ts";
import { openStore } from "./open-store.ts";
import type { Pki } from "./pki/pki.ts";
import type { StoreConfig } from "./store-config.ts";

export interface CoreContext {
  readonly clock: Clock;
  readonly log: Logger;
}

export interface StartContext extends CoreContext, Pick<CoreOptions, "moreMetrics"> {
  /** Default: the cluster's own, kept where the serving configuration says. */
  readonly pki?: Pki;
}

/** A store, and an API server on it. The store comes first: what is wrong with its place is told before anything else is made there. */
export async function startStoreAndApiServer(
  { store: config, apiServer }: { readonly store: StoreConfig; readonly apiServer: ApiServerOptions },
  { clock, log, moreMetrics, ...context }: StartContext,
): Promise<{ readonly part: ApiServerPart; readonly core: ApiServer } & AsyncDisposable> {
  await using starting = new Disposables();
  await clock.external(checkNamedFiles(apiServer));
  const store = await openStore(config, { clock, log: log.with({ part: "store" }) });
  starting.defer(() => store.close());
  startStoreLoops(store, { clock, log }, starting);
  let core: ApiServer | undefined;
  const part = await startApiServerPart(apiServer, {
    ...context,
    clock,
    log: log.with({ part: "apiserver" }),
    startCore: async (given) => (core = await startCore(store, { ...given, clock, log, moreMetrics: moreMetrics ?? (() => []) })),
  });
  starting.defer(() => part.close());
  const running = starting.move();
  return { part, core: core as ApiServer, [Symbol.asyncDispose]: () => running[Symbol.asyncDispose]() };
}

interface CoreSettings extends Omit<ApiServerOptions, "serving" | "identity">, CoreContext, Required<Pick<CoreOptions, "moreMetrics">> {
  readonly identity: Identity;
}

/** The core on a store that is open. */
function startCore(store: Store, { api, eventTtlMs, identity, clock, log, moreMetrics }: CoreSettings): Promise<ApiServer> {
  return startApiServer({
    store,
    resources: builtInResources.map((resource) => withTimeToLive(resource, eventTtlMs)),
    schemas,
    clock,
    random: realRandom(),
    log: log.with({ part: "apiserver" }),
    identity,
    loadDescriptions: () => clock.external(loadDescriptions()),
    moreMetrics,
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

function startStoreLoops(store: Store, context: CoreContext, owner: Disposables): void {
  for (const start of [startExpiry, startCompaction]) {
    const loop = start(store, context);
    owner.defer(() => loop.stop());
  }
}
