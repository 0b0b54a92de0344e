/**
 * Deletes all objects of a custom resource whose definition is being deleted, then removes the definition's finalizer. Objects with
 * finalizers of their own delay it. Admission is not asked, as upstream: a webhook that is part of the same installation, and gone already,
 * must not block its removal. Every API server may do this at the same time.
 */
import { exponentialDelayMs } from "../../base/backoff.ts";
import { joinedErrors } from "../../base/joined-errors.ts";
import type { CustomResourceDefinition } from "../../api/generated/apiextensions.k8s.io/v1.ts";
import { CLEANUP_FINALIZER } from "../../api/apiextensions.k8s.io/v1/custom-resource-definition.ts";
import { isConditionTrue } from "../../api/machinery/conditions.ts";
import { ManagedFields } from "../../api/machinery/apply/managed-fields.ts";
import type { Endpoint } from "../framework/endpoints.ts";
import { SERVER } from "../framework/own-requests.ts";
import type { ServerContext } from "../framework/server-context.ts";
import { storageForm } from "../framework/storage/prepared-objects.ts";
import type { ResourceStorage, StoredObject } from "../framework/storage/storage.ts";
import { translated } from "../framework/storage/store-failure.ts";
import { planDeletion } from "../shared/deletion.ts";
import { withChangedCondition } from "./definition-status.ts";

/** Delay between checks whether all objects are deleted. */
const CHECK_DELAY = { minMs: 20, maxMs: 5_000 };

/** Deletions that wait for the disk together: one after the other, thousands of objects take minutes. */
const CONCURRENT_DELETIONS = 32;

/** Failures that the condition names: thousands of objects may each have their own. */
const NAMED_FAILURES_MAX = 8;

const IN_PROGRESS: Terminating = {
  status: "True",
  reason: "InstanceDeletionInProgress",
  message: "CustomResource deletion is in progress",
};

export interface CleanupDependencies {
  readonly server: ServerContext;
  /** The newest state of the definition; undefined: it is deleted. */
  current(): CustomResourceDefinition | undefined;
  /** Writes the status, and the finalizers. A conflict is no error. */
  write(definition: CustomResourceDefinition): Promise<void>;
}

/** Resolves when the definition can be removed, or no longer exists. Until then the condition says why it is not. */
export async function cleanUp({ server, current, write }: CleanupDependencies, signal: AbortSignal): Promise<void> {
  const { clock } = server;
  const deletesAlready = isConditionTrue(current()?.status?.conditions, "Terminating");
  if (!deletesAlready) await report(current(), write, clock.now(), IN_PROGRESS);
  for (let attempt = 0; ; attempt++) {
    const definition = current();
    if (definition === undefined || !hasFinalizer(definition)) return;
    const outcome = await deleteObjects(server, definition, signal);
    if (outcome.status === "False") return finish(definition, write, clock.now(), outcome);
    await report(current(), write, clock.now(), outcome);
    await clock.sleep(exponentialDelayMs(CHECK_DELAY, attempt), signal);
  }
}

export function hasFinalizer({ metadata }: CustomResourceDefinition): boolean {
  return (metadata.finalizers ?? []).includes(CLEANUP_FINALIZER);
}

interface Terminating {
  readonly status: "True" | "False";
  readonly reason: string;
  readonly message: string;
}

async function report(
  definition: CustomResourceDefinition | undefined,
  write: CleanupDependencies["write"],
  nowMs: number,
  terminating: Terminating,
): Promise<void> {
  if (definition?.status === undefined) return;
  const conditions = withChangedCondition(definition.status.conditions, { type: "Terminating", ...terminating }, nowMs);
  if (conditions === definition.status.conditions) return;
  await write({ ...definition, status: { ...definition.status, conditions } });
}

