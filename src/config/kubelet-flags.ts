/**
 * What `k8ts kubelet` can be told on its command line: upstream's flags, as far as there is something behind them here, and what they mean
 * together. The defaults are those of upstream's KubeletConfiguration, which are safe; upstream's own flags have others as long as there is
 * no --config: then everybody may ask a kubelet for everything.
 * Not here: the file (kubelet-config-file.ts).
 */
import type { ResourceList } from "../api/core/v1/pod/resource-list.ts";
import { addQuantities, formatQuantity, parseQuantity } from "../api/machinery/quantity.ts";
import { cidrContains, parseCidr, parseIp, unmapIp } from "../api/machinery/ip-address.ts";
import { validateDnsSubdomain, validateLabelValue, validateQualifiedName } from "../api/machinery/names.ts";
import { KUBELET_PORT } from "../kubelet/server/kubelet-server.ts";
import type { NodeFacts } from "../kubelet/node/node-facts.ts";
import { connectionFlags } from "./connection-flags.ts";
import { oneOf, type FlagSet, type FlagValues } from "../cli/framework/flags.ts";
import { fileLook, pairLooks, type Look } from "../cli/framework/check-files.ts";
import { readAuthorities, readServingFiles, SERVING_FLAGS } from "./certificate-files.ts";

const PORT_MAX = 65_535;
/** Upstream's. */
const HEALTH_PORT = 10_248;
const PODS_MAX = 110;

const EFFECTS = ["NoSchedule", "PreferNoSchedule", "NoExecute"] as const;

/** What may be reserved of a node. */
const RESERVABLE = ["cpu", "memory", "ephemeral-storage", "pid"];

export const isAddress = (text: string): string | undefined =>
  parseIp(text) === undefined ? "an IP address such as 192.0.2.10" : undefined;

/** All that is no address of one machine: any, those of one link only, those of many. Loopback is one, for clusters on one machine. */
const OF_NO_NODE = ["0.0.0.0/32", "169.254.0.0/16", "224.0.0.0/4", "255.255.255.255/32", "::/128", "fe80::/10", "ff00::/8"].flatMap(
  (range) => parseCidr(range) ?? [],
);

/** Where others find a node. To listen on, 0.0.0.0 is fine; nobody can be sent there. */
export function nodeAddressExpected(text: string): string | undefined {
  const parsed = parseIp(text);
  if (parsed === undefined) return isAddress(text);
  const address = unmapIp(parsed);
  if (!OF_NO_NODE.some((range) => cidrContains(range, address))) return undefined;
  return "an address of one machine such as 192.0.2.10 (leave it out, and one is chosen)";
}

/** Of the HTTPS server: where it listens, with what it shows who it is, and who may ask it for what. */
export const kubeletServingFlags = {
  address: {
    type: "string",
    placeholder: "ADDRESS",
    default: "0.0.0.0",
    doc: "Address to listen on with HTTPS. 0.0.0.0 and :: stand for all addresses of this machine.",
    expects: isAddress,
  },
  port: { type: "number", min: 0, max: PORT_MAX, default: KUBELET_PORT, doc: "Port for HTTPS. 0 takes any that is free." },
  "tls-cert-file": {
    type: "string",
    placeholder: "FILE",
    doc: "Certificate of the HTTPS server, PEM. Needs --tls-private-key-file. Default: one is made that signs itself, in --cert-dir.",
  },
  "tls-private-key-file": { type: "string", placeholder: "FILE", doc: "Private key of --tls-cert-file, PEM." },
  "client-ca-file": {
    type: "string",
    placeholder: "FILE",
    doc: "Authorities that have signed the certificates of clients, PEM. Default: certificates of clients count for nothing.",
  },
  "anonymous-auth": { type: "boolean", doc: "Takes requests of who shows nothing as those of system:anonymous." },
  "authentication-token-webhook": { type: "boolean", default: true, doc: "Asks the API server whose token was shown." },
  "authorization-mode": {
    type: "choice",
    of: ["AlwaysAllow", "Webhook"],
    default: "Webhook",
    doc: "Who may ask for what: the API server is asked, or everybody may.",
  },
} as const satisfies FlagSet;

export type KubeletServingValues = FlagValues<typeof kubeletServingFlags>;

