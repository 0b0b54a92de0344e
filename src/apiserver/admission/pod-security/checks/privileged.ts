/** Containers must not be privileged, which disables their isolation from the node. */
import { containersThat, theContainers, type Check, type CheckedPod, type Violation } from "../check.ts";

export const privileged: Check = { id: "privileged", level: "baseline", versions: [{ since: 0, judge }] };

function judge(pod: CheckedPod): Violation | undefined {
  const bad = containersThat(pod, ({ securityContext }) => securityContext?.privileged === true);
  if (bad.length === 0) return undefined;
  return { reason: "privileged", detail: `${theContainers(bad)} must not set securityContext.privileged=true` };
}