function finish(
  definition: CustomResourceDefinition,
  write: CleanupDependencies["write"],
  nowMs: number,
  terminating: Terminating,
): Promise<void> {
  const finalizers = (definition.metadata.finalizers ?? []).filter((finalizer) => finalizer !== CLEANUP_FINALIZER);
  const { finalizers: _finalizers, ...metadata } = definition.metadata;
  const { status } = definition;
  const conditions = withChangedCondition(status?.conditions, { type: "Terminating", ...terminating }, nowMs);
  return write({
    ...definition,
    metadata: finalizers.length === 0 ? metadata : { ...metadata, finalizers },
    ...(status === undefined ? {} : { status: { ...status, conditions } }),
  });
}

/** With status "True" some objects remain. */
async function deleteObjects(server: ServerContext, definition: CustomResourceDefinition, signal: AbortSignal): Promise<Terminating> {
  if (!isConditionTrue(definition.status?.conditions, "Established")) {
    return { status: "False", reason: "NeverEstablished", message: "resource was never established" };
  }
  const { group, names } = definition.spec;
  const endpoint = server.endpoints.stored(group, definition.status?.acceptedNames?.plural ?? names.plural);
  if (endpoint === undefined || endpoint.resource.completesStored !== true) {
    return { status: "False", reason: "OverlappingBuiltInResource", message: "instances overlap with built-in resources in storage" };
  }
  const failures = await deleteAll(server, endpoint, signal);
  if (failures.size > 0) {
    const message = `could not issue all deletes: ${joinedErrors(failures)}`;
    server.log.warn("Deleting the objects of a CustomResourceDefinition failed; retrying", { name: definition.metadata.name, message });
    return { status: "True", reason: "InstanceDeletionFailed", message };
  }
  if ((await presentObjects(endpoint.storage)).length > 0) return IN_PROGRESS;
  return { status: "False", reason: "InstanceDeletionCompleted", message: "removed all instances" };
}

/** The messages of what failed. An object that cannot be deleted does not keep the others. */
async function deleteAll(server: ServerContext, endpoint: Endpoint, signal: AbortSignal): Promise<ReadonlySet<string>> {
  const failures = new Set<string>();
  const attempt = (object: StoredObject) =>
    deleteOne(server, endpoint, object).catch((error: unknown) => {
      if (failures.size < NAMED_FAILURES_MAX) failures.add(error instanceof Error ? error.message : String(error));
    });
  const objects = await presentObjects(endpoint.storage);
  for (let from = 0; from < objects.length; from += CONCURRENT_DELETIONS) {
    signal.throwIfAborted();
    await Promise.all(objects.slice(from, from + CONCURRENT_DELETIONS).map(attempt));
    // A store in memory never waits.
    await server.evaluations.pause();
  }
  return failures;
}

/** Everything that was written before the call. An object that was overlooked would outlive its definition, and belong to the next one of its name. */
async function presentObjects(storage: ResourceStorage): Promise<readonly StoredObject[]> {
  const { cache, store, prefix } = storage;
  await cache.load();
  if ((await cache.freshRevision()) !== undefined) return Array.from(cache.snapshot().entries(), ([, object]) => object);
  // The definition was changed meanwhile, or the store does not report watch progress.
  const { entries } = await translated(() => store.list(prefix, { countRemaining: false }));
  return entries.map((entry) => storage.fromEntry(entry));
}

async function deleteOne(server: ServerContext, endpoint: Endpoint, current: StoredObject): Promise<void> {
  const { resource, storage } = endpoint;
  const { namespace = "", name } = current.object.metadata;
  const plan = planDeletion(resource, current.object, {}, server.clock.now());
  if (plan.outcome === "wait") return;
  const request = { verb: "delete", subresource: "", context: { user: SERVER, userAgent: "kube-apiserver", warn() {} } };
  if (plan.outcome === "remove") {
    const done = await storage.delete({ namespace, name }, current, { signal: undefined });
    if (done.written) server.causes.record({ storage, name: { namespace, name }, revision: done.revision, request, deleted: true });
    return;
  }
  const terminating = storage.newObject(
    await storageForm(endpoint, plan.object),
    current.managed() ?? ManagedFields.none,
    current.revision,
  );
  const done = await storage.update({ namespace, name }, terminating, current, { signal: undefined });
  if (done.written) server.causes.record({ storage, name: { namespace, name }, revision: terminating.revision, request });
}
