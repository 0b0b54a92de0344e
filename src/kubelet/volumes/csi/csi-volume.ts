/** A CSI volume of a Pod, resolved: everything that the calls of its driver need. Reads objects and the driver's capabilities, changes nothing. */
import { decodeText } from "../../../api/core/v1/secret/contents.ts";
import type { CSIPersistentVolumeSource, CSIVolumeSource } from "../../../api/generated/core/v1.ts";
import type { CSIDriver } from "../../../api/generated/storage.k8s.io/v1.ts";
import { attachmentName, uniqueVolumeName, type CsiVolumeId } from "../../../api/storage.k8s.io/v1/volume-attachment/attachment-name.ts";
import type { CsiMap, CsiNodeCapability, CsiNodeDriver, CsiVolumeCapability } from "../../../csi/contract.ts";
import { numberOfCode } from "../../../csi/csi-error.ts";
import { isReadOnlyClaim } from "../framework/claimed-volume.ts";
import { NotAttachedError, VolumeError } from "../framework/volume-error.ts";
import type { PodVolume, VolumeNode } from "../framework/volume-plugin.ts";
import { accessModeOf, checkLifecycleMode, PREFIX, registeredDriver, requiresAttachment, type LifecycleMode } from "./csi-driver.ts";
import { inlineHandle } from "./csi-paths.ts";
import { podInfoOf, tokenContext } from "./pod-context.ts";

export interface CsiPodVolume {
  readonly driver: CsiNodeDriver;
  readonly capabilities: ReadonlySet<CsiNodeCapability>;
  readonly mode: LifecycleMode;
  readonly handle: string;
  readonly isReadOnly: boolean;
  readonly capability: CsiVolumeCapability;
  readonly publishContext: CsiMap;
  readonly volumeContext: CsiMap;
  readonly publishSecrets: CsiMap;
  readonly stageSecrets: CsiMap;
  /** Information about the Pod and its tokens, for drivers that want it; a part of the volume context of a Pod's mount only. */
  readonly podContext: CsiMap;
  /** Whether the kubelet gives the files to the Pod's fsGroup. */
  readonly setsGroup: boolean;
  /** Whether the driver is called again from time to time, to renew what it gave to the Pod. */
  readonly requiresRepublish: boolean;
}

/** gRPC's number of the code with which a driver says that the node has reached its limit of volumes. */
const RESOURCE_EXHAUSTED = numberOfCode("RESOURCE_EXHAUSTED");

interface SecretRef {
  readonly name?: string;
  readonly namespace?: string;
}

interface Source {
  readonly driverName: string;
  readonly mode: LifecycleMode;
  readonly handle: string;
  readonly isReadOnly: boolean;
  readonly fsType: string;
  readonly attributes: CsiMap;
  readonly accessModes: readonly string[] | undefined;
  readonly mountFlags: readonly string[];
  readonly publishSecretRef: SecretRef | undefined;
  readonly stageSecretRef: SecretRef | undefined;
}

export async function resolveCsiVolume(volume: PodVolume, node: VolumeNode, signal: AbortSignal): Promise<CsiPodVolume> {
  const source = sourceOf(volume);
  const { driverName, mode, handle } = source;
  const object = await node.references.csiDriver(driverName, signal);
  const publishContext = mode === "Persistent" && requiresAttachment(object) ? await attachmentOf(source, { node, object, signal }) : {};
  const driver = registeredDriver(node, driverName, "mounter.SetUpAt");
  checkLifecycleMode(object, driverName, mode);
  const capabilities = await driver.nodeGetCapabilities({ signal });
  const tokens = await tokenContext(volume.pod, object, node, signal);
  const inSecrets = object?.spec.serviceAccountTokenInSecrets === true;
  const publishSecrets = await secretsOf("NodePublishSecretRef", source.publishSecretRef, node, signal);
  const stages = capabilities.has("STAGE_UNSTAGE_VOLUME");
  return {
    ...{ driver, capabilities, mode, handle, publishContext },
    isReadOnly: source.isReadOnly,
    capability: capabilityOf(volume, source, capabilities),
    volumeContext: source.attributes,
    publishSecrets: inSecrets ? { ...publishSecrets, ...tokens } : publishSecrets,
    stageSecrets: stages ? await secretsOf("NodeStageSecretRef", source.stageSecretRef, node, signal) : {},
    podContext: { ...(object?.spec.podInfoOnMount === true ? podInfoOf(volume.pod, mode) : {}), ...(inSecrets ? {} : tokens) },
    setsGroup: !capabilities.has("VOLUME_MOUNT_GROUP") && kubeletSetsGroup(object, source),
    requiresRepublish: object?.spec.requiresRepublish === true,
  };
}

function sourceOf(volume: PodVolume): Source {
  const { persistent } = volume;
  if (persistent !== undefined) return persistentSource(volume, persistent.volume.spec?.csi);
  return inlineSource(volume, volume.volume.csi);
}

function persistentSource({ volume, persistent }: PodVolume, source: CSIPersistentVolumeSource | undefined): Source {
  if (source === undefined) throw new VolumeError(`${PREFIX}mounter.SetupAt failed to get CSI persistent source: volume source not found`);
  const { accessModes, mountOptions = [] } = persistent?.volume.spec ?? {};
  return {
    driverName: source.driver,
    mode: "Persistent",
    handle: source.volumeHandle,
    isReadOnly: isReadOnlyClaim(volume),
    fsType: source.fsType ?? "",
    attributes: source.volumeAttributes ?? {},
    accessModes,
    mountFlags: mountOptions,
    publishSecretRef: source.nodePublishSecretRef,
    stageSecretRef: source.nodeStageSecretRef,
  };
}