export const kubeletCommandFlags = {
  ...connectionFlags,
  config: {
    type: "string",
    placeholder: "FILE",
    doc: "A KubeletConfiguration (kubelet.config.k8s.io/v1beta1) in YAML or JSON. What is typed as well wins over it.",
  },
  "hostname-override": {
    type: "string",
    placeholder: "NAME",
    doc: "What this machine is called as a node. Default: its host name, in lower case.",
    expects: (name) => (validateDnsSubdomain(name).length === 0 ? undefined : 'a name of lower case letters, digits, "-" and "."'),
  },
  "node-ip": {
    type: "list",
    placeholder: "ADDRESS,...",
    doc: "Where the node is reached: one address, or one of IPv4 and one of IPv6. Default: one of this machine's network.",
    expects: nodeAddressExpected,
  },
  "node-labels": {
    type: "list",
    placeholder: "NAME=VALUE,...",
    doc: "Labels of the Node beside those that every Node has.",
    expects: labelExpected,
  },
  "register-with-taints": {
    type: "list",
    placeholder: "NAME=VALUE:EFFECT,...",
    doc: "Taints that the Node has when it is made.",
    expects: (taint) =>
      parseTaint(taint) === undefined ? `a taint such as dedicated=db:NoSchedule, with the effect ${oneOf(EFFECTS)}` : undefined,
  },
  "container-runtime-endpoint": {
    type: "string",
    placeholder: "ENDPOINT",
    doc: "Socket of the container runtime, such as unix:///run/containerd/containerd.sock. Default: of containerd, CRI-O and cri-dockerd the first that answers.",
    expects: (endpoint) => (/^(unix:\/\/)?\/./.test(endpoint) ? undefined : "a socket such as unix:///run/containerd/containerd.sock"),
  },
  "root-dir": { type: "string", placeholder: "DIRECTORY", default: "/var/lib/kubelet", doc: "What it keeps: volumes, files of Pods." },
  "cert-dir": {
    type: "string",
    placeholder: "DIRECTORY",
    doc: "Where a certificate that is made is kept for the next start, as kubelet.crt and kubelet.key. Default: pki in --root-dir.",
  },
  "pod-cidr": {
    type: "string",
    placeholder: "CIDR",
    doc: "From which Pods get their addresses. If the runtime has no network for Pods yet, it gets one of these addresses.",
    expects: (range) => (parseCidr(range)?.address.family === 4 ? undefined : "a range of IPv4 such as 10.244.1.0/24"),
  },
  "max-pods": { type: "number", min: 1, default: PODS_MAX, doc: "How many Pods the node runs at once." },
  "cluster-dns": { type: "list", placeholder: "ADDRESS,...", doc: "DNS servers that Pods ask.", expects: isAddress },
  "cluster-domain": { type: "string", placeholder: "DOMAIN", doc: "Domain of the cluster, in which Pods look for names. Default: none." },
  "cgroup-root": {
    type: "string",
    placeholder: "CGROUP",
    default: "/",
    doc: "The control group that those of all Pods are in. Kubelets that share a runtime need one each: it is also what tells their Pods apart.",
    expects: (path) => (path.startsWith("/") ? undefined : "a path such as /second"),
  },
  "system-reserved": reservedFlag("what is no part of Kubernetes"),
  "kube-reserved": reservedFlag("the parts of Kubernetes"),
  ...kubeletServingFlags,
  "healthz-port": {
    type: "number",
    min: 0,
    max: PORT_MAX,
    default: HEALTH_PORT,
    doc: "Port for GET /healthz over plain HTTP. 0: there is none.",
  },
  "healthz-bind-address": {
    type: "string",
    placeholder: "ADDRESS",
    default: "127.0.0.1",
    doc: "Address for that.",
    expects: isAddress,
  },
} as const satisfies FlagSet;

/** What only the file can say. */
export const kubeletFileFlags = {
  "pod-logs-dir": { type: "string", default: "/var/log/pods", doc: "Where the logs of Pods are." },
} as const satisfies FlagSet;

export type KubeletFlagValues = FlagValues<typeof kubeletCommandFlags & typeof kubeletFileFlags>;

function reservedFlag(forWhom: string) {
  return {
    type: "list",
    placeholder: "RESOURCE=QUANTITY,...",
    doc: `What Pods cannot have, since it is for ${forWhom}, such as cpu=200m,memory=500Mi.`,
    expects: (text: string) => (isReserved(text) ? undefined : `a quantity of ${oneOf(RESERVABLE)} such as cpu=200m`),
  } as const;
}

/** What is wrong in combination, in the words of the flags. */
export function kubeletProblems(values: KubeletFlagValues): readonly string[] {
  const problems = [...kubeletServingProblems(values)];
  const families = values["node-ip"].map((address) => parseIp(address)?.family);
  if (families.length > 2 || (families.length === 2 && families[0] === families[1]))
    problems.push("--node-ip must be one address, or one of IPv4 and one of IPv6");
  return problems;
}

/** Of the files that a server shows. */
export type KubeletServingFiles = Pick<KubeletServingValues, "tls-cert-file" | "tls-private-key-file" | "client-ca-file">;

export function kubeletServingProblems(values: KubeletServingFiles): readonly string[] {
  const isOneMissing = (values["tls-cert-file"] === undefined) !== (values["tls-private-key-file"] === undefined);
  return isOneMissing ? ["--tls-cert-file and --tls-private-key-file are only of use together"] : [];
}

export function kubeletLooks(values: KubeletServingFiles): readonly Look[] {
  const { "tls-cert-file": certificate, "tls-private-key-file": key } = values;
  return [
    ...pairLooks({ certificate, key }, SERVING_FLAGS, readServingFiles),
    ...fileLook(values["client-ca-file"], (path) => readAuthorities(path, "--client-ca-file")),
  ];
}

/** "dedicated=db:NoSchedule", "dedicated:NoSchedule". Undefined if it is none. */
export function parseTaint(text: string): NonNullable<NodeFacts["taints"]>[number] | undefined {
  const [, key = "", value = "", written = ""] = /^([^=:]+)(?:=([^:]*))?:([^:]+)$/.exec(text) ?? [];
  const effect = EFFECTS.find((one) => one === written);
  if (effect === undefined || validateQualifiedName(key).length > 0 || validateLabelValue(value).length > 0) return undefined;
  return { key, effect, ...(value === "" ? {} : { value }) };
}

/** From elements that were checked one by one: "zone=a". */
export function pairsOf(elements: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(elements.map(pairOf));
}

/** All that was reserved for anybody. */
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

/** Of Kubernetes's own labels, those that a node may say of itself, as upstream has them. */
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
  return "a label that a node may give itself: none of kubernetes.io and k8s.io but those of kubelet.kubernetes.io and node.kubernetes.io";
}
