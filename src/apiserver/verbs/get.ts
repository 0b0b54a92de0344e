/** One object, as new as the request wants it. */
import { notFound } from "../../api/machinery/status-error.ts";
import type { Endpoint } from "../framework/endpoints.ts";
import type { ApiRequest } from "../framework/request.ts";
import { translated } from "../framework/storage/store-failure.ts";
import { revisionOf, tooLargeRevision } from "./list-options.ts";
import type { StoredObject } from "../framework/storage/storage.ts";

export async function getObject(endpoint: Endpoint, request: ApiRequest): Promise<StoredObject> {
  const name = { namespace: request.namespace, name: request.name };
  const wanted = revisionOf(request.options);
  // A named version means "at least this old": what the cache has is enough, if it has come that far.
  const isCacheEnough = wanted !== undefined && (await reaches(endpoint, wanted));
  const object = isCacheEnough ? await endpoint.storage.getCached(name) : await endpoint.storage.get(name);
  if (object === undefined) throw notFound(endpoint.name, request.name);
  return object;
}

/** Whether the cache has come that far, or does now. False: only the store itself can tell. */
async function reaches({ storage }: Endpoint, wanted: number): Promise<boolean> {
  const { cache, store } = storage;
  if (!cache.isLoaded) await cache.load();
  if (wanted <= cache.knownRevision()) return true;
  const fresh = await cache.freshRevision();
  const newest = fresh ?? (await translated(() => store.currentRevision()));
  if (wanted > newest) throw tooLargeRevision(wanted, newest);
  return fresh !== undefined;
}
