/** What a CSI driver's attacher does: it attaches what is requested, holds the attachment with a finalizer, and detaches when it is deleted. */
import { volumeAttachments } from "../../../api/storage.k8s.io/v1/volume-attachment.ts";
import { defineController, onChange, watch, type Controller } from "../../runtime/controller.ts";
import { itself } from "../../runtime/keys.ts";

const FINALIZER = "external-attacher/example-com";

/** `fails`: the message with which attaching fails; undefined: it succeeds. */
export function attacher({ fails }: { readonly fails?: string } = {}): Controller {
  return defineController({
    name: "attacher",
    account: "attacher",
    rules: [{ apiGroups: ["storage.k8s.io"], resources: ["volumeattachments", "volumeattachments/status"], verbs: ["get", "update"] }],
    watches: [watch(volumeAttachments, itself)],
    async reconcile(key, { read, write }) {
      const found = read.get(volumeAttachments, key);
      if (found === undefined) return onChange;
      const { metadata } = found;
      const isHeld = metadata.finalizers?.includes(FINALIZER) === true;
      if (metadata.deletionTimestamp !== undefined) {
        if (isHeld) await write.update(volumeAttachments, { ...found, metadata: { ...metadata, finalizers: [] } });
        return onChange;
      }
      const held = isHeld ? found : await write.update(volumeAttachments, { ...found, metadata: { ...metadata, finalizers: [FINALIZER] } });
      const status = fails === undefined ? { attached: true } : { attached: false, attachError: { message: fails } };
      if (found.status?.attached === status.attached && found.status.attachError?.message === fails) return onChange;
      await write.updateStatus(volumeAttachments, { ...held, status });
      return onChange;
    },
  });
}
