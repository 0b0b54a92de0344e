/**
 * Creates an object: defaults, admission, fields that the server sets, validation, the commit. The order is upstream's: field ownership is
 * computed before the server adds its own fields, so a manager owns only what it sent (apart from defaults, which count as sent).
 */
import { replaceMetadata } from "../../api/changes.ts";
import { ManagedFields, trackUpdate } from "../../api/machinery/apply/managed-fields.ts";
import type { KubeObject, ManagedFieldsEntry, ObjectMeta } from "../../api/machinery/object.ts";
import type { Resource } from "../../api/machinery/resource.ts";
import { formatTime } from "../../api/machinery/time.ts";
import { alreadyExists, conflict, forbiddenError, StatusError } from "../../api/machinery/status-error.ts";
import type { AdmissionRequest, Charge } from "../framework/admission.ts";
import type { Endpoint } from "../framework/endpoints.ts";
import { NAMESPACES } from "../framework/access/request-path.ts";
import { isDryRun, type ApiRequest, type User } from "../framework/request.ts";
import type { ServerContext } from "../framework/server-context.ts";
import { yieldLoop, yieldLoopOf } from "../limits/slices.ts";
import { unallocated } from "../framework/extension.ts";
import { ClaimedFields } from "./claimed-fields.ts";
import { fieldWriter, otherVersions } from "./field-manager.ts";
import { generateName } from "../framework/storage/identifiers.ts";
import { inNamespace, metadataForCreate } from "./metadata.ts";
import { rejectTooLarge } from "./size.ts";
import { validateCreate } from "./validation.ts";
import { storageForm } from "../framework/storage/prepared-objects.ts";
import type { StoredObject } from "../framework/storage/storage.ts";
import type { NewObject } from "../framework/storage/writes.ts";
import { ignoredFields } from "../framework/storage/ignored-fields.ts";

/** Retries after losing an address to another server, before the client gets a conflict. */
const ALLOCATION_ATTEMPTS_MAX = 32;

/** Retries with another random suffix, before the client gets AlreadyExists for a generated name. */
const GENERATED_NAME_ATTEMPTS_MAX = 8;

export async function createObject(
  server: ServerContext,
  { endpoint, request }: { readonly endpoint: Endpoint; readonly request: ApiRequest },
  sent: NewObject,
): Promise<StoredObject> {
  for (let attempt = 1; ; attempt++) {
    const made = await tryToCreate(server, endpoint, request, sent);
    if (made.created) return made.object;
    if (made.again) {
      if (attempt < ALLOCATION_ATTEMPTS_MAX) continue;
      throw conflict(endpoint.name, made.name);
    }
    const isGenerated = (sent.object.metadata.name ?? "") === "";
    if (isGenerated && attempt < GENERATED_NAME_ATTEMPTS_MAX) continue;
    const there = await endpoint.storage.get({ namespace: request.namespace, name: made.name });
    throw alreadyExists(endpoint.name, made.name, { isTerminating: there?.object.metadata.deletionTimestamp !== undefined });
  }
}

type Attempt =
  | { readonly created: true; readonly object: StoredObject }
  /** `again`: another server allocated the same first. */
  | { readonly created: false; readonly name: string; readonly again: boolean };

async function tryToCreate(server: ServerContext, endpoint: Endpoint, request: ApiRequest, sent: NewObject): Promise<Attempt> {
  const { resource, served, storage } = endpoint;
  rejectRefused(endpoint, sent.object);
  const clean = withoutSystemFields(sent.object);
  const claimed = new ClaimedFields(
    () => sent.managed ?? claimFields(server, endpoint, request, claimable(endpoint, clean), sent.sentManagedFields),
  );
  const admission = admissionOf(endpoint, request, clean, claimed);
  const admitted = sameNamespace(redefault(endpoint, clean, await server.admission.mutate(admission, clean)), clean, request);
  const stored = served.toStorage?.(admitted) ?? admitted;
  const extension = server.extension(resource.storage.group, resource.plural);
  await extension?.permit?.({ object: stored, request });
  const isLarge = yieldLoopOf(request) !== undefined;
  const prepared = prepare(server, endpoint, stored, request.context.user);
  if (isLarge) await yieldLoop(request);
  rejectTooLarge(endpoint, prepared, request);
  if (isLarge) await yieldLoop(request);
  const managed = claimed.settle(request.context);
  if (isLarge) await yieldLoop(request);
  const others = (await extension?.validate?.({ object: prepared, subresource: "", request })) ?? [];
  const validating = server.evaluations.run(validateCreate(endpoint, prepared, request.context, others));
  if (validating instanceof Promise) await validating;
  if (isLarge) await yieldLoop(request);
  const dryRun = isDryRun(request.options);
  const allocation = (await extension?.allocate?.({ object: prepared, dryRun })) ?? unallocated(prepared);
  let charge: Charge | undefined;
  let written = false;
  try {
    const object = allocation.object;
    charge = await server.admission.validate({ ...admission, name: object.metadata.name, object: served.fromStorage?.(object) ?? object });
    if (!dryRun) rejectVersion(sent.object);
    const kept = storageForm(endpoint, object);
    const result = storage.newObject(kept instanceof Promise ? await kept : kept, managed);
    const name = { namespace: request.namespace, name: object.metadata.name };
    request.context.signal?.throwIfAborted();
    // Admission may have taken longer than the deletion of the definition and its objects.
    rejectRefused(endpoint, object);
    const exists = { created: false, name: name.name, again: false } as const;
    if (dryRun) return (await storage.get(name)) === undefined ? { created: true, object: result } : exists;
    const alongside = [...(allocation.alongside ?? []), ...(charge.alongside ?? [])];
    const done = await storage.create(name, result, { signal: request.context.signal, alongside });
    written = done.written;
    if (written) server.causes.record({ storage, name, revision: result.revision, request });
    return done.written ? { created: true, object: result } : { ...exists, again: done.again === true };
  } finally {
    try {
      await allocation.settle(written);
    } finally {
      await charge?.settle(written);
    }
  }
}

