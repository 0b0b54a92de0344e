/**
 * Attaches volumes to nodes through the controller service of a CSI driver and reports it in VolumeAttachments, for volumes with built-in
 * sidecars; what the official external-attacher does. A driver without ControllerPublishVolume has nothing to attach: its VolumeAttachments
 * are only marked. A finalizer holds the VolumeAttachment, and one the PersistentVolume, until the volume is detached.
 */
import { CSI_SIDECAR_RULES } from "../../api/csi-sidecars.ts";
import { nodes } from "../../api/core/v1/node.ts";
import { persistentVolumes } from "../../api/core/v1/persistent-volume.ts";
import type { PersistentVolume } from "../../api/generated/core/v1.ts";
import type { CSINode, VolumeAttachment } from "../../api/generated/storage.k8s.io/v1.ts";
import { isReason } from "../../api/machinery/status-error.ts";
import { formatTime } from "../../api/machinery/time.ts";
import { csiNodes } from "../../api/storage.k8s.io/v1/csi-node.ts";
import { volumeAttachments } from "../../api/storage.k8s.io/v1/volume-attachment.ts";
import { defineController, onChange, watch, type Controller, type Outcome, type Pass } from "../../controllers/runtime/controller.ts";
import type { CsiControllerDriver } from "../contract.ts";
import { CsiError, hasCsiCode, numberOfCode } from "../csi-error.ts";
import { capabilityOfVolume, credentials, driverFor, isBuiltIn, isOutcome, messageOf, type ControllerDrivers } from "./sidecar.ts";

/** On a VolumeAttachment: the driver's name for the node, which may be gone when the volume is detached. */
const NODE_ID = "csi.alpha.kubernetes.io/node-id";

interface Attachment {
  readonly attachment: VolumeAttachment;
  readonly volume: PersistentVolume;
  readonly driver: CsiControllerDriver;
}

export function attacherController(drivers: ControllerDrivers): Controller {
  return defineController({
    name: "csi-attacher",
    account: "k8ts-csi-sidecars",
    rules: CSI_SIDECAR_RULES,
    watches: [
      watch(volumeAttachments, ({ object }) => [{ name: object.metadata.name }]),
      watch(persistentVolumes, () => []),
      // A driver that appears on any node may detach a volume from another.
      watch(csiNodes, (_, read) => read.list(volumeAttachments).map(({ metadata }) => ({ name: metadata.name }))),
      watch(nodes, () => []),
    ],
    start({ read, wake }) {
      drivers.listen(() => {
        for (const { metadata } of read.list(volumeAttachments)) wake({ name: metadata.name });
      });
      return ({ name }, pass) => reconcile(name, pass, drivers);
    },
  });
}

/** The official attacher's finalizer for a driver. */
export function attacherFinalizer(driver: string): string {
  return `external-attacher/${driver.replaceAll("/", "-")}`;
}

async function reconcile(name: string, pass: Pass, drivers: ControllerDrivers): Promise<Outcome> {
  const attachment = pass.read.get(volumeAttachments, { name });
  if (attachment === undefined) return onChange;
  const { attacher, nodeName } = attachment.spec;
  const volume = pass.read.get(persistentVolumes, { name: attachment.spec.source.persistentVolumeName ?? "" });
  if (volume === undefined || !isBuiltIn(volume)) return onChange;
  const driver = driverFor({ driver: attacher, volume, preferred: nodeName }, pass, drivers);
  if (isOutcome(driver)) return driver;
  const capabilities = await pass.clock.external(driver.controllerGetCapabilities({ signal: pass.signal }));
  const one = { attachment, volume, driver };
  if (attachment.metadata.deletionTimestamp !== undefined) return detach(one, pass);
  if (attachment.status?.attached === true) return onChange;
  if (capabilities.has("PUBLISH_UNPUBLISH_VOLUME")) return attach(one, pass);
  await pass.write.updateStatus(volumeAttachments, { ...attachment, status: { attached: true } });
  return onChange;
}

async function attach({ attachment, volume, driver }: Attachment, pass: Pass): Promise<Outcome> {
  const { attacher, nodeName } = attachment.spec;
  const source = volume.spec?.csi;
  try {
    const nodeId = nodeIdOf(pass.read.get(csiNodes, { name: nodeName }), attacher);
    if (nodeId === undefined) throw new Error(`CSINode ${nodeName} does not contain driver ${attacher}`);
    await hold(volume, attacher, pass);
    const held = await holdAttachment(attachment, nodeId, pass);
    const metadata = await pass.clock.external(
      driver.controllerPublishVolume(
        {
          ...{
            volumeId: source?.volumeHandle ?? "",
            nodeId,
            capability: capabilityOfVolume(volume),
            isReadOnly: source?.readOnly === true,
          },
          secrets: await credentials(source?.controllerPublishSecretRef, pass.write),
          volumeContext: source?.volumeAttributes ?? {},
        },
        { signal: pass.signal },
      ),
    );
    const status = { attached: true, ...(Object.keys(metadata).length === 0 ? {} : { attachmentMetadata: metadata }) };
    await pass.write.updateStatus(volumeAttachments, { ...held, status });
    return onChange;
  } catch (error) {
    await report(attachment, "attachError", error, pass);
    throw error;
  }
}

