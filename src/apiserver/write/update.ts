/**
 * Updates an object by PUT, patch, apply, or through a subresource: always computes the new state from the stored one. After a conflict it
 * is computed again from the newer state, unless the client named a resourceVersion. An update that changes nothing writes nothing.
 */
import { areSameButTimes, trackUpdate, type ManagedFields } from "../../api/machinery/apply/managed-fields.ts";
import type { KubeObject } from "../../api/machinery/object.ts";
import { keepIdentity } from "../../api/machinery/patch/identity.ts";
import type { Resource } from "../../api/machinery/resource.ts";
import { conflict, invalidObject, isReason, notFound, StatusError } from "../../api/machinery/status-error.ts";
import { invalid } from "../../api/machinery/field-error.ts";
import { formatTime } from "../../api/machinery/time.ts";
import type { AdmissionRequest, Charge } from "../framework/admission.ts";
import { mustBeAllowed } from "../framework/access/access.ts";
import type { Endpoint } from "../framework/endpoints.ts";
import { isDryRun, type ApiRequest } from "../framework/request.ts";
import { yieldLoop, yieldLoopOf } from "../limits/slices.ts";
import { unallocated } from "../framework/extension.ts";
import type { ServerContext } from "../framework/server-context.ts";
import type { Operation } from "../../store/store.ts";
import { claimable, createObject, redefault } from "./create.ts";
import { isReadyForRemoval } from "../shared/deletion.ts";
import { ClaimedFields } from "./claimed-fields.ts";
import { fieldWriter, once, otherVersions, withVersions, type OtherVersions } from "./field-manager.ts";
import { metadataForUpdate } from "./metadata.ts";
import { rejectTooLarge } from "./size.ts";
import { validateUpdate } from "./validation.ts";
import { prepareObjects, storageForm, workingForm } from "../framework/storage/prepared-objects.ts";
import type { StoredObject } from "../framework/storage/storage.ts";
import type { NextObject, ObjectUpdate, UpdateResult } from "../framework/storage/writes.ts";
import { checkUid } from "../framework/storage/preconditions.ts";
import { ignoredFields } from "../framework/storage/ignored-fields.ts";

/** Retries after conflicts with other writers, before the client gets a conflict. */
const UPDATE_ATTEMPTS_MAX = 16;

export async function updateObject(server: ServerContext, update: ObjectUpdate): Promise<UpdateResult> {
  const { endpoint, request } = update;
  const name = { namespace: request.namespace, name: request.name };
  let current = await endpoint.storage.get(name);
  for (let attempt = 1; ; attempt++) {
    if (current === undefined) {
      if (!update.createsIfAbsent) throw notFound(endpoint.name, request.name);
      const object = await tryToCreate(server, update, { isLast: attempt >= UPDATE_ATTEMPTS_MAX });
      if (object !== undefined) return { created: true, object };
      current = await endpoint.storage.get(name);
      continue;
    }
    const result = await tryToUpdate(server, update, current);
    if (result.written) return { created: false, object: result.object };
    if (attempt >= UPDATE_ATTEMPTS_MAX) throw conflict(endpoint.name, request.name);
    current = result.found;
  }
}

/** undefined: another writer was first, and the update is computed again. */
async function tryToCreate(
  server: ServerContext,
  update: ObjectUpdate,
  { isLast }: { readonly isLast: boolean },
): Promise<StoredObject | undefined> {
  // A creating PUT or apply is authorized and admitted as a create.
  mustBeAllowed(server.authorizer, update.request, "create");
  try {
    return await createObject(server, update, await absent(update));
  } catch (error) {
    if (isLast || !isReason(error, "AlreadyExists")) throw error;
    return undefined;
  }
}

async function absent(update: ObjectUpdate): Promise<NextObject> {
  const { endpoint, request } = update;
  const next = await update.next(undefined);
  // As upstream: a uid implies that the object exists, a resourceVersion does not.
  const { resourceVersion: _resourceVersion, uid = "", ...metadata } = next.object.metadata;
  if (uid === "") return { ...next, object: { ...next.object, metadata } };
  if (request.verb === "update") checkUid(endpoint.name, request.name, { wanted: uid, found: "" });
  throw conflict(endpoint.name, request.name, `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`);
}

type Attempt =
  | { readonly written: true; readonly object: StoredObject }
  | { readonly written: false; readonly found: StoredObject | undefined };

