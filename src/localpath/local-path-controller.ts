/**
 * Provisions, grows and reclaims the volumes of nodes whose storage this process has: for claims that the scheduler placed there. The key
 * is the name of the volume, which follows from the uid of its claim, so that all work on a volume is serial and a repeated attempt finds
 * what an interrupted one left.
 *
 * Order of provisioning: storage, PersistentVolume. Order of reclaiming: storage, PersistentVolume, which a finalizer holds until then. So
 * storage without a PersistentVolume is either unconfirmed, and removed when its claim is gone, or data that its reclaim policy keeps,
 * which is never removed. Not here: binding (controllers), placement (scheduler), mounting and file systems (kubelet).
 */
import { nodes } from "../api/core/v1/node.ts";
import { isOnlyReported } from "../api/core/v1/persistent-volume-claim/resize-status.ts";
import { persistentVolumeClaims } from "../api/core/v1/persistent-volume-claim.ts";
import { persistentVolumes } from "../api/core/v1/persistent-volume.ts";
import type { PersistentVolume, PersistentVolumeClaim } from "../api/generated/core/v1.ts";
import type { StorageClass } from "../api/generated/storage.k8s.io/v1.ts";
import { isReason } from "../api/machinery/status-error.ts";
import { storageClasses } from "../api/storage.k8s.io/v1/storage-class.ts";
import { defineIndex } from "../client/informer/index.ts";
import type { Reader } from "../client/informer/informer.ts";
import {
  after,
  defineController,
  onChange,
  watch,
  type Change,
  type Controller,
  type Outcome,
  type Pass,
  type WorkKey,
} from "../controllers/runtime/controller.ts";
import { objectText } from "../controllers/runtime/keys.ts";
import { RefusedVolumeError, type VolumeStorage } from "./local-volumes.ts";
import { claimUidOf, HOSTNAME_LABEL, LOCAL_PATH_PROVISIONER, LOCAL_PATH_RULES, SELECTED_NODE, volumeNameOf } from "../api/local-path.ts";
import { awaitsVolume, classNameOf, nodeOfVolume, persistentVolumeFor, selectedNode, storageOf } from "./persistent-volume.ts";
import { reclaim } from "./reclaim.ts";
import { grow } from "./grow.ts";
import type { LocalPathOptions, VolumePass } from "./volume-pass.ts";
import { volumeRequest } from "./volume-request.ts";

const claimsByUid = defineIndex(persistentVolumeClaims, ({ metadata }) => (metadata.uid === undefined ? [] : [metadata.uid]));

/** Storage that no PersistentVolume refers to yet is checked again after this time, if its claim still exists. */
const UNCONFIRMED_CHECK_MS = 60_000;

export function localPathController(options: LocalPathOptions): Controller {
  const concerns = (claim: PersistentVolumeClaim): boolean => {
    const node = selectedNode(claim);
    return awaitsVolume(claim) && (node === undefined ? options.refusesUnplaced : options.isOwnNode(node));
  };
  return defineController({
    name: "local-path-provisioner",
    account: "local-path-provisioner",
    component: LOCAL_PATH_PROVISIONER,
    rules: LOCAL_PATH_RULES,
    watches: [
      watch(persistentVolumeClaims, claimKeys),
      watch(persistentVolumes, ({ object }) => (options.isOwnNode(nodeOfVolume(object) ?? "") ? [{ name: object.metadata.name }] : [])),
      watch(storageClasses, ({ object }, read) => claimsOfClass(object, read).filter(concerns).map(keyOfClaim)),
    ],
    start({ wake }) {
      for (const name of options.volumes.unconfirmed) wake({ name });
      return ({ name }, pass) => reconcile(name, concerns, { ...options, pass });
    },
  });
}

/** Its own volume, and the one that it is bound to: a volume that was kept may have another name. */
function claimKeys({ object: claim, previous }: Change<PersistentVolumeClaim>): readonly WorkKey[] {
  if (previous !== undefined && isOnlyReported(previous, claim)) return [];
  const { volumeName = "" } = claim.spec ?? {};
  return volumeName === "" ? [keyOfClaim(claim)] : [{ name: volumeName }];
}

function keyOfClaim({ metadata }: PersistentVolumeClaim): WorkKey {
  return { name: volumeNameOf(metadata.uid ?? "") };
}

function claimsOfClass({ metadata }: StorageClass, read: Reader): readonly PersistentVolumeClaim[] {
  return read.list(persistentVolumeClaims).filter((claim) => classNameOf(claim) === metadata.name);
}

async function reconcile(name: string, concerns: (claim: PersistentVolumeClaim) => boolean, context: VolumePass): Promise<Outcome> {
  const { pass, volumes } = context;
  const volume = pass.read.get(persistentVolumes, { name });
  if (volume !== undefined) return existing(volume, context);
  const uid = claimUidOf(name);
  const [claim] = uid === undefined ? [] : pass.read.indexed(claimsByUid, uid);
  if (claim !== undefined && concerns(claim)) return provision(claim, context);
  if (!volumes.unconfirmed.has(name)) return onChange;
  return claim === undefined ? removeUnconfirmed(name, context) : after(UNCONFIRMED_CHECK_MS);
}

