/** Holds a terminating PersistentVolume with a finalizer while its phase is Bound. The phase is set by the binder; claims are not read. */
import { persistentVolumes } from "../../api/core/v1/persistent-volume.ts";
import type { PersistentVolume } from "../../api/generated/core/v1.ts";
import { defineController, watch } from "../runtime/controller.ts";
import { ifHeldOrUnprotected, keepProtected, type ProtectionByMemory } from "../shared/protection.ts";

const PROTECTION: ProtectionByMemory<PersistentVolume> = {
  kind: persistentVolumes,
  finalizer: "kubernetes.io/pv-protection",
  isUsed: ({ status }) => status?.phase === "Bound",
};

export const persistentVolumeProtectionController = defineController({
  name: "persistentvolume-protection-controller",
  aliases: ["pv-protection"],
  account: "pv-protection-controller",
  rules: [{ apiGroups: [""], resources: ["persistentvolumes"], verbs: ["get", "list", "watch", "update"] }],
  watches: [watch(persistentVolumes, ifHeldOrUnprotected(PROTECTION))],
  reconcile: (key, pass) => keepProtected(PROTECTION, key, pass),
});
