/**
 * Flags of `k8ts kubelet`: the supported ones of upstream, and their combinations. The defaults are those of upstream's
 * KubeletConfiguration, which are secure; upstream's flags without --config default to unauthenticated access. Not here: the file
 * (kubelet-config-file.ts).
 */
import type { ResourceList } from "../api/core/v1/pod/resource-list.ts";
import { addQuantities, formatQuantity, parseQuantity } from "../api/machinery/quantity.ts";
import { cidrContains, parseCidr, parseIp, unmapIp } from "../api/machinery/ip/ip-address.ts";
import { validateDnsSubdomain, validateLabelValue, validateQualifiedName } from "../api/machinery/names.ts";
import { KUBELET_PORT } from "../kubelet/server/kubelet-server.ts";
import type { NodeFacts } from "../kubelet/node/node-facts.ts";
import { connectionFlags } from "./connection-flags.ts";
import { oneOf, type FlagSet, type FlagValues } from "../cli/framework/flags.ts";
import { fileCheck, pairFileChecks, type FileCheck } from "../cli/framework/check-files.ts";
import { readAuthorities, readServingFiles, SERVING_FLAGS } from "./certificate-files.ts";
import { kubeletPressureProblems, nodePressureFlags, pressureFileFlags, softPressureFlags } from "./kubelet/pressure-flags.ts";

const PORT_MAX = 65_535;
/** Upstream's. */
const HEALTH_PORT = 10_248;
const PODS_MAX = 110;

const EFFECTS = ["NoSchedule", "PreferNoSchedule", "NoExecute"] as const;

/** Resources that can be reserved. */
const RESERVABLE = ["cpu", "memory", "ephemeral-storage", "pid"];

export const isAddress = (text: string): string | undefined =>
  parseIp(text) === undefined ? "an IP address such as 192.0.2.10" : undefined;

/**
 * Addresses that are not unicast addresses of one machine: unspecified, link-local, multicast. Loopback is allowed, for clusters on one
 * machine.
 */
const OF_NO_NODE = ["0.0.0.0/32", "169.254.0.0/16", "224.0.0.0/4", "255.255.255.255/32", "::/128", "fe80::/10", "ff00::/8"].flatMap(
  (range) => parseCidr(range) ?? [],
);

/** Address at which other machines reach the node. 0.0.0.0 is valid to listen on, but not to connect to. */
export function nodeAddressExpected(text: string): string | undefined {
  const parsed = parseIp(text);
  if (parsed === undefined) return isAddress(text);
  const address = unmapIp(parsed);
  if (!OF_NO_NODE.some((range) => cidrContains(range, address))) return undefined;
  return "a unicast IP address such as 192.0.2.10 (leave it out to detect one)";
}

/** Flags of the HTTPS server: address, certificate, authentication and authorization. */
export const kubeletServingFlags = {
  address: {
    type: "string",
    placeholder: "ADDRESS",
    default: "0.0.0.0",
    doc: "IP address of the HTTPS server. 0.0.0.0 and :: mean all addresses of this machine.",
    expects: isAddress,
  },
  port: { type: "number", min: 0, max: PORT_MAX, default: KUBELET_PORT, doc: "HTTPS port. 0 picks a free port." },
  "tls-cert-file": {
    type: "string",
    placeholder: "FILE",
    doc: "TLS certificate (PEM) of the HTTPS server. Requires --tls-private-key-file. Default: a self-signed certificate, generated in --cert-dir.",
  },
  "tls-private-key-file": { type: "string", placeholder: "FILE", doc: "Private key (PEM) of --tls-cert-file." },
  "client-ca-file": {
    type: "string",
    placeholder: "FILE",
    doc: "CA certificates (PEM) that client certificates are verified with. Default: client certificates are not accepted.",
  },
  "anonymous-auth": { type: "boolean", doc: "Treat requests without credentials as system:anonymous." },
  "authentication-token-webhook": { type: "boolean", default: true, doc: "Authenticate bearer tokens with the TokenReview API." },
  "authorization-mode": {
    type: "choice",
    of: ["AlwaysAllow", "Webhook"],
    default: "Webhook",
    doc: "Authorization mode of the kubelet's API: Webhook uses SubjectAccessReview, AlwaysAllow permits every request.",
  },
} as const satisfies FlagSet;

export type KubeletServingValues = FlagValues<typeof kubeletServingFlags>;

/** Prefix of rules, tables and sets in the kernel, unique per cluster and node on a machine. */
export const KERNEL_OWNER = /^[a-z0-9]{1,6}$/;

