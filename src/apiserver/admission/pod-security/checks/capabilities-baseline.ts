/** No capabilities beyond the defaults of container runtimes, and not NET_RAW, which allows packet forging. */
import {
  containersOf,
  containersThat,
  distinct,
  quoted,
  theContainers,
  type AnyContainer,
  type Check,
  type CheckedPod,
  type Violation,
} from "../check.ts";

const ALLOWED = [
  "AUDIT_WRITE",
  "CHOWN",
  "DAC_OVERRIDE",
  "FOWNER",
  "FSETID",
  "KILL",
  "MKNOD",
  "NET_BIND_SERVICE",
  "SETFCAP",
  "SETGID",
  "SETPCAP",
  "SETUID",
  "SYS_CHROOT",
];

export const capabilitiesBaseline: Check = { id: "capabilities_baseline", level: "baseline", versions: [{ since: 0, judge }] };

function judge(pod: CheckedPod): Violation | undefined {
  const bad = containersThat(pod, (container) => forbidden(container).length > 0);
  if (bad.length === 0) return undefined;
  const capabilities = distinct(containersOf(pod.spec).flatMap(forbidden));
  return {
    reason: "non-default capabilities",
    detail: `${theContainers(bad)} must not include ${quoted(capabilities)} in securityContext.capabilities.add`,
  };
}

function forbidden({ securityContext }: AnyContainer): readonly string[] {
  return (securityContext?.capabilities?.add ?? []).filter((capability) => !ALLOWED.includes(capability));
}
