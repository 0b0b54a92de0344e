/** Grows a published CSI volume on this node to the capacity of its PersistentVolume, with upstream's messages. */
import { parseQuantity, quantityToNumber } from "../../../api/machinery/quantity.ts";
import { isInfeasibleCsiError } from "../../../csi/csi-error.ts";
import { InfeasibleVolumeError, VolumeError } from "../framework/volume-error.ts";
import type { PodVolume, VolumeNode } from "../framework/volume-plugin.ts";
import { publishTarget } from "./csi-paths.ts";
import { csiStaging } from "./csi-staging.ts";
import { secretsOf, type CsiPodVolume } from "./csi-volume.ts";

/** A driver without the capability EXPAND_VOLUME has nothing to do on the node. */
export async function expandCsiVolume(volume: PodVolume, resolved: CsiPodVolume, node: VolumeNode): Promise<void> {
  const { spec } = volume.persistent?.volume ?? {};
  const { driver, capabilities, handle, capability } = resolved;
  if (spec === undefined || !capabilities.has("EXPAND_VOLUME")) return;
  const capacity = spec.capacity?.["storage"];
  if (capacity === undefined) return;
  const secrets = await secretsOf("NodeExpandSecretRef", spec.csi?.nodeExpandSecretRef, node);
  try {
    await driver.nodeExpandVolume({
      volumeId: handle,
      volumePath: publishTarget(volume, node.pluginsDirectory),
      stagingTargetPath: capabilities.has("STAGE_UNSTAGE_VOLUME") ? (csiStaging.directory(volume, resolved, node) ?? "") : "",
      capacity: { requiredBytes: Math.ceil(quantityToNumber(parseQuantity(capacity))), limitBytes: 0 },
      capability,
      secrets,
    });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    if (isInfeasibleCsiError(error))
      throw new InfeasibleVolumeError(`Expander.NodeExpand failed to expand the volume ${reason}`, { cause: error });
    throw new VolumeError(`Expander.NodeExpand failed to expand the volume : ${reason}`, { cause: error });
  }
}
