/**
 * Containers must use the default /proc mask. From 1.35 on "baseline" permits an unmasked /proc in user namespaces; "restricted" does not.
 */
import {
  containersOf,
  containersThat,
  distinct,
  hasOwnUsers,
  quoted,
  theContainers,
  unless,
  type AnyContainer,
  type Check,
  type CheckedPod,
  type Violation,
} from "../check.ts";

const ID = "procMount";

export const procMount: Check = {
  id: ID,
  level: "baseline",
  versions: [
    { since: 0, judge },
    { since: 35, judge: unless(hasOwnUsers, judge) },
  ],
};

export const procMountRestricted: Check = {
  id: "procMount_restricted",
  level: "restricted",
  versions: [{ since: 35, judge, replaces: ID }],
};

function judge(pod: CheckedPod): Violation | undefined {
  const bad = containersThat(pod, (container) => mountOf(container) !== "Default");
  if (bad.length === 0) return undefined;
  const mounts = distinct(containersOf(pod.spec).map(mountOf)).filter((mount) => mount !== "Default");
  return { reason: "procMount", detail: `${theContainers(bad)} must not set securityContext.procMount to ${quoted(mounts)}` };
}

function mountOf({ securityContext }: AnyContainer): string {
  return securityContext?.procMount ?? "Default";
}
