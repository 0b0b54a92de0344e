/** What the kubelet needs to know of a driver before it calls it: the CSIDriver object and the running driver, with upstream's messages. */
import type { CSIDriver } from "../../../api/generated/storage.k8s.io/v1.ts";
import type { CsiAccessMode, CsiNodeCapability, CsiNodeDriver } from "../../../csi/contract.ts";
import { VolumeError } from "../framework/volume-error.ts";
import type { VolumeNode } from "../framework/volume-plugin.ts";

/** Message start of all errors of this kind. */
export const PREFIX = "kubernetes.io/csi: ";

export type LifecycleMode = "Persistent" | "Ephemeral";

/** Throws if no driver of this name is registered on the node; `step` is how upstream names the caller. */
export function registeredDriver({ csi }: VolumeNode, name: string, step: string): CsiNodeDriver {
  const driver = csi.driver(name);
  if (driver !== undefined) return driver;
  throw new VolumeError(`${PREFIX}${step} failed to get CSI client: driver name ${name} not found in the list of registered CSI drivers`);
}

/** Throws if the driver does not offer volumes of this mode. Without a CSIDriver object it offers persistent ones. */
export function checkLifecycleMode(driver: CSIDriver | undefined, name: string, mode: LifecycleMode): void {
  if (driver === undefined && mode === "Persistent") return;
  const start = `${PREFIX}mounter.SetupAt failed to check volume lifecycle mode: volume mode "${mode}" not supported by driver ${name}`;
  if (driver === undefined) throw new VolumeError(`${start} (no CSIDriver object)`);
  const modes = driver.spec.volumeLifecycleModes ?? ["Persistent"];
  if (modes.includes(mode)) return;
  throw new VolumeError(`${start} (only supports [${modes.map((supported) => `"${supported}"`).join(" ")}])`);
}

/** Whether a controller attaches the driver's volumes to nodes. True if the driver has no CSIDriver object. */
export function requiresAttachment(driver: CSIDriver | undefined): boolean {
  return driver?.spec.attachRequired !== false;
}

/** The CSI access mode of the first access mode of a PersistentVolume. */
export function accessModeOf(mode: string, capabilities: ReadonlySet<CsiNodeCapability>): CsiAccessMode {
  const knowsMultiWriter = capabilities.has("SINGLE_NODE_MULTI_WRITER");
  switch (mode) {
    case "ReadWriteOnce":
      return knowsMultiWriter ? "SINGLE_NODE_MULTI_WRITER" : "SINGLE_NODE_WRITER";
    case "ReadWriteOncePod":
      return knowsMultiWriter ? "SINGLE_NODE_SINGLE_WRITER" : "SINGLE_NODE_WRITER";
    case "ReadOnlyMany":
      return "MULTI_NODE_READER_ONLY";
    case "ReadWriteMany":
      return "MULTI_NODE_MULTI_WRITER";
    default:
      throw new VolumeError(`${PREFIX}access mode "${mode}" is unknown`);
  }
}