async function detach({ attachment, volume, driver }: Attachment, pass: Pass): Promise<Outcome> {
  const finalizer = attacherFinalizer(attachment.spec.attacher);
  const { finalizers = [], annotations = {} } = attachment.metadata;
  if (!finalizers.includes(finalizer)) return onChange;
  const source = volume.spec?.csi;
  try {
    const nodeId = annotations[NODE_ID] ?? "";
    const secrets = await credentials(source?.controllerPublishSecretRef, pass.write);
    await pass.clock
      .external(driver.controllerUnpublishVolume({ volumeId: source?.volumeHandle ?? "", nodeId, secrets }, { signal: pass.signal }))
      .catch((error: unknown) => {
        if (!hasCsiCode(error, "NOT_FOUND")) throw error; // The volume or the node is gone: it is detached.
      });
  } catch (error) {
    await report(attachment, "detachError", error, pass);
    throw error;
  }
  await letGo(attachment, volume, pass);
  return onChange;
}

async function hold(volume: PersistentVolume, attacher: string, { write }: Pass): Promise<void> {
  const { finalizers = [], name } = volume.metadata;
  const finalizer = attacherFinalizer(attacher);
  if (finalizers.includes(finalizer)) return;
  if (volume.metadata.deletionTimestamp !== undefined) throw new Error(`PersistentVolume "${name}" is marked for deletion`);
  await write.update(persistentVolumes, { ...volume, metadata: { ...volume.metadata, finalizers: [...finalizers, finalizer] } });
}

async function holdAttachment(attachment: VolumeAttachment, nodeId: string, { write }: Pass): Promise<VolumeAttachment> {
  const { finalizers = [], annotations = {} } = attachment.metadata;
  const finalizer = attacherFinalizer(attachment.spec.attacher);
  if (finalizers.includes(finalizer) && annotations[NODE_ID] === nodeId) return attachment;
  const metadata = {
    ...attachment.metadata,
    finalizers: [...new Set([...finalizers, finalizer])],
    annotations: { ...annotations, [NODE_ID]: nodeId },
  };
  return write.update(volumeAttachments, { ...attachment, metadata });
}

/** The volume first: without a VolumeAttachment nothing would bring it back. */
async function letGo(attachment: VolumeAttachment, volume: PersistentVolume, { read, write }: Pass): Promise<void> {
  const finalizer = attacherFinalizer(attachment.spec.attacher);
  const isAttachedElsewhere = read
    .list(volumeAttachments)
    .some(({ metadata, spec }) => metadata.name !== attachment.metadata.name && spec.source.persistentVolumeName === volume.metadata.name);
  const { finalizers = [] } = volume.metadata;
  if (!isAttachedElsewhere && finalizers.includes(finalizer)) {
    const metadata = { ...volume.metadata, finalizers: finalizers.filter((one) => one !== finalizer) };
    await write.update(persistentVolumes, { ...volume, metadata });
  }
  const metadata = { ...attachment.metadata, finalizers: (attachment.metadata.finalizers ?? []).filter((one) => one !== finalizer) };
  await write.update(volumeAttachments, { ...attachment, metadata }).catch((error: unknown) => {
    if (!isReason(error, "NotFound")) throw error;
  });
}

/** Not if it is reported already: a status that changes with every attempt would cause the next one. */
async function report(attachment: VolumeAttachment, field: "attachError" | "detachError", error: unknown, pass: Pass): Promise<void> {
  const message = messageOf(error);
  if (isReason(error, "Conflict")) return;
  const current = await pass.write.get(volumeAttachments, { name: attachment.metadata.name }).catch(() => undefined);
  if (current === undefined || current.status?.[field]?.message === message) return;
  const status = { attached: false, ...current.status, [field]: { message, ...codeOf(error), time: formatTime(pass.clock.now()) } };
  await pass.write.updateStatus(volumeAttachments, { ...current, status }).catch(() => undefined);
}

/** By it the kubelet knows that the node has reached its limit of volumes. */
function codeOf(error: unknown): { readonly errorCode?: number } {
  return error instanceof CsiError ? { errorCode: numberOfCode(error.code) } : {};
}

function nodeIdOf(csiNode: CSINode | undefined, driver: string): string | undefined {
  const drivers: CSINode["spec"]["drivers"] | null | undefined = csiNode?.spec.drivers;
  return drivers?.find(({ name }) => name === driver)?.nodeID;
}
