/**
 * Creates and deletes volumes through the controller service of a CSI driver, for claims of classes with built-in sidecars; what the
 * official external-provisioner does. The key is the name of the volume, which follows from the uid of its claim and is the idempotency key
 * of CreateVolume: a repeated attempt gets the same volume. Not here: binding, placement.
 */
import { CSI_SIDECAR_RULES } from "../../api/csi-sidecars.ts";
import { nodes } from "../../api/core/v1/node.ts";
import { persistentVolumeClaims } from "../../api/core/v1/persistent-volume-claim.ts";
import {
  PROVISIONED_BY,
  SELECTED_NODE,
  STORAGE_PROVISIONER,
  STORAGE_PROVISIONER_BETA,
} from "../../api/core/v1/persistent-volume/binding.ts";
import { persistentVolumes } from "../../api/core/v1/persistent-volume.ts";
import { storageClassOf } from "../../api/core/v1/persistent-storage.ts";
import type { PersistentVolume, PersistentVolumeClaim } from "../../api/generated/core/v1.ts";
import { claimUidOf, volumeNameOf } from "../../api/local-path.ts";
import { isReason } from "../../api/machinery/status-error.ts";
import { csiNodes } from "../../api/storage.k8s.io/v1/csi-node.ts";
import { storageClasses } from "../../api/storage.k8s.io/v1/storage-class.ts";
import { volumeAttachments } from "../../api/storage.k8s.io/v1/volume-attachment.ts";
import type { Reader } from "../../client/informer/informer.ts";
import { defineIndex } from "../../client/informer/index.ts";
import {
  defineController,
  onChange,
  watch,
  type Controller,
  type Outcome,
  type Pass,
  type WorkKey,
} from "../../controllers/runtime/controller.ts";
import { objectText } from "../../controllers/runtime/keys.ts";
import { hasCsiCode } from "../csi-error.ts";
import { credentials, driverFor, isBuiltIn, isOutcome, messageOf, usesBuiltInSidecars, type ControllerDrivers } from "./sidecar.ts";
import {
  accessibilityOf,
  createRequest,
  DELETION_SECRET_NAME,
  DELETION_SECRET_NAMESPACE,
  PROVISIONER_FINALIZER,
  secretRefFor,
  volumeFor,
  type Wanted,
} from "./volume-request.ts";

const claimsByUid = defineIndex(persistentVolumeClaims, ({ metadata }) => (metadata.uid === undefined ? [] : [metadata.uid]));

export function provisionerController(drivers: ControllerDrivers): Controller {
  return defineController({
    name: "csi-provisioner",
    account: "k8ts-csi-sidecars",
    rules: CSI_SIDECAR_RULES,
    watches: [
      watch(persistentVolumeClaims, ({ object }) => [keyOfClaim(object)]),
      watch(persistentVolumes, ({ object }) => [{ name: object.metadata.name }]),
      watch(storageClasses, (_, read) => read.list(persistentVolumeClaims).map(keyOfClaim)),
      watch(volumeAttachments, ({ object: { spec } }) =>
        spec.source.persistentVolumeName === undefined ? [] : [{ name: spec.source.persistentVolumeName }],
      ),
      watch(nodes, () => []),
      watch(csiNodes, (_, read) => waiting(read)),
    ],
    start({ read, wake }) {
      drivers.listen(() => waiting(read).forEach(wake));
      return ({ name }, pass) => reconcile(name, pass, drivers);
    },
  });
}

/** What a driver that appears may have to do. */
function waiting(read: Reader): readonly WorkKey[] {
  const claims = read.list(persistentVolumeClaims).filter(awaitsVolume).map(keyOfClaim);
  const volumes = read.list(persistentVolumes).filter((volume) => isBuiltIn(volume) && volume.status?.phase !== "Bound");
  return [...claims, ...volumes.map(({ metadata: { name } }) => ({ name }))];
}

function keyOfClaim({ metadata }: PersistentVolumeClaim): WorkKey {
  return { name: volumeNameOf(metadata.uid ?? "") };
}

async function reconcile(name: string, pass: Pass, drivers: ControllerDrivers): Promise<Outcome> {
  const volume = pass.read.get(persistentVolumes, { name });
  if (volume !== undefined) return reclaim(volume, pass, drivers);
  const [claim] = pass.read.indexed(claimsByUid, claimUidOf(name) ?? "");
  if (claim === undefined || !awaitsVolume(claim)) return onChange;
  const storageClass = pass.read.get(storageClasses, { name: storageClassOf(claim.metadata, claim.spec?.storageClassName) });
  if (storageClass === undefined || !usesBuiltInSidecars(storageClass)) return onChange;
  const { annotations = {} } = claim.metadata;
  if ((annotations[STORAGE_PROVISIONER] ?? annotations[STORAGE_PROVISIONER_BETA]) !== storageClass.provisioner) return onChange;
  const waits = storageClass.volumeBindingMode === "WaitForFirstConsumer" && annotations[SELECTED_NODE] === undefined;
  return waits ? onChange : provision({ name, claim, storageClass }, pass, drivers);
}

function awaitsVolume({ metadata, spec }: PersistentVolumeClaim): boolean {
  return metadata.deletionTimestamp === undefined && (spec?.volumeName ?? "") === "";
}

