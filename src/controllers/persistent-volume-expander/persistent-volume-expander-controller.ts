/**
 * Reports who expands a claim that requests more than it has. Expanding is done by the driver's resizer, or by the node; of upstream's
 * controller only this is left: an event, and for volumes of plugins that CSI drivers have replaced, the annotation that names the driver.
 */
import { annotationOf, claimBytes } from "../../api/core/v1/persistent-volume/binding.ts";
import { MIGRATED_PLUGINS } from "../../api/core/v1/persistent-volume/migrated-plugins.ts";
import { persistentVolumeClaims } from "../../api/core/v1/persistent-volume-claim.ts";
import { persistentVolumes } from "../../api/core/v1/persistent-volume.ts";
import { readQuantity } from "../../api/core/v1/pod/resource-list.ts";
import type { PersistentVolume, PersistentVolumeClaim } from "../../api/generated/core/v1.ts";
import { scaledValue } from "../../api/machinery/quantity.ts";
import { defineController, onChange, watch, type Change, type Outcome, type Pass, type WorkKey } from "../runtime/controller.ts";
import { keyOf, objectText } from "../runtime/keys.ts";

/** On a claim: the driver whose resizer must expand it. */
const RESIZER = "volume.kubernetes.io/storage-resizer";

export const persistentVolumeExpanderController = defineController({
  name: "persistentvolume-expander-controller",
  aliases: ["persistentvolume-expander"],
  account: "expand-controller",
  component: "volume_expand",
  rules: [
    { apiGroups: [""], resources: ["persistentvolumes"], verbs: ["get"] },
    { apiGroups: [""], resources: ["persistentvolumeclaims/status"], verbs: ["patch"] },
  ],
  watches: [watch(persistentVolumeClaims, keysOfClaim), watch(persistentVolumes, () => [])],
  reconcile,
});

/** A bound claim that appears, requests more, or was expanded. */
function* keysOfClaim({ is, object, previous }: Change<PersistentVolumeClaim>): Iterable<WorkKey> {
  if (is === "deleted" || object.status?.phase !== "Bound") return;
  const isLarger = previous === undefined || claimBytes(object) > claimBytes(previous) || actualBytes(object) > actualBytes(previous);
  if (isLarger) yield keyOf(object);
}

function actualBytes({ status }: PersistentVolumeClaim): bigint {
  return scaledValue(readQuantity(status?.capacity?.["storage"] ?? "0"), 0);
}

async function reconcile(key: WorkKey, { read, write, events }: Pass): Promise<Outcome> {
  const claim = read.get(persistentVolumeClaims, key);
  if (claim === undefined || claim.status?.phase !== "Bound" || claimBytes(claim) <= actualBytes(claim)) return onChange;
  const { volumeName = "" } = claim.spec ?? {};
  const volume = read.get(persistentVolumes, { name: volumeName }) ?? (await write.get(persistentVolumes, { name: volumeName }));
  if (volume.spec?.claimRef?.uid !== claim.metadata.uid) {
    throw new Error(`persistent Volume is not bound to PVC being updated : ${objectText(key)}`);
  }
  const replaced = replacedPlugin(volume);
  const message =
    replaced === undefined
      ? "waiting for an external controller to expand this PVC"
      : `CSI migration enabled for ${replaced.plugin}; waiting for external resizer to expand the pvc`;
  events.record(claim, { type: "Normal", reason: "ExternalExpanding", message });
  if (replaced !== undefined && annotationOf(claim, RESIZER) !== replaced.driver) {
    const value = { metadata: { annotations: { [RESIZER]: replaced.driver } } };
    await write.patch(persistentVolumeClaims, key, { type: "merge", value }, { subresource: "status" });
  }
  return onChange;
}

function replacedPlugin({ spec }: PersistentVolume): (typeof MIGRATED_PLUGINS)[number] | undefined {
  return MIGRATED_PLUGINS.find(({ source }) => spec?.[source] !== undefined);
}
