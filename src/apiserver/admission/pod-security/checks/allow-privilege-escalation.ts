/** Containers must forbid privilege escalation, for example by set-user-ID files. */
import { containersThat, isForWindows, theContainers, unless, type Check, type CheckedPod, type Violation } from "../check.ts";

export const allowPrivilegeEscalation: Check = {
  id: "allowPrivilegeEscalation",
  level: "restricted",
  versions: [
    { since: 8, judge },
    { since: 25, judge: unless(isForWindows, judge) },
  ],
};

function judge(pod: CheckedPod): Violation | undefined {
  const bad = containersThat(pod, ({ securityContext }) => securityContext?.allowPrivilegeEscalation !== false);
  if (bad.length === 0) return undefined;
  return {
    reason: "allowPrivilegeEscalation != false",
    detail: `${theContainers(bad)} must set securityContext.allowPrivilegeEscalation=false`,
  };
}
