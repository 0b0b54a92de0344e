/** Queueing hints of DynamicResources: changes of claims, classes, slices and nodes that may help a rejected Pod. */
import { deepEqual } from "../../../base/deep.ts";
import type { Pod } from "../../../api/generated/core/v1.ts";
import type { ObjectEvent, RetryRule } from "../../framework/cluster-event.ts";
import type { DeviceView } from "../../framework/device-view.ts";
import { podClaims } from "./pod-claims.ts";

export function retryRules(view: Pick<DeviceView, "claim">): readonly RetryRule[] {
  return [
    { of: "node", changes: ["added", "labels", "allocatable"] },
    { of: "object", kind: "ResourceClaim", changes: ["added", "updated"], isWorthIt: (pod, event) => isHelpedByClaim(pod, event, view) },
    { of: "waiting-pod", changes: ["claim-names"], isWorthIt: (_pod, { pod }) => podClaims(pod, view).ok },
    { of: "object", kind: "DeviceClass", changes: ["added", "updated"] },
    { of: "object", kind: "ResourceSlice", changes: ["added", "updated"] },
  ];
}

/** Devices became free, or a claim of the Pod was created or changed. Nothing helps while another claim of the Pod is missing. */
function isHelpedByClaim(pod: Pod, { object: claim, previous }: ObjectEvent<"ResourceClaim">, view: Pick<DeviceView, "claim">): boolean {
  const found = podClaims(pod, view);
  if (!found.ok) return false;
  if (previous?.status?.allocation !== undefined && claim.status?.allocation === undefined) return true;
  if (!found.claims.some(({ metadata }) => metadata.uid === claim.metadata.uid)) return false;
  return previous === undefined || !deepEqual(previous.status, claim.status);
}