async function provision(wanted: Wanted, pass: Pass, drivers: ControllerDrivers): Promise<Outcome> {
  const { name, claim, storageClass } = wanted;
  const selected = claim.metadata.annotations?.[SELECTED_NODE];
  const driver = driverFor({ driver: storageClass.provisioner, selected }, pass, drivers);
  // The driver's registration brings the claim back.
  if (isOutcome(driver)) return driver;
  const message = `External provisioner is provisioning volume for claim "${objectText(claim.metadata)}"`;
  pass.events.record(claim, { type: "Normal", reason: "Provisioning", message });
  try {
    const secrets = await credentials(secretRefFor("provisioner", wanted), pass.write);
    const capabilities = await pass.clock.external(driver.getPluginCapabilities({ signal: pass.signal }));
    const accessibility = capabilities.has("VOLUME_ACCESSIBILITY_CONSTRAINTS") ? topologyFor(wanted, pass) : undefined;
    const created = await pass.clock.external(
      driver.createVolume(createRequest(wanted, { secrets, accessibility }), { signal: pass.signal }),
    );
    await pass.write.create(persistentVolumes, volumeFor(wanted, created)).catch((error: unknown) => {
      // An earlier attempt created it, and its answer was lost.
      if (!isReason(error, "AlreadyExists")) throw error;
    });
  } catch (error) {
    const reason = `failed to provision volume with StorageClass "${storageClass.metadata.name}": ${messageOf(error)}`;
    pass.events.record(claim, { type: "Warning", reason: "ProvisioningFailed", message: reason });
    if (hasCsiCode(error, "RESOURCE_EXHAUSTED") && claim.metadata.annotations?.[SELECTED_NODE] !== undefined)
      return reschedule(claim, pass);
    throw error;
  }
  pass.events.record(claim, { type: "Normal", reason: "ProvisioningSucceeded", message: `Successfully provisioned volume ${name}` });
  return onChange;
}

function topologyFor({ claim, storageClass }: Wanted, { read }: Pass) {
  return accessibilityOf(storageClass, {
    nodes: read.list(nodes),
    csiNodes: read.list(csiNodes),
    driver: storageClass.provisioner,
    selectedNode: claim.metadata.annotations?.[SELECTED_NODE],
  });
}

/** The selected node has no room: the scheduler may select another. */
async function reschedule({ metadata }: PersistentVolumeClaim, { write }: Pass): Promise<Outcome> {
  const { namespace, name, resourceVersion = "" } = metadata;
  const value = { metadata: { resourceVersion, annotations: { [SELECTED_NODE]: null } } };
  await write.patch(persistentVolumeClaims, { namespace, name }, { type: "merge", value }).catch((error: unknown) => {
    if (!isReason(error, "Conflict") && !isReason(error, "NotFound")) throw error;
  });
  return onChange;
}

/** Deletes the volume of a claim that is gone, if the reclaim policy says so; the PersistentVolume last. */
async function reclaim(volume: PersistentVolume, pass: Pass, drivers: ControllerDrivers): Promise<Outcome> {
  const { metadata, spec = {}, status } = volume;
  const { annotations = {}, name } = metadata;
  if (!isBuiltIn(volume) || spec.csi === undefined || spec.csi.driver !== annotations[PROVISIONED_BY]) return onChange;
  const isTerminating = metadata.deletionTimestamp !== undefined;
  const isReleased = status?.phase === "Released" || (isTerminating && status?.phase !== "Bound");
  if (!isReleased) return onChange;
  if (spec.persistentVolumeReclaimPolicy !== "Delete") return isTerminating ? release(volume, pass) : onChange;
  const attached = pass.read.list(volumeAttachments).find((one) => one.spec.source.persistentVolumeName === name);
  const failed = (message: string): void => pass.events.record(volume, { type: "Warning", reason: "VolumeFailedDelete", message });
  if (attached !== undefined) {
    failed(`persistentvolume ${name} is still attached to node ${attached.spec.nodeName}`);
    return onChange; // The removal of the attachment brings it back.
  }
  const driver = driverFor({ driver: spec.csi.driver, volume }, pass, drivers);
  if (isOutcome(driver)) return driver;
  try {
    const ref = { name: annotations[DELETION_SECRET_NAME], namespace: annotations[DELETION_SECRET_NAMESPACE] };
    const secrets = ref.name === undefined ? {} : await credentials({ name: ref.name, namespace: ref.namespace ?? "" }, pass.write);
    await pass.clock.external(driver.deleteVolume({ volumeId: spec.csi.volumeHandle, secrets }, { signal: pass.signal }));
  } catch (error) {
    failed(messageOf(error));
    throw error;
  }
  if (!isTerminating) {
    const uid = metadata.uid === undefined ? {} : { preconditions: { uid: metadata.uid } };
    const terminating = await pass.write.delete(persistentVolumes, { name }, uid).catch(ifNotFound);
    return terminating === undefined ? onChange : release(terminating, pass);
  }
  return release(volume, pass);
}

async function release(volume: PersistentVolume, { write }: Pass): Promise<Outcome> {
  const { finalizers = [] } = volume.metadata;
  if (!finalizers.includes(PROVISIONER_FINALIZER)) return onChange;
  const metadata = { ...volume.metadata, finalizers: finalizers.filter((finalizer) => finalizer !== PROVISIONER_FINALIZER) };
  await write.update(persistentVolumes, { ...volume, metadata }).catch(ifNotFound);
  return onChange;
}

function ifNotFound(error: unknown): undefined {
  if (isReason(error, "NotFound")) return undefined;
  throw error;
}
