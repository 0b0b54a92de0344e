/** Validation of DNS settings, host names, host aliases and host ports of a Pod. */
import type { HostAlias, PodDNSConfig, PodSpec } from "../../../../generated/core/v1.ts";
import { forbidden, invalid, notSupported, required, tooLong } from "../../../../machinery/field-error.ts";
import type { FieldErrors } from "../../../../machinery/findings.ts";
import { validateDnsSubdomainWithUnderscore } from "../../../../machinery/names.ts";
import { dnsLabel, dnsSubdomain, ipAddress } from "./checks.ts";

const DNS_POLICIES = ["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"];
/** Limits of Linux resolvers. */
const NAMESERVERS_MAX = 3;
const SEARCHES_MAX = 32;
const SEARCH_LIST_LENGTH_MAX = 2_048;
/** Maximum length of a Linux host name. */
const HOST_NAME_LENGTH_MAX = 64;

export function validateDnsPolicy(errors: FieldErrors, policy: string | undefined, at: string): void {
  if (!policy) errors.add(required(at));
  else if (!DNS_POLICIES.includes(policy)) errors.add(notSupported(at, policy, DNS_POLICIES));
}

export function validateDnsConfig(errors: FieldErrors, config: PodDNSConfig | undefined, policy: string | undefined, at: string): void {
  if (policy === "None" && config === undefined) return errors.add(required(at, "must provide `dnsConfig` when `dnsPolicy` is None"));
  if (policy === "None" && (config?.nameservers ?? []).length === 0) {
    return errors.add(required(`${at}.nameservers`, "must provide at least one DNS nameserver when `dnsPolicy` is None"));
  }
  if (config === undefined) return;
  validateNameservers(errors, config.nameservers ?? [], `${at}.nameservers`);
  validateSearches(errors, config.searches ?? [], `${at}.searches`);
  for (const [index, { name }] of (config.options ?? []).entries()) {
    if (!name) errors.add(required(`${at}.options[${index}]`, "must not be empty"));
  }
}

function validateNameservers(errors: FieldErrors, nameservers: readonly string[], at: string): void {
  if (nameservers.length > NAMESERVERS_MAX) errors.add(invalid(at, nameservers, `must not have more than ${NAMESERVERS_MAX} nameservers`));
  for (const [index, nameserver] of nameservers.entries()) errors.addAll(ipAddress(nameserver, `${at}[${index}]`));
}

function validateSearches(errors: FieldErrors, searches: readonly string[], at: string): void {
  if (searches.length > SEARCHES_MAX) errors.add(invalid(at, searches, `must not have more than ${SEARCHES_MAX} search paths`));
  if (searches.join(" ").length > SEARCH_LIST_LENGTH_MAX) {
    errors.add(invalid(at, searches, `must not have more than ${SEARCH_LIST_LENGTH_MAX} characters (including spaces) in the search list`));
  }
  for (const [index, search] of searches.entries()) {
    if (search === ".") continue;
    const name = search.endsWith(".") ? search.slice(0, -1) : search;
    for (const problem of validateDnsSubdomainWithUnderscore(name)) errors.add(invalid(`${at}[${index}]`, name, problem));
  }
}

export function validateHostAliases(errors: FieldErrors, aliases: readonly HostAlias[], at: string): void {
  for (const [index, { ip, hostnames }] of aliases.entries()) {
    errors.addAll(ipAddress(ip ?? "", `${at}[${index}].ip`));
    for (const [position, hostname] of (hostnames ?? []).entries())
      errors.addAll(dnsSubdomain(hostname, `${at}[${index}].hostnames[${position}]`));
  }
}

export function validateHostName(errors: FieldErrors, { hostname, subdomain }: PodSpec, at: string): void {
  if (hostname) errors.addAll(dnsLabel(hostname, `${at}.hostname`));
  if (subdomain) errors.addAll(dnsLabel(subdomain, `${at}.subdomain`));
}

/** A fully qualified name cannot be composed of others. */
export function validateHostNameOverride(errors: FieldErrors, spec: PodSpec, at: string): void {
  const { hostnameOverride } = spec;
  if (hostnameOverride === undefined) return;
  const here = `${at}.hostnameOverride`;
  if (spec.setHostnameAsFQDN === true) errors.add(forbidden(here, "may not be specified when setHostnameAsFQDN is true"));
  if (spec.hostNetwork === true) errors.add(forbidden(here, "may not be specified when hostNetwork is true"));
  if (hostnameOverride.length > HOST_NAME_LENGTH_MAX) errors.add(tooLong(here, HOST_NAME_LENGTH_MAX));
  errors.addAll(dnsSubdomain(hostnameOverride, here));
}

/** With hostNetwork a container's port is the node's. A template may omit hostPort: it is defaulted in the Pod. */
export function validateHostNetworkPorts(errors: FieldErrors, spec: PodSpec, at: string, { isPod }: { readonly isPod: boolean }): void {
  if (spec.hostNetwork !== true) return;
  for (const [index, { ports }] of (spec.containers ?? []).entries()) {
    for (const [position, { hostPort = 0, containerPort = 0 }] of (ports ?? []).entries()) {
      if (hostPort === containerPort || (hostPort === 0 && !isPod)) continue;
      const here = `${at}.containers[${index}].ports[${position}].hostPort`;
      errors.add(invalid(here, hostPort, "must match `containerPort` when `hostNetwork` is true"));
    }
  }
}
