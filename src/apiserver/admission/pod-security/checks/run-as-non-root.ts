/** Containers must set runAsNonRoot, either all by the pod's security context or each by its own. */
import { containersThat, hasOwnUsers, setters, theContainers, unless, type Check, type CheckedPod, type Violation } from "../check.ts";

export const runAsNonRoot: Check = {
  id: "runAsNonRoot",
  level: "restricted",
  versions: [
    { since: 0, judge },
    { since: 35, judge: unless(hasOwnUsers, judge) },
  ],
};

const REASON = "runAsNonRoot != true";

function judge(pod: CheckedPod): Violation | undefined {
  const ofPod = pod.spec.securityContext?.runAsNonRoot;
  const saysOtherwise = containersThat(pod, ({ securityContext }) => securityContext?.runAsNonRoot === false);
  const who = setters({ pod: ofPod === false, containers: saysOtherwise });
  if (who.length > 0) return { reason: REASON, detail: `${who.join(" and ")} must not set securityContext.runAsNonRoot=false` };
  const silent = ofPod === true ? [] : containersThat(pod, ({ securityContext }) => securityContext?.runAsNonRoot === undefined);
  if (silent.length === 0) return undefined;
  return { reason: REASON, detail: `pod or ${theContainers(silent)} must set securityContext.runAsNonRoot=true` };
}
