/**
 * The /etc/hosts of a Pod, shared by all its containers: its own names and `hostAliases`. With hostNetwork it is the node's file plus the
 * aliases. Programs recognize the file by its first line, so it is exactly upstream's.
 */
import type { HostAlias } from "../../api/generated/core/v1.ts";

export const HOSTS_PATH = "/etc/hosts";

const MANAGED = "# Kubernetes-managed hosts file.\n";
const MANAGED_OF_NODE = "# Kubernetes-managed hosts file (host network).\n";

/** As upstream writes them, with its two entries for fe00::0. */
const LOCAL_NAMES = [
  "127.0.0.1\tlocalhost\n",
  "::1\tlocalhost ip6-localhost ip6-loopback\n",
  "fe00::0\tip6-localnet\n",
  "fe00::0\tip6-mcastprefix\n",
  "fe00::1\tip6-allnodes\n",
  "fe00::2\tip6-allrouters\n",
].join("");

export interface HostsView {
  readonly podIps: readonly string[];
  readonly hostname: string;
  /** "" if the Pod has no subdomain. */
  readonly domain: string;
  readonly aliases: readonly HostAlias[];
}

export function hostsFile({ podIps, hostname, domain, aliases }: HostsView): string {
  const names = domain === "" ? hostname : `${hostname}.${domain}\t${hostname}`;
  return MANAGED + LOCAL_NAMES + podIps.map((ip) => `${ip}\t${names}\n`).join("") + aliasLines(aliases);
}

export function hostsFileOfNode(nodeHostsFile: string, aliases: readonly HostAlias[]): string {
  return MANAGED_OF_NODE + nodeHostsFile + aliasLines(aliases);
}

function aliasLines(aliases: readonly HostAlias[]): string {
  if (aliases.length === 0) return "";
  const lines = aliases.map(({ ip, hostnames = [] }) => `${ip}\t${hostnames.join("\t")}\n`);
  return `\n# Entries added by HostAliases.\n${lines.join("")}`;
}
