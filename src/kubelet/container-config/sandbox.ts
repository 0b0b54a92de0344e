/** Computes a Pod's sandbox configuration: network, namespaces, cgroup and sysctls. Pure: the result is data. */
import type { ContainerPort, Pod } from "../../api/generated/core/v1.ts";
import type { PortMapping, SandboxRun } from "../contracts/container-run.ts";
import { dnsOf, type DnsWarning } from "./dns.ts";
import { hostnameOf } from "./hostname.ts";
import { sandboxLabels } from "./container-labels.ts";
import type { NodeView } from "./node-view.ts";
import { podCgroup } from "./pod-cgroup.ts";
import { sandboxResources } from "./resources.ts";
import { sandboxSecurity } from "./security.ts";
import { sysctlsOf } from "./sysctls.ts";

export interface SandboxView {
  readonly pod: Pod;
  readonly node: NodeView;
  /** Handler of the Pod's RuntimeClass; "" for the default. */
  readonly runtimeHandler: string;
}

/** `dnsWarnings` are to be emitted as events of the Pod. */
export function sandboxRun({ pod, node, runtimeHandler }: SandboxView): SandboxRun {
  return {
    hostname: hostnameOf(pod, node.dns.clusterDomain).ofKernel,
    logDirectory: podLogDirectory(pod, node.directories.logs),
    dns: dnsOf(pod, node.dns, node.hostIps).dns,
    portMappings: portMappingsOf(pod),
    labels: sandboxLabels(pod),
    annotations: pod.metadata.annotations ?? {},
    cgroupParent: podCgroup(pod, node.cgroups).path,
    sysctls: sysctlsOf(pod),
    security: sandboxSecurity(pod),
    runtimeHandler,
    resources: sandboxResources(pod),
  };
}

export function dnsWarnings({ pod, node }: Pick<SandboxView, "pod" | "node">): readonly DnsWarning[] {
  return dnsOf(pod, node.dns, node.hostIps).warnings;
}

/** "/var/log/pods/default_web-0_<uid>" */
export function podLogDirectory({ metadata: { namespace = "", name, uid = "" } }: Pod, root: string): string {
  return `${root}/${namespace}_${name}_${uid}`;
}

/** The Pod that a log directory belongs to. */
export function uidOfLogs(directory: string): string {
  return directory.slice(directory.lastIndexOf("_") + 1);
}

/** Port mappings of hostPorts. None with hostNetwork, where the Pod's ports are the node's. */
export function portMappingsOf({ spec }: Pod): readonly PortMapping[] {
  if (spec?.hostNetwork === true) return [];
  return (spec?.containers ?? []).flatMap(({ ports = [] }) => mappingsOf(ports));
}

/** A duplicate name or entry within a container counts once. */
function mappingsOf(ports: readonly ContainerPort[]): readonly PortMapping[] {
  const mappings = new Map<string, PortMapping>();
  for (const { name = "", hostPort = 0, containerPort, protocol = "TCP", hostIP = "" } of ports) {
    const key = name === "" ? `${protocol}-${hostIP}:${containerPort}:${hostPort}` : name;
    if (hostPort !== 0 && !mappings.has(key)) mappings.set(key, { protocol, containerPort, hostPort, hostIp: hostIP });
  }
  return [...mappings.values()];
}