async function tryToUpdate(server: ServerContext, update: ObjectUpdate, current: StoredObject): Promise<Attempt> {
  const { endpoint, request, subresource } = update;
  const { resource, served, storage } = endpoint;
  const preparing = prepareObjects(endpoint, [current]);
  if (preparing !== undefined) await preparing;
  const shown = current.in(served);
  const wanted = await update.next(current);
  checkVersion(endpoint, request, wanted, current);
  const sent = once(() => keepIdentity(withMetadata(wanted.object, shown), shown));
  const claiming = claimOf(server, update, { sent, wanted, shown, current });
  const claimed = new ClaimedFields(claiming instanceof Promise ? await claiming : claiming);
  const owners = { managed: claimed, oldManaged: () => current.managed() };
  const admission = { ...admissionOf(update, wanted.object, shown), ...owners };
  const admitted = redefault(endpoint, wanted.object, await server.admission.mutate(admission, wanted.object));
  const isLarge = yieldLoopOf(request) !== undefined;
  if (isLarge) await yieldLoop(request);
  const next = admitted === wanted.object ? sent() : keepIdentity(withMetadata(admitted, shown), shown);
  if (isLarge) await yieldLoop(request);

  const previous = workingForm(endpoint, current);
  const stored = served.toStorage === undefined ? next : keepIdentity(served.toStorage(next), previous);
  const extension = server.extension(resource.storage.group, resource.plural);
  await extension?.permit?.({ object: stored, previous, request });
  const writing = { user: request.context.user, nowMs: server.clock.now() };
  const permitted = (subresource ?? resource).prepareForUpdate?.(stored, previous, writing);
  const prepared = keepIdentity(grown(endpoint, request.subresource, permitted ?? stored, previous), previous);
  if (prepared !== previous) rejectTooLarge(endpoint, prepared, request);
  if (isLarge) await yieldLoop(request);
  const managed = claimed.settle(request.context);
  if (isLarge) await yieldLoop(request);
  const others = (await extension?.validate?.({ object: prepared, previous, subresource: request.subresource, request })) ?? [];
  const change = { next: prepared, previous, ...(subresource === undefined ? {} : { subresource }) };
  const validating = server.evaluations.run(validateUpdate(endpoint, change, request.context, others));
  if (validating instanceof Promise) await validating;
  if (isLarge) await yieldLoop(request);
  const dryRun = isDryRun(request.options);
  const allocation = (await extension?.allocate?.({ object: prepared, previous, dryRun })) ?? unallocated(prepared);
  let charge: Charge | undefined;
  let written = false;
  try {
    const object = keepIdentity(allocation.object, previous);
    charge = await server.admission.validate({ ...admission, object: served.fromStorage?.(object) ?? object });
    if (object === previous && !current.isOutdated && isSame(managed, current)) return { written: true, object: current };
    request.context.signal?.throwIfAborted();
    const kept = storageForm(endpoint, object);
    const result = storage.newObject(kept instanceof Promise ? await kept : kept, managed);
    const alongside = [...(allocation.alongside ?? []), ...(charge.alongside ?? [])];
    const done = await write(server, update, { result, current, dryRun, alongside });
    // Releases allocations of a dry run and of a deletion.
    written = done.written && !dryRun && !isReadyForRemoval(resource, object);
    return done;
  } finally {
    try {
      await allocation.settle(written);
    } finally {
      await charge?.settle(written);
    }
  }
}

interface Written {
  readonly result: StoredObject;
  readonly current: StoredObject;
  readonly dryRun: boolean;
  readonly alongside: readonly Operation[];
}

async function write(
  server: ServerContext,
  { endpoint, request }: ObjectUpdate,
  { result, current, dryRun, alongside }: Written,
): Promise<Attempt> {
  if (dryRun) {
    result.arriveAt(current.revision);
    return { written: true, object: result };
  }
  const name = { namespace: request.namespace, name: request.name };
  const { signal } = request.context;
  // The last finalizer was removed, and nothing else blocks the removal: the update is the deletion.
  if (isReadyForRemoval(endpoint.resource, result.object)) {
    const { group } = endpoint.resource.storage;
    const release = await server.extension(group, endpoint.resource.plural)?.release?.(current.object);
    const done = await endpoint.storage.delete(name, current, { signal, alongside: release?.alongside ?? [] });
    if (!done.written) return { written: false, found: done.again === true ? current : done.found };
    server.causes.record({ storage: endpoint.storage, name, revision: done.revision, request, deleted: true });
    await release?.afterwards();
    // A removed object has no newer version.
    result.arriveAt(current.revision);
    return { written: true, object: result };
  }
  const done = await endpoint.storage.update(name, result, current, { signal, alongside });
  if (!done.written) return { written: false, found: done.again === true ? current : done.found };
  server.causes.record({ storage: endpoint.storage, name, revision: result.revision, request });
  return { written: true, object: result };
}