export const kubeletCommandFlags = {
  ...connectionFlags,
  config: {
    type: "string",
    placeholder: "FILE",
    doc: "KubeletConfiguration file (kubelet.config.k8s.io/v1beta1), YAML or JSON. Flags override it.",
  },
  "hostname-override": {
    type: "string",
    placeholder: "NAME",
    doc: "Name of this node. Default: the host name in lower case.",
    expects: (name) => (validateDnsSubdomain(name).length === 0 ? undefined : 'a name of lower-case letters, digits, "-" and "."'),
  },
  "node-ip": {
    type: "list",
    placeholder: "ADDRESS,...",
    doc: "IP addresses of the node: one, or an IPv4 and an IPv6 address. Default: an address of this machine's network.",
    expects: nodeAddressExpected,
  },
  "node-labels": {
    type: "list",
    placeholder: "NAME=VALUE,...",
    doc: "Labels to add to the Node object.",
    expects: labelExpected,
  },
  "register-with-taints": {
    type: "list",
    placeholder: "NAME=VALUE:EFFECT,...",
    doc: "Taints to register the Node object with.",
    expects: (taint) =>
      parseTaint(taint) === undefined ? `a taint such as dedicated=db:NoSchedule, with the effect ${oneOf(EFFECTS)}` : undefined,
  },
  "container-runtime-endpoint": {
    type: "string",
    placeholder: "ENDPOINT",
    doc: "CRI socket of the container runtime, such as unix:///run/containerd/containerd.sock. Default: the first of containerd, CRI-O and cri-dockerd that responds.",
    expects: (endpoint) => (/^(unix:\/\/)?\/./.test(endpoint) ? undefined : "a socket such as unix:///run/containerd/containerd.sock"),
  },
  "root-dir": {
    type: "string",
    placeholder: "DIRECTORY",
    default: "/var/lib/kubelet",
    doc: "Directory of the kubelet's state, such as Pod volumes.",
  },
  "cert-dir": {
    type: "string",
    placeholder: "DIRECTORY",
    doc: "Directory of the generated certificate kubelet.crt and its key kubelet.key. Default: pki in --root-dir.",
  },
  "pod-cidr": {
    type: "string",
    placeholder: "CIDR[,CIDR]",
    doc: "CIDR of Pod IPs; for dual stack an IPv4 and an IPv6 CIDR, the primary one first. Used to configure a Pod network if the container runtime has none.",
    expects: (text) => (hasPodFamilies(text.split(",")) ? undefined : "an IPv4 CIDR such as 10.244.1.0/24, or one of each family"),
  },
  "network-policy-owner": {
    type: "string",
    placeholder: "NAME",
    doc: "Enforce NetworkPolicies for this node's Pods, with rules of this name in the kernel, and start no Pod before its rules exist. Default: policies are not enforced by this process.",
    expects: (text) => (KERNEL_OWNER.test(text) ? undefined : "1 to 6 lower-case letters and digits"),
  },
  "pod-bridge": {
    type: "string",
    placeholder: "LINK",
    doc: "Bridge of the node's Pods, for --network-policy-owner. Default: packets between Pods of this node are routed.",
  },
  "local-path-dir": {
    type: "string",
    placeholder: "DIRECTORY",
    doc: "Provision volumes of StorageClasses with the provisioner k8ts.dev/local-path in this directory. Default: no volumes are provisioned by this process.",
  },
  "max-pods": { type: "number", min: 1, default: PODS_MAX, doc: "Maximum number of Pods on this node." },
  "cluster-dns": {
    type: "list",
    placeholder: "ADDRESS,...",
    doc: "IP addresses of the cluster's DNS servers, for the resolv.conf of Pods.",
    expects: isAddress,
  },
  "cluster-domain": {
    type: "string",
    placeholder: "DOMAIN",
    doc: "DNS domain of the cluster, for the search path of Pods. Default: none.",
  },
  "cgroup-root": {
    type: "string",
    placeholder: "CGROUP",
    default: "/",
    doc: "Parent cgroup of all Pods. Must be unique among kubelets that share a container runtime, because it also identifies their Pods.",
    expects: (path) => (path.startsWith("/") ? undefined : "a path such as /second"),
  },
  "system-reserved": reservedFlag("non-Kubernetes processes"),
  "kube-reserved": reservedFlag("Kubernetes components"),
  ...nodePressureFlags,
  ...softPressureFlags,
  ...kubeletServingFlags,
  "healthz-port": {
    type: "number",
    min: 0,
    max: PORT_MAX,
    default: HEALTH_PORT,
    doc: "Port of GET /healthz over plain HTTP. 0 disables it.",
  },
  "healthz-bind-address": {
    type: "string",
    placeholder: "ADDRESS",
    default: "127.0.0.1",
    doc: "IP address of GET /healthz.",
    expects: isAddress,
  },
} as const satisfies FlagSet;

/** Fields that only the file has. */
export const kubeletFileFlags = {
  "pod-logs-dir": { type: "string", default: "/var/log/pods", doc: "Directory of Pod logs." },
  ...pressureFileFlags,
} as const satisfies FlagSet;

export type KubeletFlagValues = FlagValues<typeof kubeletCommandFlags & typeof kubeletFileFlags>;

