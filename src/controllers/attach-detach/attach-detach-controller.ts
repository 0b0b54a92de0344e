/**
 * Attaches volumes of CSI drivers to the nodes whose Pods need them, and detaches them afterwards: it creates and deletes VolumeAttachments,
 * which the driver's attacher executes. What is attached to a node is reported in the Node's `volumesAttached`.
 *
 * Detaching is safe against a kubelet that begins to mount at the same time: the volume is removed from `volumesAttached` first, then the
 * server's Node is read; only if it does not report the volume as in use, the attachment is deleted. A kubelet does the opposite: it reports
 * the volume as in use, then reads whether it is attached. Not here: volumes that drivers do not attach.
 */
import { isNodeReady } from "../../api/core/v1/node/health.ts";
import { nodes } from "../../api/core/v1/node.ts";
import { persistentVolumeClaims } from "../../api/core/v1/persistent-volume-claim.ts";
import { persistentVolumes } from "../../api/core/v1/persistent-volume.ts";
import { timestampMs } from "../../api/core/v1/pod/readiness.ts";
import { pods } from "../../api/core/v1/pod.ts";
import type { AttachedVolume, Node } from "../../api/generated/core/v1.ts";
import type { VolumeAttachment } from "../../api/generated/storage.k8s.io/v1.ts";
import { isReason } from "../../api/machinery/status-error.ts";
import { csiDrivers } from "../../api/storage.k8s.io/v1/csi-driver.ts";
import { attachmentName, parseUniqueVolumeName, uniqueVolumeName } from "../../api/storage.k8s.io/v1/volume-attachment/attachment-name.ts";
import { volumeAttachments } from "../../api/storage.k8s.io/v1/volume-attachment.ts";
import { deepEqual } from "../../base/deep.ts";
import type { Reader } from "../../client/informer/informer.ts";
import { after, defineController, onChange, watch, type Controller, type Outcome, type Pass, type WorkKey } from "../runtime/controller.ts";
import { attachableVolume, attachmentsByVolume, keyOfAttachment, type AttachableVolume } from "./attachable-volumes.ts";
import { AttachMetrics, countForced } from "./attach-detach-metrics.ts";
import { OperationMetrics } from "./operation-metrics.ts";
import { planAttachments, type AttachmentState, type AttachPlan, type Detachment } from "./plan.ts";
import { AttachReports, ATTACH_TIMEOUT_MS, type PodsByNode } from "./reports.ts";
import { attachableId, isShared, podsByNeedingNode } from "./volume-users.ts";
import * as watches from "./watches.ts";

/** Taint that an administrator sets on a node that is surely down. */
const OUT_OF_SERVICE = "node.kubernetes.io/out-of-service";

/** State of one run. It can be lost: timers of unhealthy nodes then begin again, and persistent failures are reported once more. */
interface Memory {
  readonly neverTimesOut: boolean;
  /** By volume; an entry is removed with the last attachment and Pod. */
  readonly reports: Map<string, AttachReports>;
  /** By attachment: since when no Pod needs it. */
  readonly unneededSinceMs: Map<string, number>;
  /** Attachments that are about to be deleted: the Node no longer shows them. */
  readonly detaching: Set<string>;
  readonly metrics: AttachMetrics;
  readonly operations: OperationMetrics;
}

export interface AttachDetachSettings {
  /** Volumes in use stay on unhealthy nodes that are not out of service. --disable-force-detach-on-timeout. Default: false. */
  readonly disableForceDetachOnTimeout: boolean;
}

export function attachDetachController({ disableForceDetachOnTimeout = false }: Partial<AttachDetachSettings> = {}): Controller {
  const memory: Memory = {
    neverTimesOut: disableForceDetachOnTimeout,
    reports: new Map(),
    unneededSinceMs: new Map(),
    detaching: new Set(),
    metrics: new AttachMetrics(),
    operations: new OperationMetrics(),
  };
  return defineController({
    name: "persistentvolume-attach-detach-controller",
    aliases: ["attachdetach"],
    account: "attachdetach-controller",
    rules: [
      { apiGroups: ["storage.k8s.io"], resources: ["volumeattachments"], verbs: ["create", "delete"] },
      { apiGroups: [""], resources: ["nodes"], verbs: ["get"] },
      { apiGroups: [""], resources: ["nodes/status"], verbs: ["patch"] },
    ],
    watches: [
      watch(pods, watches.keysOfPod),
      watch(nodes, watches.keysOfNode),
      watch(persistentVolumeClaims, watches.keysOfClaim),
      watch(persistentVolumes, watches.keysOfVolume),
      watch(volumeAttachments, watches.keysOfAttachment),
      watch(csiDrivers, watches.keysOfDriver),
    ],
    start: () => (key, pass) => (key.kind === watches.NODE ? reconcileNode(key, pass, memory) : reconcileVolume(key, pass, memory)),
  });
}

