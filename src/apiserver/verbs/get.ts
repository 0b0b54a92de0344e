/** One object, as new as the request wants it. */
import { notFound } from "../../api/machinery/status-error.ts";
import type { Endpoint } from "../endpoints.ts";
import type { ApiRequest } from "../request.ts";
import type { StoredObject } from "../storage/stored-object.ts";
import { revisionOf, tooLargeRevision } from "./list-options.ts";

export async function getObject(endpoint: Endpoint, request: ApiRequest): Promise<StoredObject> {
  const name = { namespace: request.namespace, name: request.name };
  const wanted = revisionOf(request.options);
  // A named version means "at least this old": what the cache has is enough, if it has come that far.
  if (wanted !== undefined) await waitFor(endpoint, wanted);
  const object = wanted === undefined ? await endpoint.storage.get(name) : await endpoint.storage.getCached(name);
  if (object === undefined) throw notFound(endpoint.name, request.name);
  return object;
}

async function waitFor({ storage }: Endpoint, wanted: number): Promise<void> {
  if (!storage.cache.isLoaded) await storage.cache.load();
  if (wanted <= storage.cache.knownRevision()) return;
  const fresh = (await storage.cache.freshRevision()) ?? storage.cache.knownRevision();
  if (wanted > fresh) throw tooLargeRevision(wanted, fresh);
}
