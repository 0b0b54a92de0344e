/** Probes and lifecycle hooks must target the pod itself: the kubelet, which executes them, can reach hosts that others cannot. */
import type { LifecycleHandler, Probe } from "../../../../api/generated/core/v1.ts";
import {
  containersOf,
  distinct,
  plural,
  quoted,
  theContainers,
  type AnyContainer,
  type Check,
  type CheckedPod,
  type Violation,
} from "../check.ts";

export const hostProbesAndHostLifecycle: Check = {
  id: "hostProbesAndHostLifecycle",
  level: "baseline",
  versions: [{ since: 34, judge }],
};

function judge({ spec }: CheckedPod): Violation | undefined {
  const containers = containersOf(spec);
  const hosts = distinct(containers.flatMap(hostsOf));
  if (hosts.length === 0) return undefined;
  const bad = distinct(containers.filter((container) => hostsOf(container).length > 0).map(({ name }) => name));
  const uses = bad.length === 1 ? "uses" : "use";
  return {
    reason: "probe or lifecycle host",
    detail: `${theContainers(bad)} ${uses} ${plural("probe or lifecycle host", hosts.length)} ${quoted(hosts)}`,
  };
}

function hostsOf({ livenessProbe, readinessProbe, startupProbe, lifecycle }: AnyContainer): readonly string[] {
  const handlers: readonly (Probe | LifecycleHandler | undefined)[] = [
    livenessProbe,
    readinessProbe,
    startupProbe,
    lifecycle?.postStart,
    lifecycle?.preStop,
  ];
  return handlers.flatMap((handler) => [handler?.httpGet?.host ?? "", handler?.tcpSocket?.host ?? ""]).filter((host) => host !== "");
}
