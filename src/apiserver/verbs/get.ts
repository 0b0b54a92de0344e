/** Reads one object, as new as the request requires. */
import { notFound } from "../../api/machinery/status-error.ts";
import type { Endpoint } from "../framework/endpoints.ts";
import type { ApiRequest } from "../framework/request.ts";
import { translated } from "../framework/storage/store-failure.ts";
import { prepareObjects } from "../framework/storage/prepared-objects.ts";
import { revisionOf, tooLargeRevision } from "./list-options.ts";
import type { StoredObject } from "../framework/storage/storage.ts";

export async function getObject(endpoint: Endpoint, request: ApiRequest): Promise<StoredObject> {
  const name = { namespace: request.namespace, name: request.name };
  const wanted = revisionOf(request.options);
  // A resourceVersion means "not older than": the cache suffices if it has reached it.
  const isCacheEnough = wanted !== undefined && (await reaches(endpoint, wanted));
  const object = isCacheEnough ? await endpoint.storage.getCached(name) : await endpoint.storage.get(name);
  if (object === undefined) throw notFound(endpoint.name, request.name);
  const preparing = prepareObjects(endpoint, [object]);
  if (preparing !== undefined) await preparing;
  return object;
}

/** True if the cache has reached the revision, possibly after querying progress. False: read the store itself. */
async function reaches({ storage }: Endpoint, wanted: number): Promise<boolean> {
  const { cache, store } = storage;
  if (!cache.isLoaded) await cache.load();
  if (wanted <= cache.knownRevision()) return true;
  const fresh = await cache.freshRevision();
  const newest = fresh ?? (await translated(() => store.currentRevision()));
  if (wanted > newest) throw tooLargeRevision(wanted, newest);
  return fresh !== undefined;
}
