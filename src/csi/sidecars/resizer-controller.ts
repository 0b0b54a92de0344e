/**
 * Grows volumes through the controller service of a CSI driver when their claims ask for more, for volumes with built-in sidecars; what the
 * official external-resizer does. Order: the driver, the capacity of the PersistentVolume, the claim's status, which asks the kubelet to
 * grow the file system if the driver says so. A repeated call with the same size is answered the same, so an interrupted pass is repeated.
 */
import { CSI_SIDECAR_RULES } from "../../api/csi-sidecars.ts";
import { nodes } from "../../api/core/v1/node.ts";
import { persistentVolumeClaims } from "../../api/core/v1/persistent-volume-claim.ts";
import { persistentVolumes } from "../../api/core/v1/persistent-volume.ts";
import { readQuantity } from "../../api/core/v1/pod/resource-list.ts";
import type { PersistentVolume, PersistentVolumeClaim, PersistentVolumeClaimStatus } from "../../api/generated/core/v1.ts";
import { compareQuantities, quantityToNumber } from "../../api/machinery/quantity.ts";
import { formatTime } from "../../api/machinery/time.ts";
import { csiNodes } from "../../api/storage.k8s.io/v1/csi-node.ts";
import type { Reader } from "../../client/informer/informer.ts";
import {
  defineController,
  onChange,
  watch,
  type Controller,
  type Outcome,
  type Pass,
  type WorkKey,
} from "../../controllers/runtime/controller.ts";
import { keyOf } from "../../controllers/runtime/keys.ts";
import type { CsiControllerDriver } from "../contract.ts";
import { capabilityOfVolume, credentials, driverFor, isBuiltIn, isOutcome, messageOf, type ControllerDrivers } from "./sidecar.ts";

const STORAGE = "storage";
const PENDING = "FileSystemResizePending";

export function resizerController(drivers: ControllerDrivers): Controller {
  return defineController({
    name: "csi-resizer",
    account: "k8ts-csi-sidecars",
    rules: CSI_SIDECAR_RULES,
    watches: [
      watch(persistentVolumeClaims, ({ object }) => [keyOf(object)]),
      watch(persistentVolumes, () => []),
      watch(nodes, () => []),
      watch(csiNodes, (_, read) => waiting(read)),
    ],
    start({ read, wake }) {
      drivers.listen(() => waiting(read).forEach(wake));
      return (key, pass) => reconcile(key, pass, drivers);
    },
  });
}

async function reconcile(key: WorkKey, pass: Pass, drivers: ControllerDrivers): Promise<Outcome> {
  const claim = pass.read.get(persistentVolumeClaims, key);
  if (claim?.status?.phase !== "Bound" || claim.metadata.deletionTimestamp !== undefined) return onChange;
  const size = claim.spec?.resources?.requests?.[STORAGE] ?? "0";
  if (!isLess(claim.status.capacity?.[STORAGE], size) || isAskedFor(claim.status, size)) return onChange;
  const volume = pass.read.get(persistentVolumes, { name: claim.spec?.volumeName ?? "" });
  if (volume?.spec?.claimRef?.uid !== claim.metadata.uid || volume === undefined || !isBuiltIn(volume)) return onChange;
  const driver = driverFor({ driver: volume.spec?.csi?.driver ?? "", volume }, pass, drivers);
  return isOutcome(driver) ? driver : grow({ claim, volume, driver, size }, pass);
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
}

async function grow({ claim, volume, driver, size }: Growth, pass: Pass): Promise<Outcome> {
  const { name } = volume.metadata;
  pass.events.record(claim, { type: "Normal", reason: "Resizing", message: `External resizer is resizing volume ${name}` });
  let needsNode: boolean;
  try {
    needsNode = await expand({ claim, volume, driver, size }, pass);
  } catch (error) {
    const message = `resize volume "${name}" by resizer "${volume.spec?.csi?.driver ?? ""}" failed: ${messageOf(error)}`;
    pass.events.record(claim, { type: "Warning", reason: "VolumeResizeFailed", message });
    throw error;
  }
  if (isLess(volume.spec?.capacity?.[STORAGE], size)) {
    await pass.write.patch(persistentVolumes, { name }, { type: "merge", value: { spec: { capacity: { [STORAGE]: size } } } });
  }
  const status = needsNode ? pending(claim.status, size, pass.clock.now()) : grown(claim.status, size);
  await pass.write.updateStatus(persistentVolumeClaims, { ...claim, status });
  pass.events.record(
    claim,
    needsNode
      ? { type: "Normal", reason: "FileSystemResizeRequired", message: "Require file system resize of volume on node" }
      : { type: "Normal", reason: "VolumeResizeSuccessful", message: "Resize volume succeeded" },
  );
  return onChange;
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

function isLess(amount = "0", than: string): boolean {
  return compareQuantities(readQuantity(amount), readQuantity(than)) < 0;
}

/** The kubelet was asked for this size already. */
function isAskedFor({ allocatedResources = {}, allocatedResourceStatuses = {} }: PersistentVolumeClaimStatus, size: string): boolean {
  return allocatedResources[STORAGE] === size && (allocatedResourceStatuses[STORAGE] ?? "").startsWith("NodeResize");
}

function pending(status: PersistentVolumeClaimStatus | undefined, size: string, nowMs: number): PersistentVolumeClaimStatus {
  const condition = {
    type: PENDING,
    status: "True",
    lastTransitionTime: formatTime(nowMs),
    message: "Waiting for user to (re-)start a pod to finish file system resize of volume on node.",
  } as const;
  return {
    ...status,
    conditions: [...otherConditions(status), condition],
    allocatedResources: { ...status?.allocatedResources, [STORAGE]: size },
    allocatedResourceStatuses: { ...status?.allocatedResourceStatuses, [STORAGE]: "NodeResizePending" },
  };
}

function grown(status: PersistentVolumeClaimStatus | undefined, size: string): PersistentVolumeClaimStatus {
  const { [STORAGE]: _state, ...states } = status?.allocatedResourceStatuses ?? {};
  return {
    ...status,
    capacity: { ...status?.capacity, [STORAGE]: size },
    conditions: otherConditions(status),
    allocatedResources: { ...status?.allocatedResources, [STORAGE]: size },
    allocatedResourceStatuses: states,
  };
}

function otherConditions(status: PersistentVolumeClaimStatus | undefined) {
  return (status?.conditions ?? []).filter(({ type }) => type !== PENDING && type !== "Resizing");
}
