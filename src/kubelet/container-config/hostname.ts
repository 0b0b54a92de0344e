/**
 * Hostname of a Pod: its name or `hostname`, and with a `subdomain` the domain of its headless Service. A hostname over the kernel's limit
 * is truncated; an FQDN that is to be the hostname (setHostnameAsFQDN) is rejected instead.
 */
import type { Pod } from "../../api/generated/core/v1.ts";
import { withoutTrailing } from "../../base/text.ts";
import { quoteGo } from "../../api/machinery/codec/go-text.ts";
import { validateDnsLabel, validateDnsSubdomain } from "../../api/machinery/names.ts";
import { ContainerConfigError } from "../contracts/pod-machine.ts";

export interface PodHostname {
  /** Without a domain. */
  readonly hostname: string;
  /** "web.default.svc.cluster.local"; "" for none. */
  readonly domain: string;
  /** Hostname set in the kernel (UTS namespace). "" with hostNetwork. */
  readonly ofKernel: string;
}

const HOSTNAME_LENGTH_MAX = 63;
/** Size of the kernel's field without the terminating NUL. */
const FULL_NAME_LENGTH_MAX = 64;

export function hostnameOf(pod: Pod, clusterDomain: string): PodHostname {
  const { hostname, domain } = hostnameAndDomain(pod, clusterDomain);
  if (pod.spec?.hostNetwork === true) return { hostname, domain, ofKernel: "" };
  if (domain === "" || pod.spec?.setHostnameAsFQDN !== true) return { hostname, domain, ofKernel: hostname };
  const full = `${hostname}.${domain}`;
  if (full.length > FULL_NAME_LENGTH_MAX) {
    throw new ContainerConfigError(
      `failed to construct FQDN from pod hostname and cluster domain, FQDN ${full} is too long (${FULL_NAME_LENGTH_MAX} characters is the max, ${full.length} characters requested)`,
    );
  }
  return { hostname, domain, ofKernel: full };
}

function hostnameAndDomain({ metadata, spec }: Pod, clusterDomain: string): Pick<PodHostname, "hostname" | "domain"> {
  const podName = metadata.name;
  if (spec?.hostnameOverride !== undefined) {
    check("HostnameOverride", spec.hostnameOverride, { is: "subdomain", wrong: validateDnsSubdomain(spec.hostnameOverride) });
    return { hostname: cut(spec.hostnameOverride, podName), domain: "" };
  }
  const { hostname = "", subdomain = "" } = spec ?? {};
  if (hostname !== "") check("Hostname", hostname, { is: "label", wrong: validateDnsLabel(hostname) });
  if (subdomain !== "") check("Subdomain", subdomain, { is: "label", wrong: validateDnsLabel(subdomain) });
  return {
    hostname: cut(hostname === "" ? podName : hostname, podName),
    domain: subdomain === "" ? "" : `${subdomain}.${metadata.namespace}.svc.${clusterDomain}`,
  };
}

function check(
  field: string,
  value: string,
  { is, wrong }: { readonly is: "label" | "subdomain"; readonly wrong: readonly string[] },
): void {
  if (wrong.length > 0) throw new ContainerConfigError(`pod ${field} ${quoteGo(value)} is not a valid DNS ${is}: ${wrong.join(";")}`);
}

function cut(hostname: string, podName: string): string {
  if (hostname.length <= HOSTNAME_LENGTH_MAX) return hostname;
  const short = withoutTrailing(hostname.slice(0, HOSTNAME_LENGTH_MAX), "-.");
  if (short === "") throw new ContainerConfigError(`hostname for pod ${quoteGo(podName)} was invalid: ${quoteGo(hostname)}`);
  return short;
}
