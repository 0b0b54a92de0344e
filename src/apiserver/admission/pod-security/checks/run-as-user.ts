/** runAsUser must not be 0. */
import { containersThat, hasOwnUsers, setters, unless, type Check, type CheckedPod, type Violation } from "../check.ts";

export const runAsUser: Check = {
  id: "runAsUser",
  level: "restricted",
  versions: [
    { since: 23, judge },
    { since: 35, judge: unless(hasOwnUsers, judge) },
  ],
};

function judge(pod: CheckedPod): Violation | undefined {
  const containers = containersThat(pod, ({ securityContext }) => securityContext?.runAsUser === 0);
  const who = setters({ pod: pod.spec.securityContext?.runAsUser === 0, containers });
  return who.length === 0 ? undefined : { reason: "runAsUser=0", detail: `${who.join(" and ")} must not set runAsUser=0` };
}
