/**
 * Sysctls that a Pod may set in its own namespaces. Unless the node's operator allows more, only the safe ones, which affect no other Pod;
 * others are rejected. Names are written with dots or slashes; the first separator decides.
 */
import type { Pod } from "../../api/generated/core/v1.ts";
import { quoteGo } from "../../api/machinery/codec/go-text.ts";

/** Upstream also checks the kernel version; every kernel that runs Node.js has all of these namespaced. */
const SAFE = [
  "kernel.shm_rmid_forced",
  "net.ipv4.ip_local_port_range",
  "net.ipv4.tcp_syncookies",
  "net.ipv4.ping_group_range",
  "net.ipv4.ip_unprivileged_port_start",
  "net.ipv4.ip_local_reserved_ports",
  "net.ipv4.tcp_keepalive_time",
  "net.ipv4.tcp_fin_timeout",
  "net.ipv4.tcp_keepalive_intvl",
  "net.ipv4.tcp_keepalive_probes",
  "net.ipv4.tcp_rmem",
  "net.ipv4.tcp_wmem",
];

/** Returns why the first forbidden sysctl is rejected, in upstream's words. `allowedUnsafe` holds names, or prefixes that end in `*`. */
export function forbiddenSysctl({ spec }: Pod, allowedUnsafe: readonly string[] = []): string | undefined {
  const allowed = [...SAFE, ...allowedUnsafe.map(dotted)];
  for (const { name } of spec?.securityContext?.sysctls ?? []) {
    const why = refusalOf(dotted(name), allowed, { network: spec?.hostNetwork === true, ipc: spec?.hostIPC === true });
    if (why !== undefined) return `forbidden sysctl: ${quoteGo(dotted(name))} ${why}`;
  }
  return undefined;
}

interface OfNode {
  readonly network: boolean;
  readonly ipc: boolean;
}

function refusalOf(name: string, allowed: readonly string[], ofNode: OfNode): string | undefined {
  if (!allowed.some((pattern) => (pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : name === pattern)))
    return "not allowlisted";
  // In the host's namespace it would change the node's setting.
  const namespace = name.startsWith("net.") ? "net" : "ipc";
  return (namespace === "net" ? ofNode.network : ofNode.ipc) ? `not allowed with host ${namespace} enabled` : undefined;
}

/** "net/ipv4/conf/eth0.100/rp_filter" is "net.ipv4.conf.eth0/100.rp_filter": dots and slashes are swapped. */
export function dotted(name: string): string {
  if (!/^[^./]*\//.test(name)) return name;
  return name.replace(/[./]/g, (separator) => (separator === "." ? "/" : "."));
}

/** By their names with dots, as runtimes expect them. */
export function sysctlsOf({ spec }: Pod): Readonly<Record<string, string>> {
  return Object.fromEntries((spec?.securityContext?.sysctls ?? []).map(({ name, value }) => [dotted(name), value]));
}
