/** Containers must drop ALL capabilities and may add back only NET_BIND_SERVICE. */
import {
  containersOf,
  containersThat,
  distinct,
  isForWindows,
  quoted,
  theContainers,
  unless,
  type AnyContainer,
  type Check,
  type CheckedPod,
  type Violation,
} from "../check.ts";

const REPLACED = "capabilities_baseline";

export const capabilitiesRestricted: Check = {
  id: "capabilities_restricted",
  level: "restricted",
  versions: [
    { since: 22, judge, replaces: REPLACED },
    { since: 25, judge: unless(isForWindows, judge), replaces: REPLACED },
  ],
};

function judge(pod: CheckedPod): Violation | undefined {
  const keeping = containersThat(pod, ({ securityContext }) => securityContext?.capabilities?.drop?.includes("ALL") !== true);
  const adding = containersThat(pod, (container) => added(container).length > 0);
  const details: string[] = [];
  if (keeping.length > 0) details.push(`${theContainers(keeping)} must set securityContext.capabilities.drop=["ALL"]`);
  if (adding.length > 0) {
    const capabilities = distinct(containersOf(pod.spec).flatMap(added));
    details.push(`${theContainers(adding)} must not include ${quoted(capabilities)} in securityContext.capabilities.add`);
  }
  return details.length === 0 ? undefined : { reason: "unrestricted capabilities", detail: details.join("; ") };
}

function added({ securityContext }: AnyContainer): readonly string[] {
  return (securityContext?.capabilities?.add ?? []).filter((capability) => capability !== "NET_BIND_SERVICE");
}