function inlineSource({ pod, podUid, volume }: PodVolume, source: CSIVolumeSource | undefined): Source {
  if (source === undefined) throw new VolumeError("volume source not found in volume.Spec");
  const { name } = source.nodePublishSecretRef ?? {};
  return {
    driverName: source.driver,
    mode: "Ephemeral",
    handle: inlineHandle(podUid, volume.name),
    isReadOnly: source.readOnly === true,
    fsType: source.fsType ?? "",
    attributes: source.volumeAttributes ?? {},
    accessModes: undefined,
    mountFlags: [],
    publishSecretRef: name === undefined ? undefined : { name, namespace: pod.metadata.namespace ?? "" },
    stageSecretRef: undefined,
  };
}

function capabilityOf(volume: PodVolume, source: Source, capabilities: ReadonlySet<CsiNodeCapability>): CsiVolumeCapability {
  const accessMode = accessModeOf(source.accessModes?.[0] ?? "ReadWriteOnce", capabilities);
  if (volume.isBlockDevice) return { accessMode, access: "block" };
  const { fsGroup } = volume.pod.spec?.securityContext ?? {};
  const volumeMountGroup = fsGroup !== undefined && capabilities.has("VOLUME_MOUNT_GROUP") ? String(fsGroup) : "";
  return { accessMode, access: { fsType: source.fsType, mountFlags: source.mountFlags, volumeMountGroup } };
}

/** By the driver's policy. The default, ReadWriteOnceWithFSType, applies to block devices with a file system, not to shared storage. */
function kubeletSetsGroup(driver: CSIDriver | undefined, { isReadOnly, fsType, accessModes, mode }: Source): boolean {
  const policy = driver?.spec.fsGroupPolicy ?? "ReadWriteOnceWithFSType";
  if (isReadOnly || policy === "None") return false;
  if (policy === "File") return true;
  if (fsType === "") return false;
  return mode === "Ephemeral" || accessModes?.some((access) => access === "ReadWriteOnce" || access === "ReadWriteOncePod") === true;
}

/** What the driver's controller part returned for this node. Rejects until the volume is attached, with upstream's messages: with a NotAttachedError if nothing failed. */
interface AttachmentContext {
  readonly node: VolumeNode;
  readonly object: CSIDriver | undefined;
  readonly signal: AbortSignal;
}

async function attachmentOf({ handle, driverName }: Source, { node, object, signal }: AttachmentContext): Promise<CsiMap> {
  const name = attachmentName({ handle, driver: driverName }, node.nodeName);
  const attachment = await node.references.volumeAttachment(name, signal);
  if (attachment === undefined) {
    throw new NotAttachedError(
      `volume ${handle} has GET error for volume attachment ${name}: volumeattachments.storage.k8s.io "${name}" not found`,
    );
  }
  if (attachment.metadata.deletionTimestamp !== undefined) throw new VolumeError("volume attachment is being deleted");
  const { attached = false, attachError, attachmentMetadata = {} } = attachment.status ?? {};
  const hasReachedLimit = attachError?.errorCode === RESOURCE_EXHAUSTED && object?.spec.nodeAllocatableUpdatePeriodSeconds !== undefined;
  if (!attached && hasReachedLimit) throw new NotAttachedError(attachError.message ?? "", { limitOf: driverName });
  if (!attached && attachError?.message !== undefined) throw new VolumeError(attachError.message);
  if (!attached) throw new NotAttachedError(`volume ${handle} is not attached for volume attachment ${name}`);
  await mustBeReported({ driver: driverName, handle }, node, signal);
  return attachmentMetadata;
}

/**
 * The controller removes a volume from the Node's status before it checks whether the node uses it, and only then detaches it. The volume is
 * in use by now: if the Node still shows it, the controller will find out.
 */
async function mustBeReported(id: CsiVolumeId, { references, nodeName }: VolumeNode, signal: AbortSignal): Promise<void> {
  const { volumesAttached = [] } = (await references.node(nodeName, signal))?.status ?? {};
  const unique = uniqueVolumeName(id);
  if (volumesAttached.some(({ name }) => name === unique)) return;
  throw new NotAttachedError(`Volume not attached according to node status for volume ${JSON.stringify(unique)}`);
}

/** Contents of a Secret as the driver's credentials. */
export async function secretsOf(field: string, ref: SecretRef | undefined, node: VolumeNode, signal?: AbortSignal): Promise<CsiMap> {
  if (ref === undefined) return {};
  const { name = "", namespace = "" } = ref;
  const secret = await node.references.secret(namespace, name, signal);
  if (secret === undefined) {
    const reason = `${PREFIX}failed to find the secret ${name} in the namespace ${namespace} with error: secrets "${name}" not found`;
    throw new VolumeError(`fetching ${field} ${namespace}/${name} failed: ${reason}`);
  }
  return Object.fromEntries(Object.entries(secret.data ?? {}).map(([key, value]) => [key, decodeText(value)]));
}
