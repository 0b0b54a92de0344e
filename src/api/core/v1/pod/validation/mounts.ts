/** Validation of volume mounts and raw block devices of a container. */
import type { Volume, VolumeDevice, VolumeMount } from "../../../../generated/core/v1.ts";
import { forbidden, invalid, notFoundField, notSupported, required, type FieldError } from "../../../../machinery/field-error.ts";
import type { AnyContainer } from "../containers.ts";
import { hasBacksteps, validateDescendingPath } from "./paths.ts";

/** The Pod's valid volumes by name. */
export type VolumesByName = ReadonlyMap<string, Volume>;

const PROPAGATIONS = ["Bidirectional", "HostToContainer", "None"];
const RECURSIVE_READ_ONLY = ["Disabled", "Enabled", "IfPossible"];

export function* validateMounts(container: AnyContainer, volumes: VolumesByName, at: string): Iterable<FieldError> {
  const mountsByName = new Map((container.volumeMounts ?? []).map((mount) => [mount.name, mount.mountPath]));
  const devicesByName = new Map((container.volumeDevices ?? []).map((device) => [device.name, device.devicePath]));
  yield* validateVolumeMounts(container, devicesByName, volumes, `${at}.volumeMounts`);
  yield* validateVolumeDevices(container.volumeDevices ?? [], mountsByName, volumes, `${at}.volumeDevices`);
}

function* validateVolumeMounts(
  container: AnyContainer,
  devices: ReadonlyMap<string, string>,
  volumes: VolumesByName,
  at: string,
): Iterable<FieldError> {
  const devicePaths = new Set(devices.values());
  const seenPaths = new Set<string>();
  for (const [index, mount] of (container.volumeMounts ?? []).entries()) {
    const here = `${at}[${index}]`;
    const [name, mountPath] = [mount.name ?? "", mount.mountPath ?? ""];
    if (name === "") yield required(`${here}.name`);
    if (!volumes.has(name)) yield notFoundField(`${here}.name`, name);
    if (mountPath === "") yield required(`${here}.mountPath`);
    if (seenPaths.has(mountPath)) yield invalid(`${here}.mountPath`, mountPath, "must be unique");
    seenPaths.add(mountPath);
    if (devices.has(name)) yield invalid(`${here}.name`, name, "must not already exist in volumeDevices");
    if (devicePaths.has(mountPath)) {
      yield invalid(`${here}.mountPath`, mountPath, "must not already exist as a path in volumeDevices");
    }
    yield* validateSubPaths(mount, at, here);
    yield* validatePropagation(mount, container.securityContext?.privileged === true, `${at}.mountPropagation`);
    yield* validateRecursiveReadOnly(mount, `${at}.recursiveReadOnly`);
  }
}

/** Upstream reports a wrong path with the list and not with its item, so `at` is needed too. */
function* validateSubPaths({ subPath, subPathExpr }: VolumeMount, at: string, here: string): Iterable<FieldError> {
  if (subPath) yield* validateDescendingPath(subPath, `${at}.subPath`);
  if (!subPathExpr) return;
  if (subPath) yield invalid(`${here}.subPathExpr`, subPathExpr, "subPathExpr and subPath are mutually exclusive");
  yield* validateDescendingPath(subPathExpr, `${at}.subPathExpr`);
}

function* validatePropagation({ mountPropagation }: VolumeMount, isPrivileged: boolean, at: string): Iterable<FieldError> {
  if (mountPropagation === undefined) return;
  if (!PROPAGATIONS.includes(mountPropagation)) yield notSupported(at, mountPropagation, PROPAGATIONS);
  if (mountPropagation === "Bidirectional" && !isPrivileged) {
    yield forbidden(at, "Bidirectional mount propagation is available only to privileged containers");
  }
}

function* validateRecursiveReadOnly(mount: VolumeMount, at: string): Iterable<FieldError> {
  const { recursiveReadOnly, mountPropagation } = mount;
  if (recursiveReadOnly === undefined || recursiveReadOnly === "Disabled") return;
  if (!RECURSIVE_READ_ONLY.includes(recursiveReadOnly)) return yield notSupported(at, recursiveReadOnly, RECURSIVE_READ_ONLY);
  if (mount.readOnly !== true) yield forbidden(at, "may only be specified when readOnly is true");
  if (mountPropagation !== undefined && mountPropagation !== "None") {
    yield forbidden(at, "may only be specified when mountPropagation is None or not specified");
  }
}

function* validateVolumeDevices(
  devices: readonly VolumeDevice[],
  mounts: ReadonlyMap<string, string>,
  volumes: VolumesByName,
  at: string,
): Iterable<FieldError> {
  const mountPaths = new Set(mounts.values());
  const seenNames = new Set<string>();
  const seenPaths = new Set<string>();
  for (const [index, { name = "", devicePath = "" }] of devices.entries()) {
    const here = `${at}[${index}]`;
    if (name === "") yield required(`${here}.name`);
    if (seenNames.has(name)) yield invalid(`${here}.name`, name, "must be unique");
    yield* validateDeviceVolume(volumes.get(name), name, `${here}.name`);
    if (devicePath === "") yield required(`${here}.devicePath`);
    if (seenPaths.has(devicePath)) yield invalid(`${here}.devicePath`, devicePath, "must be unique");
    if (hasBacksteps(devicePath)) yield invalid(`${here}.devicePath`, devicePath, "can not contain backsteps ('..')");
    else seenPaths.add(devicePath);
    if (mounts.has(name)) yield invalid(`${here}.name`, name, "must not already exist in volumeMounts");
    if (mountPaths.has(devicePath)) {
      yield invalid(`${here}.devicePath`, devicePath, "must not already exist as a path in volumeMounts");
    }
    if (name !== "") seenNames.add(name);
  }
}

function* validateDeviceVolume(volume: Volume | undefined, name: string, at: string): Iterable<FieldError> {
  if (volume === undefined) return yield notFoundField(at, name);
  if (volume.persistentVolumeClaim === undefined && volume.ephemeral === undefined) {
    yield invalid(at, name, "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode");
  }
}
