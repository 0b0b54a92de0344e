/** A PersistentVolume that no claim can use. */
import { defineExplainer, found, nameOf } from "./explainer.ts";

export const volume = defineExplainer({
  resources: ["persistentvolumes"],
  explain(object, subject) {
    const { phase, message } = object.status ?? {};
    const { claimRef, persistentVolumeReclaimPolicy: policy } = object.spec;
    if (phase === "Released") {
      const claim = `${claimRef?.namespace}/${claimRef?.name}`;
      const kept = `its claim ${claim} was deleted, and it is kept with its data (persistentVolumeReclaimPolicy ${policy}); no other claim is bound to it until its spec.claimRef is removed`;
      return found({ text: `${nameOf(subject)} is Released`, because: [{ text: kept, root: "Released" }] });
    }
    if (phase !== "Failed") return undefined;
    return found({
      text: `${nameOf(subject)} is Failed`,
      because: [{ text: message ?? "no message was reported", root: "ReclaimFailed" }],
    });
  },
});