/** The resourceVersion and uid in the request must be those of the stored object. */
function checkVersion(endpoint: Endpoint, request: ApiRequest, { object, resourceVersion }: NextObject, current: StoredObject): void {
  const { resource, name } = endpoint;
  // The uid of a patch is validated as an immutable field.
  if (request.verb === "update") checkUid(name, request.name, { wanted: object.metadata.uid, found: current.object.metadata.uid });
  if (Number(resourceVersion) === 0) {
    if (resource.unconditionalUpdate) return;
    const error = invalid("metadata.resourceVersion", 0, "must be specified for an update");
    // Upstream names the resource here, and not its kind.
    throw invalidObject({ group: name.group, kind: name.plural }, request.name, [error]);
  }
  if (!/^\d+$/.test(resourceVersion)) throw cannotParse(resourceVersion);
  if (resourceVersion !== String(current.revision)) throw conflict(name, request.name);
}

/** Upstream's answer to an invalid version, with its code. */
function cannotParse(resourceVersion: string): StatusError {
  return new StatusError("Unknown", `strconv.ParseUint: parsing ${JSON.stringify(resourceVersion)}: invalid syntax`);
}

function withMetadata(next: KubeObject, shown: KubeObject): KubeObject {
  const { kind: _kind, apiVersion: _apiVersion, metadata: _metadata, ...rest } = next;
  return {
    kind: shown.kind,
    apiVersion: shown.apiVersion,
    metadata: metadataForUpdate(next.metadata, shown.metadata),
    ...rest,
  };
}

/** Neither status nor actions change the spec, so they do not change the generation. */
function mayGrow({ subresources }: Resource, subresource: string): boolean {
  return subresource !== "status" && (subresource === "" || subresources[subresource]?.of !== "action");
}

/** With the next generation if the spec has changed. */
function grown({ resource }: Endpoint, subresource: string, next: KubeObject, previous: KubeObject): KubeObject {
  if (next === previous || !mayGrow(resource, subresource) || resource.changesGeneration?.(next, previous) !== true) return next;
  return { ...next, metadata: { ...next.metadata, generation: (previous.metadata.generation ?? 0) + 1 } };
}

interface ClaimedChange {
  readonly wanted: NextObject;
  readonly shown: KubeObject;
  readonly current: StoredObject;
}

/**
 * The owners of all fields after the update, before admission changes it: computed on first use. Where another program converts between
 * versions they are computed at once, since admission reads them synchronously.
 */
function claimOf(
  server: ServerContext,
  update: ObjectUpdate,
  { sent, ...change }: ClaimedChange & { readonly sent: () => KubeObject },
): (() => ManagedFields) | Promise<() => ManagedFields> {
  const { endpoint } = update;
  const { managed } = change.wanted;
  if (managed !== undefined) return () => managed;
  const claim = (versions: OtherVersions): ManagedFields => {
    const next = endpoint.served.fromStorage === undefined ? sent() : keepIdentity(claimable(endpoint, sent()), change.shown);
    return claimFields(server, update, { ...change, next }, versions);
  };
  if (endpoint.resource.conversion === undefined) return () => claim(otherVersions(endpoint));
  return Promise.resolve(withVersions(endpoint, claim)).then((known) => () => known);
}

function claimFields(
  server: ServerContext,
  { endpoint, request }: ObjectUpdate,
  change: ClaimedChange & { readonly next: KubeObject },
  versions: OtherVersions,
): ManagedFields {
  const { sentManagedFields: sent } = change.wanted;
  if (change.next === change.shown && sent === undefined) return change.current.managed();
  return trackUpdate({
    schema: endpoint.schema,
    previous: change.shown,
    previousManaged: change.current.managed(),
    next: change.next,
    ...(sent === undefined ? {} : { sent }),
    writer: fieldWriter(request, endpoint, formatTime(server.clock.now())),
    ignore: ignoredFields(endpoint, request.subresource),
    ...versions,
  });
}

function isSame(managed: ManagedFields, current: StoredObject): boolean {
  const before = current.managed();
  // Timestamps alone are no change.
  return managed === before || managed.text() === before.text() || areSameButTimes(managed, before);
}

function admissionOf({ endpoint, request }: ObjectUpdate, object: KubeObject, oldObject: KubeObject): AdmissionRequest {
  const { namespace, name, subresource, options, context } = request;
  return { operation: "UPDATE", endpoint, subresource, namespace, name, object, oldObject, dryRun: isDryRun(options), options, context };
}
