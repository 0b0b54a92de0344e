/**
 * Flags of the API server, with upstream's names where they exist, and the configuration they produce, including the default locations of
 * files.
 */
import { DEFAULT_FEATURE_GATES, FEATURE_GATES, isFeatureGate, type FeatureGates } from "../api/feature-gates.ts";
import { durationToMs, parseDuration } from "../api/machinery/duration.ts";
import { cidrSize, parseCidr, parseIp } from "../api/machinery/ip/ip-address.ts";
import { DEFAULT_API_SERVER_CONFIG, type ApiServerConfig } from "../apiserver/framework/api-server-config.ts";
import { joinPath } from "../host/files/files.ts";
import { admissionConfig, admissionFlags, admissionProblems } from "./admission-flags.ts";
import { auditConfig, auditFlags, auditProblems, type AuditConfig } from "./audit/audit-flags.ts";
import type { FlagSet, FlagValues, Parsed } from "../cli/framework/flags.ts";
import { kubeletConfig, kubeletFlags, kubeletProblems, preferredAddressTypes, type KubeletAccess } from "./kubelet-access.ts";
import { proxyClientConfig, proxyClientFlags, proxyClientProblems, type ProxyClientConfig } from "./proxy-client.ts";
import { DEFAULT_IDENTITY_CONFIG, identityConfig, identityFlags, identityProblems, type IdentityConfig } from "./identity-config.ts";
import type { StoreConfig } from "./store-config.ts";

/** Where the API server listens, and its certificate files. */
export interface ServingConfig {
  readonly bindAddress: string;
  /** Additional addresses, with the same port as `bindAddress`. */
  readonly additionalBindAddresses?: readonly string[];
  /** Address in the endpoints of the Service "kubernetes". Default: an address of this machine's network. */
  readonly advertiseAddress?: string;
  /** 0: any free port. */
  readonly securePort: number;
  /** Serving certificate of the user. Default: generated. */
  readonly certificateFiles?: { readonly certificate: string; readonly key: string };
  /** Directory of generated certificates and keys. Absent: they are kept in memory. */
  readonly certificateDirectory?: string;
  /** Path of the kubeconfig. Absent: in a temporary directory. */
  readonly kubeconfig?: string;
  /** Maximum number of concurrent HTTP/2 streams per connection. */
  readonly streamsPerConnectionMax: number;
}

export interface ApiServerOptions extends ProxyClientConfig {
  readonly serving: ServingConfig;
  readonly api: ApiServerConfig;
  /** Retention time of Events. */
  readonly eventTtlMs: number;
  readonly identity: IdentityConfig;
  /** Client certificate and CA for kubelets. */
  readonly kubelets: KubeletAccess;
  /** AdmissionConfiguration. */
  readonly admissionConfigFile?: string;
  /** Absent: nothing is audited. */
  readonly auditLog?: AuditConfig;
  /** Number of processes that take the clients' connections and answer their reads. Absent: none. */
  readonly readWorkers?: number;
}

export const DEFAULT_SERVING_CONFIG: ServingConfig = { bindAddress: "127.0.0.1", securePort: 6443, streamsPerConnectionMax: 1000 };

/** Upstream's default. */
const EVENT_TTL_MS = 3_600_000;

/** For an embedded cluster, which must not conflict with a running one. */
export const DEFAULT_API_SERVER_OPTIONS: ApiServerOptions = {
  serving: { ...DEFAULT_SERVING_CONFIG, securePort: 0 },
  api: DEFAULT_API_SERVER_CONFIG,
  eventTtlMs: EVENT_TTL_MS,
  identity: DEFAULT_IDENTITY_CONFIG,
  kubelets: {},
};

const PORT_MAX = 65_535;

/** Each has caches of its own; beyond this the main process is busy with feeding them. */
const READ_WORKERS_MAX = 32;

const { serviceNodePortRange: DEFAULT_PORTS } = DEFAULT_API_SERVER_CONFIG;

