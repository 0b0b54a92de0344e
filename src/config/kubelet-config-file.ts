/**
 * Parses a KubeletConfiguration file as if its fields were flags: each supported field corresponds to one flag, whose declaration validates
 * the value. All problems are reported at once; unsupported fields of upstream are rejected, because the author would rely on them.
 */
import { parseYaml } from "../api/machinery/codec/yaml/yaml.ts";
import { YamlError } from "../api/machinery/codec/yaml/scalar.ts";
import { isObject } from "../api/machinery/object.ts";
import type { ConfigValue } from "../cli/framework/config-file.ts";
import { parseArguments, type Flag } from "../cli/framework/flags.ts";
import { kubeletCommandFlags, kubeletFileFlags } from "./kubelet-flags.ts";
import { nearest } from "../cli/framework/suggestion.ts";

const API_VERSION = "kubelet.config.k8s.io/v1beta1";
const KIND = "KubeletConfiguration";

const FLAGS: Readonly<Record<string, Flag>> = { ...kubeletCommandFlags, ...kubeletFileFlags };

/** Field path and its flag. */
const FIELDS: Readonly<Record<string, keyof typeof kubeletCommandFlags | keyof typeof kubeletFileFlags>> = {
  address: "address",
  port: "port",
  tlsCertFile: "tls-cert-file",
  tlsPrivateKeyFile: "tls-private-key-file",
  "authentication.x509.clientCAFile": "client-ca-file",
  "authentication.anonymous.enabled": "anonymous-auth",
  "authentication.webhook.enabled": "authentication-token-webhook",
  "authorization.mode": "authorization-mode",
  healthzPort: "healthz-port",
  healthzBindAddress: "healthz-bind-address",
  clusterDomain: "cluster-domain",
  clusterDNS: "cluster-dns",
  cgroupRoot: "cgroup-root",
  podCIDR: "pod-cidr",
  maxPods: "max-pods",
  containerRuntimeEndpoint: "container-runtime-endpoint",
  registerWithTaints: "register-with-taints",
  systemReserved: "system-reserved",
  kubeReserved: "kube-reserved",
  podLogsDir: "pod-logs-dir",
  evictionHard: "eviction-hard",
  evictionSoft: "eviction-soft",
  evictionSoftGracePeriod: "eviction-soft-grace-period",
  evictionMinimumReclaim: "eviction-minimum-reclaim",
  evictionPressureTransitionPeriod: "eviction-pressure-transition-period",
  evictionMaxPodGracePeriod: "eviction-max-pod-grace-period",
  imageGCHighThresholdPercent: "image-gc-high-threshold",
  imageGCLowThresholdPercent: "image-gc-low-threshold",
  imageMinimumGCAge: "minimum-image-ttl-duration",
  imageMaximumGCAge: "image-maximum-gc-age",
};

/** Fields that are maps, with what separates name and value in the flag. */
const MAPS: Readonly<Record<string, string>> = {
  systemReserved: "=",
  kubeReserved: "=",
  evictionHard: "<",
  evictionSoft: "<",
  evictionSoftGracePeriod: "=",
  evictionMinimumReclaim: "=",
};

export interface KubeletConfigFile {
  /** Values by flag name. */
  readonly values: ReadonlyMap<string, ConfigValue>;
  readonly problems: readonly string[];
}

/** `file` is used in messages only. */
export function readKubeletConfigFile(file: string, bytes: Uint8Array): KubeletConfigFile {
  const values = new Map<string, ConfigValue>();
  const problems: string[] = [];
  const written = parsed(bytes, problems);
  if (isObject(written)) {
    const { apiVersion, kind, ...fields } = written;
    if (apiVersion !== API_VERSION) problems.push(`apiVersion must be ${API_VERSION}, is ${JSON.stringify(apiVersion)}`);
    if (kind !== KIND) problems.push(`kind must be ${KIND}, is ${JSON.stringify(kind)}`);
    readFields(fields, "", values, problems);
  } else if (problems.length === 0) problems.push(`Must be a ${KIND}`);
  return { values, problems: problems.map((problem) => `${file}: ${problem}`) };
}

function parsed(bytes: Uint8Array, problems: string[]): unknown {
  try {
    return parseYaml(bytes).value;
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    problems.push(error.message);
    return undefined;
  }
}

function readFields(fields: Readonly<Record<string, unknown>>, above: string, values: Map<string, ConfigValue>, problems: string[]): void {
  for (const [name, value] of Object.entries(fields)) {
    const path = `${above}${name}`;
    const flag = Object.hasOwn(FIELDS, path) ? FIELDS[path] : undefined;
    if (flag !== undefined) readField(path, flag, value, values, problems);
    else if (isObject(value) && Object.keys(FIELDS).some((field) => field.startsWith(`${path}.`)))
      readFields(value, `${path}.`, values, problems);
    else problems.push(unknownField(path));
  }
}

function unknownField(path: string): string {
  const meant = nearest(path, Object.keys(FIELDS));
  return `Unknown or unsupported field ${JSON.stringify(path)}${meant === undefined ? "" : `; did you mean ${meant}?`}`;
}

function readField(path: string, name: string, value: unknown, values: Map<string, ConfigValue>, problems: string[]): void {
  // As upstream: an empty field is unset.
  if (value === null || value === "") return;
  const flag = FLAGS[name] as Flag;
  const words = wordsOf(path, flag, value);
  if (words === undefined) {
    problems.push(`${path} must be ${expected(path, flag)}, is ${JSON.stringify(value)}`);
    return;
  }
  if (words.length === 0) return;
  const read = parseArguments(
    { flags: { [name]: flag }, arguments: {} },
    words.map((word) => `--${name}=${word}`),
  );
  problems.push(...read.problems.map((problem) => problem.replace(`--${name}`, path)));
  if (read.problems.length === 0) values.set(name, read.values[name] as ConfigValue);
}

/** The value as a flag argument; undefined if it has another type. */
function wordsOf(path: string, flag: Flag, value: unknown): readonly string[] | undefined {
  if (flag.type === "boolean") return typeof value === "boolean" ? [String(value)] : undefined;
  if (flag.type === "number") return typeof value === "number" ? [String(value)] : undefined;
  if (flag.type !== "list") return typeof value === "string" ? [value] : undefined;
  const separator = MAPS[path];
  if (separator !== undefined)
    return isObject(value) ? Object.entries(value).map(([name, amount]) => `${name}${separator}${String(amount)}`) : undefined;
  if (!Array.isArray(value)) return undefined;
  if (path !== "registerWithTaints") return value.every((element) => typeof element === "string") ? value : undefined;
  return value.every(isObject)
    ? value.map(({ key, value: of = "", effect }) => `${String(key)}=${String(of)}:${String(effect)}`)
    : undefined;
}

function expected(path: string, flag: Flag): string {
  if (MAPS[path] !== undefined)
    return `a map of ${path.endsWith("Reserved") ? "resource names" : "signals"} to ${path === "evictionSoftGracePeriod" ? "durations" : "quantities"}`;
  if (path === "registerWithTaints") return "a list of taints";
  if (flag.type === "list") return "a list of strings";
  if (flag.type === "boolean") return "true or false";
  return flag.type === "number" ? "a number" : "a string (quote it if it looks like another type)";
}
