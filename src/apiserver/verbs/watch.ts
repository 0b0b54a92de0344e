/** Where a watch starts: at a resourceVersion, at the current state, or with the current objects as its first events. */
import type { Endpoint } from "../framework/endpoints.ts";
import type { ApiRequest } from "../framework/request.ts";
import type { ServerContext } from "../framework/server-context.ts";
import { translated } from "../framework/storage/store-failure.ts";
import { prepareObjects } from "../framework/storage/prepared-objects.ts";
import { ObjectWatch, type ObjectWatchOptions } from "../watch/object-watch.ts";
import { selectionOf } from "../watch/selection.ts";
import type { WatchRegistry } from "../watch/watch-registry.ts";
import type { WatchStart } from "../framework/watch.ts";
import { snapshotInStore, currentSnapshot } from "./list.ts";
import { checkListOptions, revisionOf, tooLargeRevision } from "./list-options.ts";
import type { ResourceStorage } from "../framework/storage/storage.ts";

export async function watchObjects(
  server: ServerContext,
  watches: WatchRegistry,
  { endpoint, request }: { readonly endpoint: Endpoint; readonly request: ApiRequest },
): Promise<WatchStart> {
  const { options } = request;
  checkListOptions(options, { isWatch: true });
  const selection = selectionOf(endpoint, request);
  const { storage } = endpoint;
  if (!storage.cache.isLoaded) await storage.cache.load();
  const beginning = await beginningOf(storage, request);
  const settings: ObjectWatchOptions = {
    storage,
    selection,
    ...beginning,
    marksInitialEnd: options.sendInitialEvents === true && options.allowWatchBookmarks === true,
    wantsBookmarks: options.allowWatchBookmarks === true,
    prepare: (objects) => prepareObjects(endpoint, objects),
    onFailure: (error) => server.log.error("Unexpected error in a watch", { prefix: storage.prefix, error }),
  };
  return {
    start(receiver) {
      const watch = new ObjectWatch(settings, watches.counted({ endpoint, request }, receiver));
      watches.keep(watch, { endpoint, request, timeoutMs: timeoutMsOf(server, request) });
      return watch;
    },
  };
}

async function beginningOf(storage: ResourceStorage, { options }: ApiRequest): Promise<Pick<ObjectWatchOptions, "after" | "initial">> {
  const { cache } = storage;
  const wanted = revisionOf(options);
  const wantsInitial = options.sendInitialEvents ?? (wanted === undefined || wanted === 0);
  if (wanted !== undefined && wanted !== 0 && !wantsInitial && wanted <= cache.knownRevision()) return { after: wanted };
  // resourceVersion 0 means "any": the cache's state suffices.
  const fresh = wanted === 0 ? cache.knownRevision() : await cache.freshRevision();
  const { revision, objects } =
    fresh === undefined ? await translated(() => snapshotInStore(storage, undefined)) : currentSnapshot(storage, fresh);
  // Upstream would wait for a version in the future. A client with a version of a lost store would then receive nothing; with this error it
  // lists again.
  if (wanted !== undefined && wanted > revision) throw tooLargeRevision(wanted, revision);
  if (wantsInitial) return { after: revision, initial: objects };
  return { after: wanted === undefined || wanted === 0 ? revision : wanted };
}

/** As requested, or random between the minimum and twice as long, so that watches do not all reconnect at once. */
function timeoutMsOf({ config, random }: ServerContext, { options }: ApiRequest): number {
  const { timeoutSeconds = 0 } = options;
  return timeoutSeconds > 0 ? timeoutSeconds * 1_000 : config.minRequestTimeoutMs * (1 + random.fraction());
}
