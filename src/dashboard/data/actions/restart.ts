/** Replaces all Pods by a rollout, as `kubectl rollout restart` does: an annotation of the template changes. */
import { field } from "../fields.ts";
import { mergePatch, onObject, type Action } from "./action.ts";

const ANNOTATION = "kubectl.kubernetes.io/restartedAt";

export const restart: Action = {
  title: "Restart",
  kinds: ["deployments.apps", "statefulsets.apps", "daemonsets.apps"],
  isFor: (object) => field(object, "spec", "paused") !== true,
  needs: (kind, object) => onObject("patch", kind, object),
  async run(context) {
    const at = new Date(context.clock.now()).toISOString().replace(/\.\d+/, "");
    await mergePatch(context, { spec: { template: { metadata: { annotations: { [ANNOTATION]: at } } } } });
    return "Restarting.";
  },
};
