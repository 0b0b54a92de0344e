/** Sets the number of replicas through the scale subresource. */
import { textAt } from "../fields.ts";
import { mergePatch, onObject, type Action } from "./action.ts";

export const scale: Action = {
  title: "Scale",
  kinds: ["deployments.apps", "statefulsets.apps", "replicasets.apps", "replicationcontrollers"],
  number: { label: "Replicas", initial: (object) => Number(textAt(object, "spec", "replicas") || "1") },
  needs: (kind, object) => onObject("patch", kind, object, "scale"),
  async run(context, replicas) {
    await mergePatch(context, { spec: { replicas } }, "/scale");
    return `Scaled to ${replicas}.`;
  },
};