function rejectRefused({ resource, name }: Endpoint, { metadata }: KubeObject): void {
  const refusal = resource.refusesCreation?.();
  if (refusal !== undefined) throw forbiddenError(name, metadata.name ?? "", refusal);
}

const SYSTEM_FIELDS = ["creationTimestamp", "uid", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"] as const;

/** Metadata that only the server sets is dropped, so that no manager owns it. */
export function withoutSystemFields(object: KubeObject): KubeObject {
  if (SYSTEM_FIELDS.every((name) => object.metadata[name] === undefined)) return object;
  const metadata: { -readonly [Name in keyof ObjectMeta]: ObjectMeta[Name] } = { ...object.metadata };
  for (const name of SYSTEM_FIELDS) delete metadata[name];
  return replaceMetadata(object, metadata);
}

/** Admission cannot move an object to another namespace than that of the request, for which the user was authorized. */
function sameNamespace(admitted: KubeObject, sent: KubeObject, { namespace }: ApiRequest): KubeObject {
  return admitted.metadata.namespace === sent.metadata.namespace ? admitted : inNamespace(admitted, namespace);
}

/** As upstream: its storage rejects it with an internal error, after admission. A dry run does not get that far. */
function rejectVersion({ metadata }: KubeObject): void {
  if (Number(metadata.resourceVersion ?? "") === 0) return;
  throw new StatusError("Unknown", "resourceVersion should not be set on objects to be created");
}

function admissionOf(endpoint: Endpoint, request: ApiRequest, object: KubeObject, managed: ClaimedFields): AdmissionRequest {
  const { namespace, subresource, options, context } = request;
  return {
    operation: "CREATE",
    endpoint,
    subresource,
    namespace: namespaceOf(endpoint, namespace, object),
    name: object.metadata.name ?? "",
    object,
    dryRun: isDryRun(options),
    options,
    context,
    managed,
  };
}

/** Admission gets a Namespace with its own name as namespace, as upstream. */
function namespaceOf({ resource, name }: Endpoint, namespace: string, object: KubeObject): string {
  return resource.scope === "Cluster" && name.plural === NAMESPACES && name.group === "" ? (object.metadata.name ?? "") : namespace;
}

/** The fields that the writer owns: those that version conversion sets count as sent, as defaults do; changes by admission do not. */
export function claimable({ served }: Endpoint, sent: KubeObject): KubeObject {
  return served.fromStorage === undefined ? sent : served.fromStorage(served.toStorage?.(sent) ?? sent);
}

/** Fields that admission added are defaulted, too. */
export function redefault({ served }: Endpoint, before: KubeObject, after: KubeObject): KubeObject {
  return before === after ? after : (served.defaults?.(after) ?? after);
}

function claimFields(
  server: ServerContext,
  endpoint: Endpoint,
  request: ApiRequest,
  object: KubeObject,
  sent: readonly ManagedFieldsEntry[] | undefined,
): ManagedFields {
  return trackUpdate({
    schema: endpoint.schema,
    previous: undefined,
    previousManaged: ManagedFields.none,
    next: object,
    ...(sent === undefined ? {} : { sent }),
    writer: fieldWriter(request, endpoint, formatTime(server.clock.now())),
    ignore: ignoredFields(endpoint, request.subresource),
    ...otherVersions(endpoint),
  });
}

function prepare(server: ServerContext, { resource }: Endpoint, object: KubeObject, user: User): KubeObject {
  const name = (object.metadata.name ?? "") !== "" ? object.metadata.name : nameFor(server, resource, object);
  const hasGeneration = resource.changesGeneration !== undefined;
  const complete = replaceMetadata(object, metadataForCreate(server, object.metadata, { name, hasGeneration }));
  return resource.prepareForCreate?.(complete, { user, nowMs: server.clock.now() }) ?? complete;
}

function nameFor({ random }: ServerContext, resource: Resource, { metadata }: KubeObject): string {
  const { generateName: base = "" } = metadata;
  if (base === "") return "";
  return resource.generatedName?.(base) ?? generateName(base, random);
}
