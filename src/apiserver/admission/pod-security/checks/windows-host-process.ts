/** Windows HostProcess containers are forbidden: they are not isolated from the node. */
import { containersThat, setters, type Check, type CheckedPod, type Violation } from "../check.ts";

export const windowsHostProcess: Check = { id: "windowsHostProcess", level: "baseline", versions: [{ since: 0, judge }] };

function judge(pod: CheckedPod): Violation | undefined {
  const containers = containersThat(pod, ({ securityContext }) => securityContext?.windowsOptions?.hostProcess === true);
  const who = setters({ pod: pod.spec.securityContext?.windowsOptions?.hostProcess === true, containers });
  if (who.length === 0) return undefined;
  return { reason: "hostProcess", detail: `${who.join(" and ")} must not set securityContext.windowsOptions.hostProcess=true` };
}