/** Of the API server, and of the controllers that a gate concerns. */
export const featureGateFlags = {
  "feature-gates": {
    type: "list",
    placeholder: "NAME=true,...",
    doc: `Features that are off by default, as upstream: ${FEATURE_GATES.join(", ")}. A gate also serves the kinds of its feature, without --runtime-config.`,
    expects: (text) =>
      parseFeatureGate(text) === undefined ? `NAME=true or NAME=false, with a name of: ${FEATURE_GATES.join(", ")}` : undefined,
  },
} as const satisfies FlagSet;

export const apiServerFlags = {
  "secure-port": {
    type: "number",
    min: 0,
    max: PORT_MAX,
    default: DEFAULT_SERVING_CONFIG.securePort,
    doc: "HTTPS port. 0 picks a free port.",
  },
  "bind-address": {
    type: "string",
    placeholder: "ADDRESS",
    default: DEFAULT_SERVING_CONFIG.bindAddress,
    doc: "IP address to listen on. 0.0.0.0 and :: mean all addresses of this machine.",
    expects: (address) => (parseIp(address) === undefined ? "an IP address such as 127.0.0.1" : undefined),
  },
  "additional-bind-address": {
    type: "list",
    placeholder: "ADDRESS,...",
    doc: "Additional IP addresses to listen on, with the same port. k8ts up adds this machine's address on the Pod network, so that Pods reach an API server that otherwise listens on loopback only.",
    expects: (address) => (parseIp(address) === undefined ? "an IP address such as 10.244.0.1" : undefined),
  },
  "advertise-address": {
    type: "string",
    placeholder: "ADDRESS",
    doc: 'IP address published in the endpoints of the Service "kubernetes"; must not be loopback. Default: --bind-address, or an address of this machine\'s network if that is loopback or unspecified.',
    expects: (address) => (isReachable(address) ? undefined : "a non-loopback IP address such as 192.0.2.10"),
  },
  "tls-cert-file": {
    type: "string",
    placeholder: "FILE",
    doc: "TLS certificate (PEM) of the server, followed by intermediate certificates. Requires --tls-private-key-file. Default: a generated certificate.",
  },
  "tls-private-key-file": { type: "string", placeholder: "FILE", doc: "Private key (PEM) of --tls-cert-file." },
  "cert-dir": {
    type: "string",
    placeholder: "DIRECTORY",
    doc: "Directory of generated certificates and keys. Default: pki in the data directory.",
  },
  kubeconfig: {
    type: "string",
    placeholder: "FILE",
    doc: "File to write the administrator's kubeconfig to; an existing file is replaced. (Other components read the file of --kubeconfig, this one writes it.) Default: kubeconfig in the data directory, or in a temporary directory.",
  },
  "service-cluster-ip-range": {
    type: "list",
    placeholder: "CIDR,...",
    doc: `CIDR of Service cluster IPs: one range, or an IPv4 and an IPv6 range. Default: ${DEFAULT_API_SERVER_CONFIG.serviceClusterIpRange}.`,
    expects: (range) => (isServiceRange(range) ? undefined : "a CIDR of at least 4 addresses such as 10.96.0.0/12"),
  },
  "service-node-port-range": {
    type: "string",
    placeholder: "FIRST-LAST",
    default: `${DEFAULT_PORTS.first}-${DEFAULT_PORTS.last}`,
    doc: "Range of Service node ports, both ends included.",
    expects: (range) => (parsePortRange(range) === undefined ? "a port range such as 30000-32767" : undefined),
  },
  ...kubeletFlags,
  ...proxyClientFlags,
  "request-timeout": durationFlag("1m0s", "Timeout of requests that do not set one themselves; does not apply to watches."),
  "min-request-timeout": {
    type: "number",
    min: 1,
    default: 1800,
    placeholder: "SECONDS",
    doc: "Minimum duration of watches that set no timeout; each gets a random one of up to twice this value.",
  },
  "enable-priority-and-fairness": {
    type: "boolean",
    default: true,
    doc: "Queue and reject requests according to FlowSchemas and PriorityLevelConfigurations. If false, only --max-requests-inflight and --max-mutating-requests-inflight limit them.",
  },
  "max-requests-inflight": {
    type: "number",
    min: 1,
    default: 400,
    doc: "Maximum number of concurrent non-mutating requests. With priority and fairness, the sum with --max-mutating-requests-inflight is the total concurrency shared by the priority levels.",
  },
  "max-mutating-requests-inflight": {
    type: "number",
    min: 1,
    default: 200,
    doc: "Maximum number of concurrent mutating requests; see --max-requests-inflight.",
  },
  "http2-max-streams-per-connection": {
    type: "number",
    min: 1,
    default: DEFAULT_SERVING_CONFIG.streamsPerConnectionMax,
    doc: "Maximum number of concurrent HTTP/2 streams per connection; clients queue further requests.",
  },
  "read-workers": {
    type: "number",
    min: 0,
    max: READ_WORKERS_MAX,
    default: 0,
    doc: "Processes that take the clients' connections and answer gets, lists and watches; writes go to the main process. For machines with several cores.",
  },
  "pod-metrics-apis": {
    type: "boolean",
    doc: 'Serve custom.metrics.k8s.io and external.metrics.k8s.io, which autoscalers read, from the metrics of Pods with the annotation prometheus.io/scrape: "true".',
  },
  ...featureGateFlags,
  "event-ttl": durationFlag("1h0m0s", "Retention time of Events."),
  ...admissionFlags,
  ...auditFlags,
  ...identityFlags,
} as const satisfies FlagSet;

