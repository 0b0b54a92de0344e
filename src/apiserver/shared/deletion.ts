/**
 * Decides what a delete does to an object, from the object and the options alone: remove it immediately, or mark it as terminating. As
 * upstream's BeforeDelete and its finalizers for dependents.
 */
import { invalid, notSupported, type FieldError } from "../../api/machinery/field-error.ts";
import type { KubeObject, ObjectMeta } from "../../api/machinery/object.ts";
import type { Resource } from "../../api/machinery/resource.ts";
import { formatTime, parseTime } from "../../api/machinery/time.ts";
import type { DeleteOptions } from "../framework/storage/delete-options.ts";

export type Deletion =
  /** Remove it. `object`: its last state. */
  | { readonly outcome: "remove"; readonly object: KubeObject }
  /** Write it in this form; a finalizer or the kubelet completes the deletion, unless it can be removed immediately. */
  | { readonly outcome: "write"; readonly object: KubeObject }
  /** Already terminating, and nothing changes. */
  | { readonly outcome: "wait" };

const ORPHAN = "orphan";
const FOREGROUND = "foregroundDeletion";

export function planDeletion(resource: Resource, object: KubeObject, options: DeleteOptions, nowMs: number): Deletion {
  // The kind's own deletion work has begun, with the options of the first delete.
  if (object.metadata.deletionTimestamp !== undefined && resource.deletion?.isPending(object) === true) return { outcome: "wait" };
  const graceful = planGrace(resource, object, options, nowMs);
  if (graceful === "pending") return { outcome: "wait" };
  const finalized = begun(resource, withFinalizers(resource, graceful ?? object, options), nowMs);
  if (graceful !== undefined) return { outcome: "write", object: finalized };
  const mustStay = (finalized.metadata.finalizers ?? []).length > 0 || resource.deletion?.isPending(finalized) === true;
  if (!mustStay) return { outcome: "remove", object: finalized };
  const terminating = markedAsTerminating(resource, finalized, nowMs);
  return terminating === object ? { outcome: "wait" } : { outcome: "write", object: terminating };
}

function begun(resource: Resource, object: KubeObject, nowMs: number): KubeObject {
  return object.metadata.deletionTimestamp === undefined ? (resource.beginDeletion?.(object, nowMs) ?? object) : object;
}

/** True if nothing blocks the removal of a terminating object: no finalizer, no grace period, no condition of its kind. */
export function isReadyForRemoval(resource: Resource, object: KubeObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0, finalizers = [] } = object.metadata;
  if (deletionTimestamp === undefined || finalizers.length > 0) return false;
  if (resource.gracePeriodSeconds !== undefined && deletionGracePeriodSeconds > 0) return false;
  return resource.deletion?.isPending(object) !== true;
}

/** The object with its grace period, which may be 0; "pending" if the present one is as short; undefined if nothing is to be set. */
function planGrace(resource: Resource, object: KubeObject, options: DeleteOptions, nowMs: number): KubeObject | "pending" | undefined {
  if (resource.gracePeriodSeconds === undefined) return undefined;
  const requested = options.gracePeriodSeconds !== undefined && options.gracePeriodSeconds < 0 ? 1 : options.gracePeriodSeconds;
  const { deletionTimestamp, deletionGracePeriodSeconds = 0, generation } = object.metadata;
  if (deletionTimestamp !== undefined) return shorten(object, { deletionTimestamp, deletionGracePeriodSeconds, requested, nowMs });
  const seconds = resource.gracePeriodSeconds(object, requested);
  return withMetadata(object, {
    deletionTimestamp: formatTime(nowMs + seconds * 1_000),
    deletionGracePeriodSeconds: seconds,
    ...(generation === undefined ? {} : { generation: generation + 1 }),
  });
}

