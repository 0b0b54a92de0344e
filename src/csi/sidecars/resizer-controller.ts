/**
 * Grows volumes through the controller service of a CSI driver when their claims ask for more, for volumes with built-in sidecars; what the
 * official external-resizer does. Order: the driver, the capacity of the PersistentVolume, the claim's status, which asks the kubelet to
 * grow the file system if the driver says so. A repeated call with the same size is answered the same, so an interrupted pass is repeated.
 */
import { CSI_SIDECAR_RULES } from "../../api/csi-sidecars.ts";
import { nodes } from "../../api/core/v1/node.ts";
import { persistentVolumeClaims } from "../../api/core/v1/persistent-volume-claim.ts";
import { pods } from "../../api/core/v1/pod.ts";
import { persistentVolumes } from "../../api/core/v1/persistent-volume.ts";
import {
  failedResizeStatus,
  hasFailedResize,
  infeasibleDelayMs,
  isOnlyReported,
  pendingResizeStatus,
  resizedStatus,
  resizingStatus,
  uncertainResizeStatus,
} from "../../api/core/v1/persistent-volume-claim/resize-status.ts";
import { readQuantity } from "../../api/core/v1/pod/resource-list.ts";
import type { PersistentVolume, PersistentVolumeClaim, PersistentVolumeClaimStatus } from "../../api/generated/core/v1.ts";
import { quantityToNumber } from "../../api/machinery/quantity.ts";
import { csiNodes } from "../../api/storage.k8s.io/v1/csi-node.ts";
import { deepEqual } from "../../base/deep.ts";
import type { Reader } from "../../client/informer/informer.ts";
import {
  after,
  defineController,
  onChange,
  watch,
  type Controller,
  type Outcome,
  type Pass,
  type WorkKey,
} from "../../controllers/runtime/controller.ts";
import { keyOf, objectText } from "../../controllers/runtime/keys.ts";
import type { CsiControllerDriver } from "../contract.ts";
import { hasCsiCode, isFinalCsiError, isInfeasibleCsiError } from "../csi-error.ts";
import { RefusedClaims } from "./claim-users.ts";
import { isLess, sizeToRequest } from "./resize-plan.ts";
import { capabilityOfVolume, credentials, driverFor, isBuiltIn, isOutcome, messageOf, type ControllerDrivers } from "./sidecar.ts";

const STORAGE = "storage";

/** Delay before a size that the driver cannot provide is requested again, as upstream. Another size is requested at once. */
const INFEASIBLE_RETRY_MS = 300_000;

export function resizerController(drivers: ControllerDrivers): Controller {
  const refused = new RefusedClaims();
  return defineController({
    name: "csi-resizer",
    account: "k8ts-csi-sidecars",
    rules: CSI_SIDECAR_RULES,
    watches: [
      watch(persistentVolumeClaims, ({ object, previous }) =>
        previous !== undefined && isOnlyReported(previous, object) ? [] : [keyOf(object)],
      ),
      watch(persistentVolumes, () => []),
      watch(pods, (change) => refused.releasedBy(change)),
      watch(nodes, () => []),
      watch(csiNodes, (_, read) => waiting(read)),
    ],
    start({ read, wake }) {
      drivers.listen(() => waiting(read).forEach(wake));
      return (key, pass) => reconcile(key, pass, { drivers, refused });
    },
  });
}

interface Resizer {
  readonly drivers: ControllerDrivers;
  readonly refused: RefusedClaims;
}

async function reconcile(key: WorkKey, pass: Pass, { drivers, refused }: Resizer): Promise<Outcome> {
  const claim = pass.read.get(persistentVolumeClaims, key);
  if (claim === undefined) refused.remove(key);
  if (claim === undefined || claim.metadata.deletionTimestamp !== undefined) return onChange;
  const volume = pass.read.get(persistentVolumes, { name: claim.spec?.volumeName ?? "" });
  if (volume === undefined || volume.spec?.claimRef?.uid !== claim.metadata.uid || !isBuiltIn(volume)) return onChange;
  const size = sizeToRequest(claim, volume);
  if (size === undefined) return onChange;
  const delayMs = infeasibleDelayMs(claim.status ?? {}, size, { delayMs: INFEASIBLE_RETRY_MS, nowMs: pass.clock.now() });
  if (delayMs > 0) return after(delayMs);
  const name = volume.spec?.csi?.driver ?? "";
  const driver = driverFor({ driver: name, volume }, pass, drivers);
  if (isOutcome(driver)) return driver;
  if (refused.mustWait(key, pass.read)) {
    const message = `Unable to expand ${objectText(key)} because CSI driver ${name} only supports offline expansion and volume is currently in-use`;
    pass.events.record(claim, { type: "Warning", reason: "VolumeResizeFailed", message });
    return onChange;
  }
  return grow({ claim, volume, driver, size, refused }, pass);
}

