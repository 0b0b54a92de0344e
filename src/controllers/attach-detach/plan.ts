/**
 * Which attachments of one volume to create and to delete. Pure. A volume that a node may still have mounted is detached only if the node
 * says that it has not, is marked out of service, or has been unhealthy for six minutes: detaching a mounted volume corrupts data. A volume
 * that only one node may have is attached to the next one when no attachment is left.
 */

/** Time for which an unhealthy node may keep a volume that no Pod of it needs, as upstream. */
export const UNMOUNT_TIMEOUT_MS = 360_000;

/**
 * Time for which a volume stays attached whose driver was changed to require no attachment, while a Pod of the node uses it: the Pod may be
 * about to mount the attached volume. Upstream looks for such drivers once a minute.
 */
export const DRIVER_CHANGE_MS = 60_000;

export interface AttachmentState {
  /** Of the VolumeAttachment. */
  readonly name: string;
  readonly nodeName: string;
  readonly isTerminating: boolean;
  /** "missing": it was deleted, and may still have the volume mounted. */
  readonly node: "ready" | "unhealthy" | "out-of-service" | "missing";
  /** The node reports the volume as in use. */
  readonly isInUse: boolean;
  /** Time since no Pod of the node needs the volume. */
  readonly unneededMs: number;
  /** Pods of the node use the volume, and its driver requires no attachment any more. */
  readonly isOptional?: boolean;
}

export interface VolumeState {
  /** Nodes whose Pods need the volume. */
  readonly nodes: readonly string[];
  /** Several nodes may have it. */
  readonly isShared: boolean;
  readonly attachments: readonly AttachmentState[];
  /** A volume in use stays on an unhealthy node, however long, unless the node is out of service. */
  readonly neverTimesOut?: boolean;
}

export type ForceReason = "timeout" | "out-of-service";

export interface Detachment {
  readonly name: string;
  readonly nodeName: string;
  /** Without asking the node. */
  readonly force?: ForceReason;
}

export interface AttachPlan {
  readonly detach: readonly Detachment[];
  /** Nodes to attach the volume to. */
  readonly attach: readonly string[];
  /** Nodes that wait until the volume is detached from others. */
  readonly blocked: readonly string[];
  /** When to plan again, if nothing changes before. */
  readonly againMs?: number;
}

export function planAttachments({ nodes, isShared, attachments, neverTimesOut = false }: VolumeState): AttachPlan {
  const unneeded = attachments.filter(({ nodeName, isTerminating }) => !nodes.includes(nodeName) && !isTerminating);
  const waits = unneeded.map((attachment) => waitOf(attachment, neverTimesOut));
  const detach = unneeded.flatMap(({ name, nodeName }, index) => {
    const wait = waits[index];
    if (wait === undefined || wait.is !== "detach") return [];
    return [wait.force === undefined ? { name, nodeName } : { name, nodeName, force: wait.force }];
  });
  const missing = nodes.filter((node) => !attachments.some(({ nodeName }) => nodeName === node));
  const delays = waits.flatMap((wait) => (wait.is === "wait" && wait.forMs !== undefined ? [wait.forMs] : []));
  const again = delays.length === 0 ? {} : { againMs: Math.min(...delays) };
  if (isShared) return { detach, attach: missing, blocked: [], ...again };
  const isFree = attachments.length === 0;
  return { detach, attach: isFree ? missing.slice(0, 1) : [], blocked: missing.slice(isFree ? 1 : 0), ...again };
}

type Wait =
  | { readonly is: "detach"; readonly force?: ForceReason }
  /** Until the node changes, or `forMs` has passed. */
  | { readonly is: "wait"; readonly forMs?: number };

function waitOf({ node, isInUse, unneededMs, isOptional = false }: AttachmentState, neverTimesOut: boolean): Wait {
  if (node === "out-of-service") return { is: "detach", force: "out-of-service" };
  if (isOptional && unneededMs < DRIVER_CHANGE_MS) return { is: "wait", forMs: DRIVER_CHANGE_MS - unneededMs };
  if (!isInUse && node !== "missing") return { is: "detach" };
  if (node === "ready" || neverTimesOut) return { is: "wait" };
  const forMs = UNMOUNT_TIMEOUT_MS - unneededMs;
  return forMs <= 0 ? { is: "detach", force: "timeout" } : { is: "wait", forMs };
}
