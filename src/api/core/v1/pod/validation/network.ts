/** Validation of DNS settings, host names, host aliases and host ports of a Pod. */
import type { HostAlias, PodDNSConfig, PodSpec } from "../../../../generated/core/v1.ts";
import { forbidden, invalid, notSupported, required, tooLong, type FieldError } from "../../../../machinery/field-error.ts";
import { validateDnsSubdomainWithUnderscore } from "../../../../machinery/names.ts";
import { dnsLabel, dnsSubdomain, ipAddress } from "./checks.ts";

const DNS_POLICIES = ["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"];
/** Limits of Linux resolvers. */
const NAMESERVERS_MAX = 3;
const SEARCHES_MAX = 32;
const SEARCH_LIST_LENGTH_MAX = 2_048;
/** Maximum length of a Linux host name. */
const HOST_NAME_LENGTH_MAX = 64;

export function* validateDnsPolicy(policy: string | undefined, at: string): Iterable<FieldError> {
  if (!policy) yield required(at);
  else if (!DNS_POLICIES.includes(policy)) yield notSupported(at, policy, DNS_POLICIES);
}

export function* validateDnsConfig(config: PodDNSConfig | undefined, policy: string | undefined, at: string): Iterable<FieldError> {
  if (policy === "None" && config === undefined) return yield required(at, "must provide `dnsConfig` when `dnsPolicy` is None");
  if (policy === "None" && (config?.nameservers ?? []).length === 0) {
    return yield required(`${at}.nameservers`, "must provide at least one DNS nameserver when `dnsPolicy` is None");
  }
  if (config === undefined) return;
  yield* validateNameservers(config.nameservers ?? [], `${at}.nameservers`);
  yield* validateSearches(config.searches ?? [], `${at}.searches`);
  for (const [index, { name }] of (config.options ?? []).entries()) {
    if (!name) yield required(`${at}.options[${index}]`, "must not be empty");
  }
}

function* validateNameservers(nameservers: readonly string[], at: string): Iterable<FieldError> {
  if (nameservers.length > NAMESERVERS_MAX) yield invalid(at, nameservers, `must not have more than ${NAMESERVERS_MAX} nameservers`);
  for (const [index, nameserver] of nameservers.entries()) yield* ipAddress(nameserver, `${at}[${index}]`);
}

function* validateSearches(searches: readonly string[], at: string): Iterable<FieldError> {
  if (searches.length > SEARCHES_MAX) yield invalid(at, searches, `must not have more than ${SEARCHES_MAX} search paths`);
  if (searches.join(" ").length > SEARCH_LIST_LENGTH_MAX) {
    yield invalid(at, searches, `must not have more than ${SEARCH_LIST_LENGTH_MAX} characters (including spaces) in the search list`);
  }
  for (const [index, search] of searches.entries()) {
    if (search === ".") continue;
    const name = search.endsWith(".") ? search.slice(0, -1) : search;
    for (const problem of validateDnsSubdomainWithUnderscore(name)) yield invalid(`${at}[${index}]`, name, problem);
  }
}

export function* validateHostAliases(aliases: readonly HostAlias[], at: string): Iterable<FieldError> {
  for (const [index, { ip, hostnames }] of aliases.entries()) {
    yield* ipAddress(ip ?? "", `${at}[${index}].ip`);
    for (const [position, hostname] of (hostnames ?? []).entries()) yield* dnsSubdomain(hostname, `${at}[${index}].hostnames[${position}]`);
  }
}

export function* validateHostName({ hostname, subdomain }: PodSpec, at: string): Iterable<FieldError> {
  if (hostname) yield* dnsLabel(hostname, `${at}.hostname`);
  if (subdomain) yield* dnsLabel(subdomain, `${at}.subdomain`);
}

/** A fully qualified name cannot be composed of others. */
export function* validateHostNameOverride(spec: PodSpec, at: string): Iterable<FieldError> {
  const { hostnameOverride } = spec;
  if (hostnameOverride === undefined) return;
  const here = `${at}.hostnameOverride`;
  if (spec.setHostnameAsFQDN === true) yield forbidden(here, "may not be specified when setHostnameAsFQDN is true");
  if (spec.hostNetwork === true) yield forbidden(here, "may not be specified when hostNetwork is true");
  if (hostnameOverride.length > HOST_NAME_LENGTH_MAX) yield tooLong(here, HOST_NAME_LENGTH_MAX);
  yield* dnsSubdomain(hostnameOverride, here);
}

/** With hostNetwork a container's port is the node's. A template may omit hostPort: it is defaulted in the Pod. */
export function* validateHostNetworkPorts(spec: PodSpec, at: string, { isPod }: { readonly isPod: boolean }): Iterable<FieldError> {
  if (spec.hostNetwork !== true) return;
  for (const [index, { ports }] of (spec.containers ?? []).entries()) {
    for (const [position, { hostPort = 0, containerPort = 0 }] of (ports ?? []).entries()) {
      if (hostPort === containerPort || (hostPort === 0 && !isPod)) continue;
      const here = `${at}.containers[${index}].ports[${position}].hostPort`;
      yield invalid(here, hostPort, "must match `containerPort` when `hostNetwork` is true");
    }
  }
}