async function reconcileVolume({ name }: WorkKey, pass: Pass, memory: Memory): Promise<Outcome> {
  const { read, clock } = pass;
  const volume = attachableVolume(name, read);
  const using: PodsByNode = volume === undefined ? new Map() : podsByNeedingNode(volume, read);
  const needed: PodsByNode = volume === undefined || attachableId(volume, read) === undefined ? new Map() : using;
  const attachments = read.indexed(attachmentsByVolume, name).filter((attachment) => isOurs(attachment, volume, read));
  const states = attachments.map((attachment) => ({
    ...stateOf(attachment, needed, read, clock.monotonic(), memory),
    isOptional: using.has(attachment.spec.nodeName),
  }));
  const plan = planAttachments({
    nodes: [...needed.keys()],
    isShared: volume === undefined || isShared(volume),
    attachments: states,
    neverTimesOut: memory.neverTimesOut,
  });
  count(name, volume, needed, attachments, pass, memory);
  memory.operations.observe(name, attachments, clock.monotonic(), pass.metrics);
  for (const detachment of plan.detach) {
    const driver = attachments.find(({ metadata }) => metadata.name === detachment.name)?.spec.attacher ?? "";
    await detach({ ...detachment, driver, volumeName: name, isMigrated: volume?.isMigrated ?? false }, pass, memory);
  }
  if (volume === undefined) {
    memory.reports.delete(name);
    return plan.againMs === undefined ? onChange : after(plan.againMs);
  }
  const created = await attach(volume, plan, pass, memory);
  const ageLimit = report(volume, { needed, plan, attachments: [...attachments, ...created] }, pass, memory);
  const delays = [plan.againMs, ageLimit].filter((delay): delay is number => delay !== undefined);
  return delays.length === 0 ? onChange : after(Math.min(...delays));
}

/**
 * Other clients may create attachments, too: only those with the name that this controller gives are its own. For a volume that was deleted,
 * the node's status has the handle that the name was derived from.
 */
function isOurs({ metadata, spec }: VolumeAttachment, volume: AttachableVolume | undefined, read: Reader): boolean {
  const csi = volume?.object.spec?.csi;
  if (csi !== undefined) return metadata.name === attachmentName({ driver: csi.driver, handle: csi.volumeHandle }, spec.nodeName);
  const { volumesAttached = [], volumesInUse = [] } = read.get(nodes, { name: spec.nodeName })?.status ?? {};
  return [...volumesAttached.map((attached) => attached.name), ...volumesInUse].some((name) => isOf(name, metadata.name, spec.nodeName));
}

/** Whether the volume of this unique name has this attachment on the node. */
function isOf(unique: string, attachment: string, nodeName: string): boolean {
  const id = parseUniqueVolumeName(unique);
  return id !== undefined && attachmentName(id, nodeName) === attachment;
}

function stateOf(attachment: VolumeAttachment, needed: PodsByNode, read: Reader, nowMs: number, memory: Memory): AttachmentState {
  const { metadata, spec } = attachment;
  const { name } = metadata;
  const { nodeName } = spec;
  const node = read.get(nodes, { name: nodeName });
  if (needed.has(nodeName)) memory.unneededSinceMs.delete(name);
  else if (!memory.unneededSinceMs.has(name)) memory.unneededSinceMs.set(name, nowMs);
  return {
    name,
    nodeName,
    isTerminating: metadata.deletionTimestamp !== undefined,
    node: healthOf(node),
    isInUse: node !== undefined && isInUse(node, name),
    unneededMs: nowMs - (memory.unneededSinceMs.get(name) ?? nowMs),
  };
}

function healthOf(node: Node | undefined): AttachmentState["node"] {
  if (node === undefined) return "missing";
  if (node.spec?.taints?.some(({ key }) => key === OUT_OF_SERVICE) === true) return "out-of-service";
  return isNodeReady(node) ? "ready" : "unhealthy";
}

function isInUse({ metadata, status }: Node, attachment: string): boolean {
  return status?.volumesInUse?.some((unique) => isOf(unique, attachment, metadata.name)) === true;
}

interface DriverDetachment extends Detachment {
  readonly driver: string;
  readonly volumeName: string;
  readonly isMigrated: boolean;
}

async function detach({ name, nodeName, force, ...volume }: DriverDetachment, pass: Pass, memory: Memory): Promise<void> {
  const { write, metrics, log } = pass;
  memory.detaching.add(name);
  try {
    await reportAttached(nodeName, pass, memory);
    if (force === undefined && (await isInUseNow(nodeName, name, pass))) {
      pass.wake(watches.nodeKey(nodeName));
      return;
    }
    const { volumeName, driver, isMigrated } = volume;
    memory.operations.begin(volumeName, name, { name: "volume_detach", driver, isMigrated }, pass.clock.monotonic());
    await write.delete(volumeAttachments, { name });
    memory.unneededSinceMs.delete(name);
    if (force === undefined) return;
    countForced(force, metrics);
    log.warn("Detached a volume without the consent of its node", { attachment: name, node: nodeName, reason: force });
  } catch (error) {
    if (!isReason(error, "NotFound")) throw error;
  } finally {
    memory.detaching.delete(name);
  }
}

