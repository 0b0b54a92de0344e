/** Reads one object, as new as the request requires. */
import { notFound } from "../../api/machinery/status-error.ts";
import type { MaybePromise } from "../framework/authentication.ts";
import type { Endpoint } from "../framework/endpoints.ts";
import type { ApiRequest } from "../framework/request.ts";
import { translated } from "../framework/storage/store-failure.ts";
import { prepareObjects } from "../framework/storage/prepared-objects.ts";
import { revisionOf, tooLargeRevision } from "./list-options.ts";
import type { ObjectName } from "../framework/storage/object-key.ts";
import type { StoredObject } from "../framework/storage/storage.ts";

/** Hot path: there is a promise only if there is something to wait for. */
export function getObject(endpoint: Endpoint, request: ApiRequest): MaybePromise<StoredObject> {
  const name = { namespace: request.namespace, name: request.name };
  const wanted = revisionOf(request.options);
  const reading = wanted === undefined ? endpoint.storage.get(name) : notOlderThan(endpoint, name, wanted);
  return reading instanceof Promise ? reading.then((found) => existing(endpoint, name, found)) : existing(endpoint, name, reading);
}

/** A resourceVersion means "not older than": the cache suffices if it has reached it. */
async function notOlderThan(endpoint: Endpoint, name: ObjectName, wanted: number): Promise<StoredObject | undefined> {
  return (await reaches(endpoint, wanted)) ? endpoint.storage.getCached(name) : endpoint.storage.get(name);
}

function existing(endpoint: Endpoint, { name }: ObjectName, object: StoredObject | undefined): MaybePromise<StoredObject> {
  if (object === undefined) throw notFound(endpoint.name, name);
  return prepareObjects(endpoint, [object])?.then(() => object) ?? object;
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