async function existing(volume: PersistentVolume, context: VolumePass): Promise<Outcome> {
  const { pass, volumes, isOwnNode } = context;
  const { name } = volume.metadata;
  if (!isOwnNode(nodeOfVolume(volume) ?? "")) {
    // Another node was selected after an interrupted attempt on this one.
    if (volumes.unconfirmed.has(name)) await pass.clock.external(volumes.delete(name));
    return onChange;
  }
  const storage = storageOf(volume, volumes);
  if (storage !== undefined) await pass.clock.external(volumes.confirm(name));
  const { namespace, name: claimName = "" } = volume.spec?.claimRef ?? {};
  const claim = pass.read.get(persistentVolumeClaims, { namespace, name: claimName });
  const reclaimed = await reclaim({ volume, storage, claim }, context);
  if (reclaimed === "done" || storage === undefined) return onChange;
  await pass.clock.external(volumes.attach(name));
  return grow({ volume, storage, claim }, context);
}

/** The API server is asked, since the cache may be behind: only storage that never had a PersistentVolume is removed. */
async function removeUnconfirmed(name: string, { pass, volumes }: VolumePass): Promise<Outcome> {
  try {
    await pass.write.get(persistentVolumes, { name });
    return after(UNCONFIRMED_CHECK_MS);
  } catch (error) {
    if (!isReason(error, "NotFound")) throw error;
  }
  pass.log.info("Removing storage whose claim was deleted before it had a PersistentVolume", { volume: name });
  await pass.clock.external(volumes.delete(name));
  return onChange;
}

async function provision(claim: PersistentVolumeClaim, context: VolumePass): Promise<Outcome> {
  const { pass } = context;
  const className = classNameOf(claim);
  const storageClass = pass.read.get(storageClasses, { name: className });
  // Without its class nothing is known about the volume; the class's creation brings the claim back.
  if (storageClass?.provisioner !== LOCAL_PATH_PROVISIONER) return onChange;
  const refuse = (reason: string): Outcome => {
    const message = `failed to provision volume with StorageClass "${className}": ${reason}`;
    pass.events.record(claim, { type: "Warning", reason: "ProvisioningFailed", message });
    return onChange;
  };
  const nodeName = selectedNode(claim);
  if (nodeName === undefined) {
    // The scheduler is about to select one: this one, or another one after a node that had no room.
    if (storageClass.volumeBindingMode === "WaitForFirstConsumer") return onChange;
    return refuse("no node was selected: the class needs volumeBindingMode WaitForFirstConsumer");
  }
  const request = volumeRequest(claim, storageClass);
  if (request.is === "refused") return refuse(request.reason);
  try {
    await provisionOn(nodeName, { claim, storageClass, storage: request.storage }, context);
    return onChange;
  } catch (error) {
    if (!(error instanceof RefusedVolumeError)) {
      refuse((error as Error).message);
      throw error;
    }
    refuse(error.message);
    return reschedule(claim, pass);
  }
}

interface Accepted {
  readonly claim: PersistentVolumeClaim;
  readonly storageClass: StorageClass;
  readonly storage: VolumeStorage;
}

async function provisionOn(nodeName: string, { claim, storageClass, storage }: Accepted, { pass, volumes }: VolumePass): Promise<void> {
  const { uid = "" } = claim.metadata;
  const name = volumeNameOf(uid);
  const about = `External provisioner is provisioning volume for claim "${objectText(claim.metadata)}"`;
  pass.events.record(claim, { type: "Normal", reason: "Provisioning", message: about });
  await pass.clock.external(volumes.create(name, storage));
  const hostname = (await pass.write.get(nodes, { name: nodeName })).metadata.labels?.[HOSTNAME_LABEL] ?? nodeName;
  const path = volumes.path(name, storage.is);
  try {
    await pass.write.create(persistentVolumes, persistentVolumeFor({ claim, storageClass, storage, path, nodeName, hostname }));
  } catch (error) {
    // An earlier attempt created it, and its answer was lost.
    if (!isReason(error, "AlreadyExists")) throw error;
  }
  await pass.clock.external(volumes.confirm(name));
  const message = `Successfully provisioned volume ${name}`;
  pass.events.record(claim, { type: "Normal", reason: "ProvisioningSucceeded", message });
}

/** Gives the claim back to the scheduler, which may select another node. What was written since the claim was read is not lost. */
async function reschedule({ metadata }: PersistentVolumeClaim, { write }: Pass): Promise<Outcome> {
  const { namespace, name, resourceVersion = "" } = metadata;
  const value = { metadata: { resourceVersion, annotations: { [SELECTED_NODE]: null } } };
  try {
    await write.patch(persistentVolumeClaims, { namespace, name }, { type: "merge", value });
  } catch (error) {
    // Changed or deleted meanwhile: the change brings it back.
    if (!isReason(error, "Conflict") && !isReason(error, "NotFound")) throw error;
  }
  return onChange;
}