/** A grace period that has begun can only be shortened. */
function shorten(
  object: KubeObject,
  grace: {
    readonly deletionTimestamp: string;
    readonly deletionGracePeriodSeconds: number;
    readonly requested: number | undefined;
    readonly nowMs: number;
  },
): KubeObject | "pending" | undefined {
  const { deletionTimestamp, deletionGracePeriodSeconds, requested, nowMs } = grace;
  if (deletionGracePeriodSeconds <= 0) return undefined;
  if (requested === undefined || requested >= deletionGracePeriodSeconds) return "pending";
  const begun = (parseTime(deletionTimestamp) ?? nowMs) - deletionGracePeriodSeconds * 1_000;
  const end = begun + requested * 1_000;
  // Already expired, but the kubelet must still observe the change and finish.
  if (end < nowMs)
    return withMetadata(object, { deletionTimestamp: formatTime(nowMs), deletionGracePeriodSeconds: Math.min(requested, 1) });
  return withMetadata(object, { deletionTimestamp: formatTime(end), deletionGracePeriodSeconds: requested });
}

function markedAsTerminating(resource: Resource, object: KubeObject, nowMs: number): KubeObject {
  const marked = resource.deletion?.begin(object) ?? object;
  if (marked.metadata.deletionTimestamp !== undefined && marked.metadata.deletionGracePeriodSeconds === 0) return marked;
  const { generation, deletionTimestamp } = marked.metadata;
  // Upstream marks kinds with a deletion of their own in another place, without a grace period.
  const hasOwn = resource.deletion !== undefined || resource.beginDeletion !== undefined;
  const isNext = generation !== undefined && deletionTimestamp === undefined && resource.beginDeletion === undefined;
  return withMetadata(marked, {
    deletionTimestamp: deletionTimestamp ?? formatTime(nowMs),
    ...(hasOwn ? {} : { deletionGracePeriodSeconds: 0 }),
    ...(isNext ? { generation: generation + 1 } : {}),
  });
}

/** Finalizers that request orphaning or foreground deletion from the garbage collector. */
function withFinalizers(resource: Resource, object: KubeObject, options: DeleteOptions): KubeObject {
  const before = object.metadata.finalizers ?? [];
  const kept = before.filter((finalizer) => finalizer !== ORPHAN && finalizer !== FOREGROUND);
  const policy = propagationOf(resource, before, options);
  const after = policy === "Orphan" ? [...kept, ORPHAN] : policy === "Foreground" ? [...kept, FOREGROUND] : kept;
  const known = new Set(before);
  if (after.length === before.length && after.every((finalizer) => known.has(finalizer))) return object;
  const { finalizers: _finalizers, ...metadata } = object.metadata;
  return { ...object, metadata: after.length === 0 ? metadata : { ...metadata, finalizers: after } };
}

function propagationOf(resource: Resource, finalizers: readonly string[], options: DeleteOptions): string {
  // Objects that expire have no dependents that the garbage collector handles.
  if (resource.secondsToLive !== undefined) return "Background";
  // Only for namespaces `orphanDependents: false` means foreground deletion.
  if (options.orphanDependents === false) return resource.deletion === undefined ? "Background" : "Foreground";
  if (options.orphanDependents === true) return "Orphan";
  if (options.propagationPolicy !== undefined) return options.propagationPolicy;
  if (finalizers.includes(ORPHAN)) return "Orphan";
  if (finalizers.includes(FOREGROUND)) return "Foreground";
  return resource.defaultPropagation;
}

function withMetadata(object: KubeObject, changes: Partial<ObjectMeta>): KubeObject {
  return { ...object, metadata: { ...object.metadata, ...changes } };
}

export function* deleteOptionsErrors({ orphanDependents, propagationPolicy, dryRun = [] }: DeleteOptions): Iterable<FieldError> {
  if (orphanDependents !== undefined && propagationPolicy !== undefined) {
    yield invalid("propagationPolicy", propagationPolicy, "orphanDependents and deletionPropagation cannot be both set");
  }
  if (propagationPolicy !== undefined && !["Foreground", "Background", "Orphan"].includes(propagationPolicy)) {
    yield notSupported("propagationPolicy", propagationPolicy, ["Foreground", "Background", "Orphan", "nil"]);
  }
  yield* dryRunErrors(dryRun);
}

export function* dryRunErrors(dryRun: readonly string[]): Iterable<FieldError> {
  if (dryRun.some((value) => value !== "All")) yield notSupported("dryRun", dryRun, ["All"]);
}