export type ApiServerFlagValues = FlagValues<typeof apiServerFlags>;

/** `store` determines the default locations; absent if its flags are invalid. */
export function apiServerOptions(values: ApiServerFlagValues, store: StoreConfig | undefined): Parsed<ApiServerOptions> {
  const problems = [
    ...fileProblems(values),
    ...rangeProblems(values),
    ...kubeletProblems(values),
    ...proxyClientProblems(values),
    ...identityProblems(values),
    ...admissionProblems(values),
    ...auditProblems(values),
    ...featureGateProblems(featureGates(values)),
    ...readWorkerProblems(values, store),
  ];
  return problems.length > 0 ? { ok: false, problems } : { ok: true, options: apiServerConfig(values, store) };
}

/** The same, ignoring invalid combinations: flags that require another are left out. */
export function apiServerConfig(values: ApiServerFlagValues, store: StoreConfig | undefined): ApiServerOptions {
  return {
    serving: servingConfig(values, store),
    api: apiConfig(values),
    eventTtlMs: durationMs(values["event-ttl"]),
    identity: identityConfig(values),
    kubelets: kubeletConfig(values),
    ...(values["admission-control-config-file"] === undefined ? {} : { admissionConfigFile: values["admission-control-config-file"] }),
    ...auditConfig(values),
    ...proxyClientConfig(values),
    ...(values["read-workers"] === 0 ? {} : { readWorkers: values["read-workers"] }),
  };
}

function fileProblems(values: ApiServerFlagValues): string[] {
  const problems: string[] = [];
  const [certificate, key] = [values["tls-cert-file"], values["tls-private-key-file"]];
  if ((certificate === undefined) !== (key === undefined)) problems.push("--tls-cert-file and --tls-private-key-file must be set together");
  return problems;
}

/** Workers read the certificates from files, and an audit log has one writer. */
function readWorkerProblems(values: ApiServerFlagValues, store: StoreConfig | undefined): string[] {
  if (values["read-workers"] === 0) return [];
  const problems: string[] = [];
  if (auditConfig(values).auditLog !== undefined) problems.push("--read-workers and --audit-log-path cannot be set together");
  if (store !== undefined && servingConfig(values, store).certificateDirectory === undefined)
    problems.push("--read-workers requires --cert-dir, because this store has no data directory");
  return problems;
}

function rangeProblems(values: ApiServerFlagValues): string[] {
  const families = values["service-cluster-ip-range"].map((range) => parseCidr(range)?.address.family);
  if (families.length <= 1 || (families.length === 2 && families[0] !== families[1])) return [];
  return ["--service-cluster-ip-range must be one range, or an IPv4 and an IPv6 range"];
}

