/** Pods must not use host ports. */
import {
  containersOf,
  containersThat,
  distinct,
  plural,
  theContainers,
  type AnyContainer,
  type Check,
  type CheckedPod,
  type Violation,
} from "../check.ts";

export const hostPorts: Check = { id: "hostPorts", level: "baseline", versions: [{ since: 0, judge }] };

function judge(pod: CheckedPod): Violation | undefined {
  const bad = containersThat(pod, (container) => portsOf(container).length > 0);
  if (bad.length === 0) return undefined;
  // Sorted as strings, as upstream does.
  const ports = distinct(containersOf(pod.spec).flatMap(portsOf));
  const uses = bad.length === 1 ? "uses" : "use";
  return { reason: "hostPort", detail: `${theContainers(bad)} ${uses} ${plural("hostPort", ports.length)} ${ports.join(", ")}` };
}

function portsOf({ ports = [] }: AnyContainer): readonly string[] {
  return ports.flatMap(({ hostPort = 0 }) => (hostPort === 0 ? [] : [String(hostPort)]));
}
