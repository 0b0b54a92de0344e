/**
 * Deletes the objects of one kind in a namespace, and reports what remains. That is a live read and not from an informer, as the namespace
 * is removed when nothing remains: a missed object would stay forever, in a namespace that does not exist.
 */
import type { Pod } from "../../api/generated/core/v1.ts";
import { pods } from "../../api/core/v1/pod.ts";
import type { KubeObject } from "../../api/machinery/object.ts";
import { isReason } from "../../api/machinery/status-error.ts";
import type { Client } from "../../client/client.ts";
import type { DiscoveredKind } from "../../client/discovery.ts";
import { kindName } from "../runtime/keys.ts";
import { inTurns } from "../runtime/concurrent-writes.ts";

/** Expected duration of a foreign finalizer, as upstream. */
const FINALIZERS_TAKE_SECONDS = 15;

const POD_KIND_NAME = kindName(pods);

export interface KindRemainder {
  readonly kind: DiscoveredKind;
  readonly count: number;
  /** Number of objects per finalizer. */
  readonly finalizers: ReadonlyMap<string, number>;
  /** Estimated duration; 0 if they should already be deleted. */
  readonly estimateSeconds: number;
  /** One of them: as long as it exists, nothing more can be done. */
  readonly last?: KubeObject;
}

export interface ContentOptions {
  readonly kind: DiscoveredKind;
  readonly namespace: string;
  /** Time since the namespace was deleted. */
  readonly terminatingForMs: number;
  readonly write: Client;
}

export function isPodKind(kind: DiscoveredKind): boolean {
  return kindName(kind) === POD_KIND_NAME;
}

/** Rejects if something could not be deleted, or cannot be listed. */
export async function emptyKind(options: ContentOptions): Promise<KindRemainder> {
  const { kind, terminatingForMs } = options;
  const found = await firstLook(options);
  if (found?.length === 0) return { kind, count: 0, finalizers: new Map(), estimateSeconds: 0 };
  const graceSeconds = isPodKind(kind) ? podsTakeSeconds((found ?? []) as readonly Pod[]) : 0;
  const canBeDeletedAtOnce = kind.verbs.includes("deletecollection") && (await deleteAtOnce(options));
  if (!canBeDeletedAtOnce) await deleteOneByOne(options);
  const left = (await listOf(options)) ?? [];
  return remainderOf(kind, left, graceSeconds * 1_000 > terminatingForMs ? graceSeconds : 0);
}

/** Objects that remain although nothing holds them. Upstream's message, with the kind as Go prints it. */
export function problemOf({ kind, count, finalizers, estimateSeconds }: KindRemainder, namespace: string): string | undefined {
  if (count === 0 || estimateSeconds > 0 || finalizers.size > 0) return undefined;
  const { group, version } = kind.storage;
  return `unexpected items still remain in namespace: ${namespace} for gvr: ${group}/${version}, Resource=${kind.plural}`;
}

export function remainderOf(kind: DiscoveredKind, left: readonly KubeObject[], graceSeconds: number): KindRemainder {
  const finalizers = new Map<string, number>();
  for (const { metadata } of left) {
    for (const name of metadata.finalizers ?? []) finalizers.set(name, (finalizers.get(name) ?? 0) + 1);
  }
  const last = left.at(-1);
  const heldSeconds = finalizers.size > 0 ? FINALIZERS_TAKE_SECONDS : 0;
  const estimateSeconds = last === undefined ? 0 : graceSeconds || heldSeconds;
  return { kind, count: left.length, finalizers, estimateSeconds, ...(last === undefined ? {} : { last }) };
}

/** The longest grace period. */
export function podsTakeSeconds(found: readonly Pod[]): number {
  const running = found.filter(({ status }) => status?.phase !== "Succeeded" && status?.phase !== "Failed");
  return running.reduce((longest, { spec }) => Math.max(longest, spec?.terminationGracePeriodSeconds ?? 0), 0);
}

/** Most kinds have no objects in most namespaces, and checking that is cheap. Undefined if the kind cannot be listed. */
function firstLook(options: ContentOptions): Promise<readonly KubeObject[] | undefined> {
  // All Pods are needed: each has its own grace period.
  return isPodKind(options.kind) ? listOf(options) : listOf(options, 1);
}

async function listOf({ kind, namespace, write }: ContentOptions, limit?: number): Promise<readonly KubeObject[] | undefined> {
  if (!kind.verbs.includes("list")) return undefined;
  try {
    return (await write.list(kind, { namespace, ...(limit === undefined ? {} : { limit }) })).items;
  } catch (error) {
    if (isNotOffered(error)) return undefined;
    throw error;
  }
}

/** False if the kind does not support it, whatever discovery says. */
async function deleteAtOnce({ kind, namespace, write }: ContentOptions): Promise<boolean> {
  try {
    // Its dependents in this namespace are deleted as well, so that neither orphaning nor waiting is needed.
    await write.deleteCollection(kind, { namespace, propagationPolicy: "Background" });
    return true;
  } catch (error) {
    if (isNotOffered(error)) return false;
    throw error;
  }
}

async function deleteOneByOne(options: ContentOptions): Promise<void> {
  const { kind, namespace, write } = options;
  await inTurns((await listOf(options)) ?? [], async ({ metadata: { name } }) => {
    try {
      await write.delete(kind, { namespace, name }, { propagationPolicy: "Background" });
    } catch (error) {
      if (!isNotOffered(error)) throw error;
    }
  });
}

/** The path or verb is not served; or, for one object, it is deleted. */
function isNotOffered(error: unknown): boolean {
  return isReason(error, "MethodNotAllowed") || isReason(error, "NotFound");
}