function servingConfig(values: ApiServerFlagValues, store: StoreConfig | undefined): ServingConfig {
  const dataDirectory = store?.driver === "embedded" ? store.dataDirectory : undefined;
  const [certificate, key] = [values["tls-cert-file"], values["tls-private-key-file"]];
  const certificateDirectory = values["cert-dir"] ?? (dataDirectory === undefined ? undefined : joinPath(dataDirectory, "pki"));
  const kubeconfig = values.kubeconfig ?? (dataDirectory === undefined ? undefined : joinPath(dataDirectory, "kubeconfig"));
  return {
    bindAddress: values["bind-address"],
    ...(values["additional-bind-address"].length === 0 ? {} : { additionalBindAddresses: values["additional-bind-address"] }),
    ...(values["advertise-address"] === undefined ? {} : { advertiseAddress: values["advertise-address"] }),
    securePort: values["secure-port"],
    streamsPerConnectionMax: values["http2-max-streams-per-connection"],
    ...(certificate === undefined || key === undefined ? {} : { certificateFiles: { certificate, key } }),
    ...(certificateDirectory === undefined ? {} : { certificateDirectory }),
    ...(kubeconfig === undefined ? {} : { kubeconfig }),
  };
}

function apiConfig(values: ApiServerFlagValues): ApiServerConfig {
  const ranges = values["service-cluster-ip-range"];
  const modes = values["authorization-mode"];
  return {
    ...DEFAULT_API_SERVER_CONFIG,
    requestTimeoutMs: durationMs(values["request-timeout"]),
    minRequestTimeoutMs: values["min-request-timeout"] * 1000,
    priorityAndFairness: values["enable-priority-and-fairness"],
    maxRequestsInFlight: values["max-requests-inflight"],
    maxMutatingRequestsInFlight: values["max-mutating-requests-inflight"],
    podMetricsApis: values["pod-metrics-apis"],
    ...(ranges.length === 0 ? {} : { serviceClusterIpRange: ranges.join(",") }),
    serviceNodePortRange: parsePortRange(values["service-node-port-range"]) ?? DEFAULT_PORTS,
    ...(modes.length === 0 ? {} : { authorizationModes: modes }),
    ...preferredAddressTypes(values),
    admission: admissionConfig(values),
    featureGates: featureGates(values),
  };
}

/** "ClusterTrustBundle=true". */
function parseFeatureGate(text: string): Partial<FeatureGates> | undefined {
  const [name = "", value, ...more] = text.split("=");
  if (!isFeatureGate(name) || more.length > 0 || (value !== "true" && value !== "false")) return undefined;
  return { [name]: value === "true" };
}

export function featureGates(values: FlagValues<typeof featureGateFlags>): FeatureGates {
  return Object.assign({}, DEFAULT_FEATURE_GATES, ...values["feature-gates"].map(parseFeatureGate)) as FeatureGates;
}

/** For another process. */
export function featureGateArguments(gates: FeatureGates): readonly string[] {
  return FEATURE_GATES.filter((gate) => gates[gate]).map((gate) => `--feature-gates=${gate}=true`);
}

function featureGateProblems({ ClusterTrustBundle, ClusterTrustBundleProjection }: FeatureGates): string[] {
  if (!ClusterTrustBundleProjection || ClusterTrustBundle) return [];
  return ["--feature-gates: ClusterTrustBundleProjection=true requires ClusterTrustBundle=true"];
}

export function isLoopback(address: string): boolean {
  return address === "::1" || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(address);
}

function isReachable(address: string): boolean {
  return parseIp(address) !== undefined && !isLoopback(address);
}

/** The first address is the API server's own, so a range of one has none to allocate. */
function isServiceRange(text: string): boolean {
  const range = parseCidr(text);
  return range !== undefined && cidrSize(range) >= 4n;
}

/** "30000-32767" */
function parsePortRange(text: string): ApiServerConfig["serviceNodePortRange"] | undefined {
  const [, first, last] = /^(\d{1,5})-(\d{1,5})$/.exec(text)?.map(Number) ?? [];
  if (first === undefined || last === undefined || first < 1 || last < first || last > PORT_MAX) return undefined;
  return { first, last };
}

function durationFlag<const Default extends string>(standard: Default, doc: string) {
  return {
    type: "string",
    placeholder: "DURATION",
    default: standard,
    doc,
    expects: (text: string) => (durationMs(text) > 0 ? undefined : "a duration such as 1m30s"),
  } as const;
}

/** NaN if invalid. */
function durationMs(text: string): number {
  try {
    return durationToMs(parseDuration(text));
  } catch {
    return NaN;
  }
}
