/** Executes what deletion.ts decides, and retries if another writer changed the object meanwhile. */
import type { KubeObject } from "../../api/machinery/object.ts";
import { conflict, notFound } from "../../api/machinery/status-error.ts";
import type { Endpoint } from "../framework/endpoints.ts";
import type { ServerContext } from "../framework/server-context.ts";
import { isReadyForRemoval, planDeletion } from "../shared/deletion.ts";
import { prepareObjects, storageForm } from "../framework/storage/prepared-objects.ts";
import type { StoredObject } from "../framework/storage/storage.ts";
import type { DeleteResult, ObjectDeletion } from "../framework/storage/writes.ts";
import { checkPreconditions } from "../framework/storage/preconditions.ts";

const DELETE_ATTEMPTS_MAX = 16;

export async function deleteObject(server: ServerContext, deletion: ObjectDeletion): Promise<DeleteResult> {
  const { endpoint, name } = deletion;
  let current = await endpoint.storage.get(name);
  for (let attempt = 1; current !== undefined; attempt++) {
    const result = await tryToDelete(server, deletion, current);
    if ("removed" in result) return result;
    if (attempt >= DELETE_ATTEMPTS_MAX) throw conflict(endpoint.name, name.name);
    current = result.found;
  }
  throw notFound(endpoint.name, name.name);
}

async function tryToDelete(
  server: ServerContext,
  { endpoint, request, name, options }: ObjectDeletion,
  current: StoredObject,
): Promise<DeleteResult | { readonly found: StoredObject | undefined }> {
  const { resource, served, storage } = endpoint;
  checkPreconditions(endpoint, name.name, options, current);
  const preparing = prepareObjects(endpoint, [current]);
  if (preparing !== undefined) await preparing;
  const dryRun = (options.dryRun ?? []).length > 0;
  const charge = await server.admission.validate({
    operation: "DELETE",
    endpoint,
    subresource: request.subresource,
    namespace: name.namespace,
    // Of a collection the request has no name, and upstream does not set those of its objects.
    name: request.verb === "deletecollection" ? "" : name.name,
    oldObject: current.in(served),
    oldManaged: () => current.managed(),
    dryRun,
    options,
    context: request.context,
  });
  // Deletions charge no quota.
  await charge.settle(false);
  const plan = planDeletion(resource, current.object, options, server.clock.now());
  if (plan.outcome === "wait") return { removed: false, object: current };
  const last = plan.object === current.object ? current : changed(endpoint, await storageForm(endpoint, plan.object), current);
  const isLast = plan.outcome === "remove" || isReadyForRemoval(resource, plan.object);
  if (dryRun) return { removed: isLast, object: last };
  const { signal } = request.context;
  signal?.throwIfAborted();
  if (plan.outcome === "write") {
    // An object with grace period 0 is seen terminating, too.
    const done = await storage.update(name, last, current, { signal });
    if (!done.written) return done;
    server.causes.record({ storage, name, revision: last.revision, request });
    if (!isLast) return { removed: false, object: last };
  }
  const release = await server.extension(resource.storage.group, resource.plural)?.release?.(current.object);
  const newest = plan.outcome === "write" ? last : current;
  const done = await storage.delete(name, newest, { signal, alongside: release?.alongside ?? [] });
  if (!done.written) return done.again === true ? { found: newest } : done;
  server.causes.record({ storage, name, revision: done.revision, request, deleted: true });
  await release?.afterwards();
  return { removed: true, object: last.at(done.revision) };
}

function changed({ storage }: Endpoint, object: KubeObject, current: StoredObject): StoredObject {
  return storage.newObject(object, current.managed(), current.revision);
}