/** Claims that a driver that appears may have to grow. */
function waiting(read: Reader): readonly WorkKey[] {
  const isSmaller = ({ spec, status }: PersistentVolumeClaim) =>
    status?.phase === "Bound" && isLess(status.capacity?.[STORAGE], spec?.resources?.requests?.[STORAGE] ?? "0");
  return read.list(persistentVolumeClaims).filter(isSmaller).map(keyOf);
}

interface Growth {
  readonly claim: PersistentVolumeClaim;
  readonly volume: PersistentVolume;
  readonly driver: CsiControllerDriver;
  readonly size: string;
  readonly refused: RefusedClaims;
}

async function grow(growth: Growth, pass: Pass): Promise<Outcome> {
  const { volume, size } = growth;
  const { name } = volume.metadata;
  const claim = await writeStatus(growth.claim, resizingStatus(growth.claim.status ?? {}, size, pass.clock.now()), pass);
  pass.events.record(claim, { type: "Normal", reason: "Resizing", message: `External resizer is resizing volume ${name}` });
  let needsNode: boolean;
  growth.refused.remove(claim.metadata);
  try {
    needsNode = await expand({ ...growth, claim }, pass);
  } catch (error) {
    return reportFailure({ ...growth, claim }, error, pass);
  }
  if (isLess(volume.spec?.capacity?.[STORAGE], size)) {
    await pass.write.patch(persistentVolumes, { name }, { type: "merge", value: { spec: { capacity: { [STORAGE]: size } } } });
  }
  const { status = {} } = claim;
  await writeStatus(claim, needsNode ? pendingResizeStatus(status, size, pass.clock.now()) : resizedStatus(status, size), pass);
  pass.events.record(
    claim,
    needsNode
      ? { type: "Normal", reason: "FileSystemResizeRequired", message: "Require file system resize of volume on node" }
      : { type: "Normal", reason: "VolumeResizeSuccessful", message: "Resize volume succeeded" },
  );
  return onChange;
}

/** A size that is not possible is not requested again soon. After other errors the request is retried with backoff. */
async function reportFailure({ claim, volume, refused }: Growth, error: unknown, pass: Pass): Promise<Outcome> {
  const { status = {} } = claim;
  const isInfeasible = isInfeasibleCsiError(error);
  const failure = { message: messageOf(error), isInfeasible };
  if (isFinalCsiError(error)) await writeStatus(claim, failedResizeStatus(status, failure, pass.clock.now()), pass);
  else if (hasFailedResize(status)) await writeStatus(claim, uncertainResizeStatus(status), pass);
  const message = `resize volume "${volume.metadata.name}" by resizer "${volume.spec?.csi?.driver ?? ""}" failed: ${messageOf(error)}`;
  pass.events.record(claim, { type: "Warning", reason: "VolumeResizeFailed", message });
  if (hasCsiCode(error, "FAILED_PRECONDITION")) refused.add(claim.metadata);
  // The last of its users triggers the next attempt.
  if (refused.mustWait(claim.metadata, pass.read)) return onChange;
  if (!isInfeasible) throw error;
  return after(INFEASIBLE_RETRY_MS);
}

async function writeStatus(
  claim: PersistentVolumeClaim,
  status: PersistentVolumeClaimStatus,
  { write }: Pass,
): Promise<PersistentVolumeClaim> {
  return deepEqual(status, claim.status) ? claim : write.updateStatus(persistentVolumeClaims, { ...claim, status });
}

/** Resolves with whether the node has to do something. A driver that cannot expand a volume centrally leaves all of it to the node. */
async function expand({ volume, driver, size }: Growth, { write, clock, signal }: Pass): Promise<boolean> {
  const capabilities = await clock.external(driver.controllerGetCapabilities({ signal }));
  if (!capabilities.has("EXPAND_VOLUME")) return true;
  const secrets = await credentials(volume.spec?.csi?.controllerExpandSecretRef, write);
  const { nodeExpansionRequired } = await clock.external(
    driver.controllerExpandVolume(
      {
        volumeId: volume.spec?.csi?.volumeHandle ?? "",
        capacity: { requiredBytes: Math.ceil(quantityToNumber(readQuantity(size))), limitBytes: 0 },
        ...{ secrets, capability: capabilityOfVolume(volume) },
      },
      { signal },
    ),
  );
  return nodeExpansionRequired;
}
