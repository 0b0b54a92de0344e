/**
 * DNS configuration of a Pod by its dnsPolicy: the node's resolver, the cluster's DNS, or only `dnsConfig`, which is merged into the
 * others. Nameservers and search domains over the limits of resolvers are dropped with a warning. Not here: writing resolv.conf, which the
 * runtime does.
 */
import type { Pod, PodDNSConfig, PodDNSConfigOption } from "../../api/generated/core/v1.ts";
import { quoteGo } from "../../api/machinery/codec/go-text.ts";
import { DNS_SUBDOMAIN_LENGTH_MAX } from "../../api/machinery/names.ts";
import type { DnsRun } from "../contracts/container-run.ts";
import type { DnsOptions } from "./node-view.ts";
import { describePod } from "./pod-name.ts";

/** Limits of resolvers; upstream's values, which are slightly above glibc's. */
const SERVERS_MAX = 3;
const SEARCHES_MAX = 32;
const SEARCHES_LENGTH_MAX = 2048;

/** Names with fewer dots are tried with the search domains first: a Service's name with its namespace and "svc" has three. */
const CLUSTER_OPTIONS = ["ndots:5"];

const NOTHING: DnsRun = { servers: [], searches: [], options: [] };

/** Warning event to emit for the Pod and, if the node's configuration is the cause, also for the Node. */
export interface DnsWarning {
  readonly reason: "DNSConfigForming" | "MissingClusterDNS";
  readonly message: string;
  readonly nodeMessage?: string;
}

export interface PodDns {
  readonly dns: DnsRun;
  readonly warnings: readonly DnsWarning[];
}

export function dnsOf(pod: Pod, options: DnsOptions, hostIps: readonly string[] = []): PodDns {
  const warnings: DnsWarning[] = [];
  let dns = baseOf(pod, options, { hostIps, warnings });
  if (pod.spec?.dnsConfig !== undefined) dns = withConfig(dns, pod.spec.dnsConfig);
  return { dns: { ...dns, servers: fittingServers(dns.servers, warnings), searches: fittingSearches(dns.searches, warnings) }, warnings };
}

function baseOf(
  pod: Pod,
  { resolver, clusterDns, clusterDomain }: DnsOptions,
  { hostIps, warnings }: { readonly hostIps: readonly string[]; readonly warnings: DnsWarning[] },
): DnsRun {
  const { dnsPolicy = "ClusterFirst", hostNetwork } = pod.spec ?? {};
  if (dnsPolicy === "None") return NOTHING;
  const isByCluster = dnsPolicy === "ClusterFirstWithHostNet" || (dnsPolicy === "ClusterFirst" && hostNetwork !== true);
  if (isByCluster && clusterDns.length > 0) {
    const searches = clusterSearches({ namespace: pod.metadata.namespace ?? "", clusterDomain, ofNode: resolver?.searches ?? [] });
    return { servers: clusterDns, searches, options: CLUSTER_OPTIONS };
  }
  if (isByCluster) warnings.push(missingClusterDns(pod));
  return resolver ?? ofNodeWithoutResolver(hostIps);
}

function clusterSearches(of: { readonly namespace: string; readonly clusterDomain: string; readonly ofNode: readonly string[] }) {
  const { namespace, clusterDomain, ofNode } = of;
  if (clusterDomain === "") return ofNode;
  return once([`${namespace}.svc.${clusterDomain}`, `svc.${clusterDomain}`, clusterDomain, ...ofNode]);
}

/** Loopback, the default of resolvers without a nameserver. Set explicitly, or the runtime would use the node's file. */
function ofNodeWithoutResolver(hostIps: readonly string[]): DnsRun {
  const servers = hostIps.map((ip) => (ip.includes(":") ? "::1" : "127.0.0.1"));
  return { servers: servers.length === 0 ? ["127.0.0.1"] : servers, searches: ["."], options: [] };
}

function missingClusterDns(pod: Pod): DnsWarning {
  const nodeMessage =
    'kubelet does not have ClusterDNS IP configured and cannot create Pod using "ClusterFirst" policy. Falling back to "Default" policy.';
  return { reason: "MissingClusterDNS", message: `pod: ${quoteGo(describePod(pod))}. ${nodeMessage}`, nodeMessage };
}

function withConfig(dns: DnsRun, { nameservers = [], searches = [], options = [] }: PodDNSConfig): DnsRun {
  return {
    servers: once([...dns.servers, ...nameservers]),
    searches: once([...dns.searches, ...searches]),
    options: mergedOptions(dns.options, options),
  };
}

function mergedOptions(written: readonly string[], own: readonly PodDNSConfigOption[]): readonly string[] {
  const merged = new Map<string, string>();
  for (const option of written) {
    const [name = "", ...value] = option.split(":");
    merged.set(name, value.join(":"));
  }
  for (const { name = "", value = "" } of own) merged.set(name, value);
  return [...merged].map(([name, value]) => (value === "" ? name : `${name}:${value}`));
}

function once(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)];
}

function fittingServers(servers: readonly string[], warnings: DnsWarning[]): readonly string[] {
  if (servers.length <= SERVERS_MAX) return servers;
  const fitting = servers.slice(0, SERVERS_MAX);
  const what = "Nameserver limits were exceeded, some nameservers have been omitted, the applied nameserver line is: ";
  warnings.push({ reason: "DNSConfigForming", message: what + fitting.join(" ") });
  return fitting;
}

function fittingSearches(searches: readonly string[], warnings: DnsWarning[]): readonly string[] {
  const fitting = searches.slice(0, SEARCHES_MAX).filter((search) => search.length <= DNS_SUBDOMAIN_LENGTH_MAX);
  while (fitting.join(" ").length > SEARCHES_LENGTH_MAX) fitting.pop();
  if (fitting.length === searches.length) return searches;
  const what = "Search Line limits were exceeded, some search paths have been omitted, the applied search line is: ";
  warnings.push({ reason: "DNSConfigForming", message: what + fitting.join(" ") });
  return fitting;
}

/** Parses a resolv.conf. The last `search` line counts, and the last option of each name. */
export function parseResolvConf(text: string): DnsRun {
  const servers: string[] = [];
  let searches: readonly string[] = [];
  const options = new Map<string, string>();
  for (const line of text.split("\n")) {
    const [word = "", ...values] = line.trim().split(/\s+/);
    if (word === "nameserver" && values[0] !== undefined) servers.push(values[0]);
    // A domain with and without a trailing dot is the same.
    if (word === "search") searches = values.filter((value) => value !== ".").map((value) => value.replace(/\.$/, ""));
    if (word === "options") for (const option of values) options.set(option.split(":")[0] ?? "", option);
  }
  return { servers, searches, options: [...options.values()] };
}