/** By the server's Node, not by the informer's. A node that does not exist has nothing in use. */
async function isInUseNow(name: string, attachment: string, { write }: Pass): Promise<boolean> {
  try {
    return isInUse(await write.get(nodes, { name }), attachment);
  } catch (error) {
    if (isReason(error, "NotFound")) return false;
    throw error;
  }
}

async function attach(volume: AttachableVolume, plan: AttachPlan, pass: Pass, memory: Memory): Promise<readonly VolumeAttachment[]> {
  const { read, write, clock } = pass;
  const id = attachableId(volume, read);
  if (id === undefined) return [];
  const created: VolumeAttachment[] = [];
  const { key, object, isInline, isMigrated } = volume;
  const source = isInline ? { inlineVolumeSpec: object.spec ?? {} } : { persistentVolumeName: key };
  for (const nodeName of plan.attach) {
    const spec = { attacher: id.driver, nodeName, source };
    const metadata = { name: attachmentName(id, nodeName) };
    memory.operations.begin(key, metadata.name, { name: "volume_attach", driver: id.driver, isMigrated }, clock.monotonic());
    try {
      created.push(await write.create(volumeAttachments, { apiVersion: "storage.k8s.io/v1", kind: "VolumeAttachment", metadata, spec }));
    } catch (error) {
      if (!isReason(error, "AlreadyExists")) throw error;
    }
  }
  return created;
}

interface Observed {
  readonly needed: PodsByNode;
  readonly plan: AttachPlan;
  readonly attachments: readonly VolumeAttachment[];
}

/** Returns when the next attachment is overdue. */
function report(volume: AttachableVolume, { needed, plan, attachments }: Observed, pass: Pass, { reports }: Memory): number | undefined {
  const { events, clock } = pass;
  const { key, object } = volume;
  if (needed.size === 0) {
    reports.delete(key);
    return undefined;
  }
  const known = reports.get(key) ?? new AttachReports();
  reports.set(key, known);
  known.keep(new Set(needed.keys()));
  const users = attachments.flatMap(({ spec }) => needed.get(spec.nodeName) ?? []);
  for (const node of plan.blocked) known.blocked(object, node, needed.get(node) ?? [], users, events);
  let overdueMs: number | undefined;
  for (const attachment of attachments) {
    const waiting = needed.get(attachment.spec.nodeName);
    if (waiting === undefined) continue;
    const ageMs = clock.now() - (timestampMs(attachment.metadata.creationTimestamp) ?? clock.now());
    known.observe(object, attachment, waiting, ageMs, events);
    if (attachment.status?.attached !== true && ageMs < ATTACH_TIMEOUT_MS) {
      overdueMs = Math.min(overdueMs ?? Infinity, ATTACH_TIMEOUT_MS - ageMs);
    }
  }
  return overdueMs;
}

function count(
  name: string,
  volume: AttachableVolume | undefined,
  needed: PodsByNode,
  attachments: readonly VolumeAttachment[],
  { metrics }: Pass,
  memory: Memory,
): void {
  const driver = volume?.object.spec?.csi?.driver;
  const attached = attachments.filter(({ status }) => status?.attached === true).map(({ spec }) => spec.nodeName);
  memory.metrics.set(name, driver === undefined ? undefined : { driver, needed: [...needed.keys()], attached }, metrics);
}

async function reconcileNode({ name }: WorkKey, pass: Pass, memory: Memory): Promise<Outcome> {
  await reportAttached(name, pass, memory);
  return onChange;
}

/** Writes `volumesAttached` of a Node, if it differs. */
async function reportAttached(name: string, { read, write }: Pass, { detaching }: Memory): Promise<void> {
  const node = read.get(nodes, { name });
  if (node === undefined) return;
  const volumesAttached = read
    .indexed(watches.attachmentsByNode, name)
    .filter(
      ({ metadata, status }) => status?.attached === true && metadata.deletionTimestamp === undefined && !detaching.has(metadata.name),
    )
    .flatMap((attachment) => attachedVolume(attachment, node, read));
  if (deepEqual(node.status?.volumesAttached ?? [], volumesAttached)) return;
  const value = { status: { volumesAttached: volumesAttached.length === 0 ? null : volumesAttached } };
  try {
    await write.patch(nodes, { name }, { type: "merge", value }, { subresource: "status" });
  } catch (error) {
    if (!isReason(error, "NotFound")) throw error;
  }
}

/** Nothing for attachments of other clients. A volume that was deleted stays as the node shows it, until it is detached. */
function attachedVolume(attachment: VolumeAttachment, node: Node, read: Reader): readonly AttachedVolume[] {
  const { metadata, spec } = attachment;
  const volume = attachableVolume(keyOfAttachment(attachment) ?? "", read);
  if (volume === undefined) return (node.status?.volumesAttached ?? []).filter(({ name }) => isOf(name, metadata.name, spec.nodeName));
  const { csi } = volume.object.spec ?? {};
  if (csi === undefined || !isOurs(attachment, volume, read)) return [];
  return [{ name: uniqueVolumeName({ driver: csi.driver, handle: csi.volumeHandle }), devicePath: "" }];
}
