/** Validation of volume mounts and raw block devices of a container. */
import type { Volume, VolumeDevice, VolumeMount } from "../../../../generated/core/v1.ts";
import { forbidden, invalid, notFoundField, notSupported, required } from "../../../../machinery/field-error.ts";
import type { FieldErrors } from "../../../../machinery/findings.ts";
import type { AnyContainer } from "../containers.ts";
import { hasBacksteps, validateDescendingPath } from "./paths.ts";

/** The Pod's valid volumes by name. */
export type VolumesByName = ReadonlyMap<string, Volume>;

const PROPAGATIONS = ["Bidirectional", "HostToContainer", "None"];
const RECURSIVE_READ_ONLY = ["Disabled", "Enabled", "IfPossible"];

export function validateMounts(errors: FieldErrors, container: AnyContainer, volumes: VolumesByName, at: string): void {
  const mountsByName = new Map((container.volumeMounts ?? []).map((mount) => [mount.name, mount.mountPath]));
  const devicesByName = new Map((container.volumeDevices ?? []).map((device) => [device.name, device.devicePath]));
  validateVolumeMounts(errors, container, devicesByName, volumes, `${at}.volumeMounts`);
  validateVolumeDevices(errors, container.volumeDevices ?? [], mountsByName, volumes, `${at}.volumeDevices`);
}

function validateVolumeMounts(
  errors: FieldErrors,
  container: AnyContainer,
  devices: ReadonlyMap<string, string>,
  volumes: VolumesByName,
  at: string,
): void {
  const devicePaths = new Set(devices.values());
  const seenPaths = new Set<string>();
  for (const [index, mount] of (container.volumeMounts ?? []).entries()) {
    const here = `${at}[${index}]`;
    const [name, mountPath] = [mount.name ?? "", mount.mountPath ?? ""];
    if (name === "") errors.add(required(`${here}.name`));
    if (!volumes.has(name)) errors.add(notFoundField(`${here}.name`, name));
    if (mountPath === "") errors.add(required(`${here}.mountPath`));
    if (seenPaths.has(mountPath)) errors.add(invalid(`${here}.mountPath`, mountPath, "must be unique"));
    seenPaths.add(mountPath);
    if (devices.has(name)) errors.add(invalid(`${here}.name`, name, "must not already exist in volumeDevices"));
    if (devicePaths.has(mountPath)) {
      errors.add(invalid(`${here}.mountPath`, mountPath, "must not already exist as a path in volumeDevices"));
    }
    validateSubPaths(errors, mount, at, here);
    validatePropagation(errors, mount, container.securityContext?.privileged === true, `${at}.mountPropagation`);
    validateRecursiveReadOnly(errors, mount, `${at}.recursiveReadOnly`);
  }
}

/** Upstream reports a wrong path with the list and not with its item, so `at` is needed too. */
function validateSubPaths(errors: FieldErrors, { subPath, subPathExpr }: VolumeMount, at: string, here: string): void {
  if (subPath) validateDescendingPath(errors, subPath, `${at}.subPath`);
  if (!subPathExpr) return;
  if (subPath) errors.add(invalid(`${here}.subPathExpr`, subPathExpr, "subPathExpr and subPath are mutually exclusive"));
  validateDescendingPath(errors, subPathExpr, `${at}.subPathExpr`);
}

function validatePropagation(errors: FieldErrors, { mountPropagation }: VolumeMount, isPrivileged: boolean, at: string): void {
  if (mountPropagation === undefined) return;
  if (!PROPAGATIONS.includes(mountPropagation)) errors.add(notSupported(at, mountPropagation, PROPAGATIONS));
  if (mountPropagation === "Bidirectional" && !isPrivileged) {
    errors.add(forbidden(at, "Bidirectional mount propagation is available only to privileged containers"));
  }
}

function validateRecursiveReadOnly(errors: FieldErrors, mount: VolumeMount, at: string): void {
  const { recursiveReadOnly, mountPropagation } = mount;
  if (recursiveReadOnly === undefined || recursiveReadOnly === "Disabled") return;
  if (!RECURSIVE_READ_ONLY.includes(recursiveReadOnly)) return errors.add(notSupported(at, recursiveReadOnly, RECURSIVE_READ_ONLY));
  if (mount.readOnly !== true) errors.add(forbidden(at, "may only be specified when readOnly is true"));
  if (mountPropagation !== undefined && mountPropagation !== "None") {
    errors.add(forbidden(at, "may only be specified when mountPropagation is None or not specified"));
  }
}

function validateVolumeDevices(
  errors: FieldErrors,
  devices: readonly VolumeDevice[],
  mounts: ReadonlyMap<string, string>,
  volumes: VolumesByName,
  at: string,
): void {
  const mountPaths = new Set(mounts.values());
  const seenNames = new Set<string>();
  const seenPaths = new Set<string>();
  for (const [index, { name = "", devicePath = "" }] of devices.entries()) {
    const here = `${at}[${index}]`;
    if (name === "") errors.add(required(`${here}.name`));
    if (seenNames.has(name)) errors.add(invalid(`${here}.name`, name, "must be unique"));
    validateDeviceVolume(errors, volumes.get(name), name, `${here}.name`);
    if (devicePath === "") errors.add(required(`${here}.devicePath`));
    if (seenPaths.has(devicePath)) errors.add(invalid(`${here}.devicePath`, devicePath, "must be unique"));
    if (hasBacksteps(devicePath)) errors.add(invalid(`${here}.devicePath`, devicePath, "can not contain backsteps ('..')"));
    else seenPaths.add(devicePath);
    if (mounts.has(name)) errors.add(invalid(`${here}.name`, name, "must not already exist in volumeMounts"));
    if (mountPaths.has(devicePath)) {
      errors.add(invalid(`${here}.devicePath`, devicePath, "must not already exist as a path in volumeMounts"));
    }
    if (name !== "") seenNames.add(name);
  }
}

function validateDeviceVolume(errors: FieldErrors, volume: Volume | undefined, name: string, at: string): void {
  if (volume === undefined) return errors.add(notFoundField(at, name));
  if (volume.persistentVolumeClaim === undefined && volume.ephemeral === undefined) {
    errors.add(invalid(at, name, "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode"));
  }
}