function reservedFlag(forWhom: string) {
  return {
    type: "list",
    placeholder: "RESOURCE=QUANTITY,...",
    doc: `Resources reserved for ${forWhom} and thus not allocatable to Pods, such as cpu=200m,memory=500Mi.`,
    expects: (text: string) => (isReserved(text) ? undefined : `a quantity of ${oneOf(RESERVABLE)} such as cpu=200m`),
  } as const;
}

/** Invalid combinations, in terms of the flags. */
export function kubeletProblems(values: KubeletFlagValues): readonly string[] {
  const problems = [...kubeletServingProblems(values), ...kubeletPressureProblems(values)];
  const families = values["node-ip"].map((address) => parseIp(address)?.family);
  if (families.length > 2 || (families.length === 2 && families[0] === families[1]))
    problems.push("--node-ip must be one address, or an IPv4 and an IPv6 address");
  return problems;
}

/** Files of the server's certificate. */
export type KubeletServingFiles = Pick<KubeletServingValues, "tls-cert-file" | "tls-private-key-file" | "client-ca-file">;

export function kubeletServingProblems(values: KubeletServingFiles): readonly string[] {
  const isOneMissing = (values["tls-cert-file"] === undefined) !== (values["tls-private-key-file"] === undefined);
  return isOneMissing ? ["--tls-cert-file and --tls-private-key-file must be set together"] : [];
}

export function kubeletFileChecks(values: KubeletServingFiles): readonly FileCheck[] {
  const { "tls-cert-file": certificate, "tls-private-key-file": key } = values;
  return [
    ...pairFileChecks({ certificate, key }, SERVING_FLAGS, readServingFiles),
    ...fileCheck(values["client-ca-file"], (path) => readAuthorities(path, "--client-ca-file")),
  ];
}

/** "dedicated=db:NoSchedule", "dedicated:NoSchedule". Undefined if invalid. */
export function parseTaint(text: string): NonNullable<NodeFacts["taints"]>[number] | undefined {
  const [, key = "", value = "", written = ""] = /^([^=:]+)(?:=([^:]*))?:([^:]+)$/.exec(text) ?? [];
  const effect = EFFECTS.find((one) => one === written);
  if (effect === undefined || validateQualifiedName(key).length > 0 || validateLabelValue(value).length > 0) return undefined;
  return { key, effect, ...(value === "" ? {} : { value }) };
}

/** From individually validated elements: "zone=a". */
export function pairsOf(elements: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(elements.map(pairOf));
}

/** Sum of all reservations. */
export function reservedOf(elements: readonly string[]): ResourceList {
  const sums = new Map<string, string>();
  for (const [name, quantity] of elements.map(pairOf)) {
    const before = sums.get(name);
    sums.set(name, before === undefined ? quantity : formatQuantity(addQuantities(parseQuantity(before), parseQuantity(quantity))));
  }
  return Object.fromEntries(sums);
}

function pairOf(element: string): readonly [string, string] {
  const equals = element.indexOf("=");
  return equals === -1 ? [element, ""] : [element.slice(0, equals), element.slice(equals + 1)];
}

function isReserved(text: string): boolean {
  const [name, quantity] = pairOf(text);
  try {
    return RESERVABLE.includes(name) && parseQuantity(quantity).unscaled >= 0n;
  } catch {
    return false;
  }
}

/** Kubernetes labels that a kubelet may set itself, as upstream. */
const OWN_PREFIXES = ["kubelet.kubernetes.io", "node.kubernetes.io"];
const OWN_LABELS = new Set([
  ...["kubernetes.io/hostname", "kubernetes.io/arch", "kubernetes.io/os", "beta.kubernetes.io/arch", "beta.kubernetes.io/os"],
  ...["beta.kubernetes.io/instance-type", "node.kubernetes.io/instance-type"],
  ...["topology.kubernetes.io/region", "topology.kubernetes.io/zone"],
  ...["failure-domain.beta.kubernetes.io/region", "failure-domain.beta.kubernetes.io/zone"],
]);

function labelExpected(text: string): string | undefined {
  const [name, value] = pairOf(text);
  if (validateQualifiedName(name).length > 0 || validateLabelValue(value).length > 0) return "a label such as disk=ssd";
  const namespace = name.includes("/") ? (name.split("/")[0] ?? "") : "";
  if (!/(^|\.)(kubernetes|k8s)\.io$/.test(namespace) || OWN_LABELS.has(name)) return undefined;
  if (OWN_PREFIXES.some((prefix) => namespace === prefix || namespace.endsWith(`.${prefix}`))) return undefined;
  return "a label that a kubelet is allowed to set: in kubernetes.io and k8s.io only kubelet.kubernetes.io and node.kubernetes.io";
}

/** One IPv4 CIDR, and at most one of IPv6. */
function hasPodFamilies(podCidrs: readonly string[]): boolean {
  const families = podCidrs.map((podCidr) => parseCidr(podCidr)?.address.family);
  return families.length <= 2 && families.filter((family) => family === 4).length === 1 && !families.includes(undefined);
}
