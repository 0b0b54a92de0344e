/** Pods by the claims that they name, also those of their ephemeral volumes: one index for all controllers of claims. */
import { volumeClaimNames } from "../../api/core/v1/pod/references.ts";
import { pods } from "../../api/core/v1/pod.ts";
import { defineIndex } from "../../client/informer/index.ts";
import { objectText } from "../runtime/keys.ts";

/** Values are "namespace/name" of a claim (objectText). */
export const podsByClaim = defineIndex(pods, (pod) => {
  const { namespace } = pod.metadata;
  return [...volumeClaimNames(pod)].map((name) => objectText({ namespace, name }));
});
