/**
 * Deletes what a namespace holds of one kind, and says what is left of it. What is left is asked of the server and not of an informer, as
 * the namespace goes when nothing is: whatever was missed then would be there for ever, in a namespace that is not.
 */
import type { Pod } from "../../api/generated/core/v1.ts";
import { pods } from "../../api/core/v1/pod.ts";
import type { KubeObject } from "../../api/machinery/object.ts";
import { isReason } from "../../api/machinery/status-error.ts";
import type { Client } from "../../client/client.ts";
import type { DiscoveredKind } from "../../client/discovery.ts";
import { kindName } from "../runtime/keys.ts";
import { inTurns } from "../runtime/concurrent-writes.ts";

/** How long whoever put a finalizer on something is expected to take, as upstream. */
const FINALIZERS_TAKE_SECONDS = 15;

const POD_KIND_NAME = kindName(pods);

export interface KindRemainder {
  readonly kind: DiscoveredKind;
  readonly count: number;
  /** How many of them wait for which finalizer. */
  readonly finalizers: ReadonlyMap<string, number>;
  /** How long they may take; 0 if they should be gone already. */
  readonly estimateSeconds: number;
  /** One of them: as long as it is there, nothing more can be done. */
  readonly last?: KubeObject;
}

export interface ContentOptions {
  readonly kind: DiscoveredKind;
  readonly namespace: string;
  /** How long ago the namespace was deleted. */
  readonly goingForMs: number;
  readonly write: Client;
}

export function isPodKind(kind: DiscoveredKind): boolean {
  return kindName(kind) === POD_KIND_NAME;
}

/** Rejects if something could not be deleted, or cannot be listed. */
export async function emptyKind(options: ContentOptions): Promise<KindRemainder> {
  const { kind, goingForMs } = options;
  const found = await firstLook(options);
  if (found?.length === 0) return { kind, count: 0, finalizers: new Map(), estimateSeconds: 0 };
  const graceSeconds = isPodKind(kind) ? podsTakeSeconds((found ?? []) as readonly Pod[]) : 0;
  const canBeDeletedAtOnce = kind.verbs.includes("deletecollection") && (await deleteAtOnce(options));
  if (!canBeDeletedAtOnce) await deleteOneByOne(options);
  const left = (await listOf(options)) ?? [];
  return remainderOf(kind, left, graceSeconds * 1_000 > goingForMs ? graceSeconds : 0);
}

/** What still remains although nothing holds it. Upstream's words, with the kind as Go prints it. */
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

/** The longest time that one of them was given to end. */
export function podsTakeSeconds(found: readonly Pod[]): number {
  const running = found.filter(({ status }) => status?.phase !== "Succeeded" && status?.phase !== "Failed");
  return running.reduce((longest, { spec }) => Math.max(longest, spec?.terminationGracePeriodSeconds ?? 0), 0);
}

/** Most kinds have nothing in most namespaces, and to see that costs little. Undefined if the kind cannot be listed. */
function firstLook(options: ContentOptions): Promise<readonly KubeObject[] | undefined> {
  // Of Pods all are wanted: each has a time of its own.
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

/** False if the kind cannot do that, whatever it says of itself. */
async function deleteAtOnce({ kind, namespace, write }: ContentOptions): Promise<boolean> {
  try {
    // What it owns in this namespace goes as well, so nobody needs to be told to leave orphans or to wait.
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

/** The server has no such path, or not this verb on it; or, of one object, it is gone. */
function isNotOffered(error: unknown): boolean {
  return isReason(error, "MethodNotAllowed") || isReason(error, "NotFound");
}
