/** Configuration of the DNS server: its defaults and the reading of a configuration file. Flags of `k8ts up` and `k8ts dns` override it. */
import { nameOfText } from "./wire/names.ts";

export interface DnsConfiguration {
  /** Domain of the cluster's names: "cluster.local". */
  readonly zone: string;
  /** Names of the enabled plugins; each has a fixed position. */
  readonly plugins: readonly string[];
  readonly kubernetes: {
    /** CoreDNS' default: clients that cache see changes soon. */
    readonly ttlSeconds: number;
    /** "insecure": any Pod address of an existing namespace resolves, as with kubeadm. */
    readonly pods: "insecure" | "disabled";
  };
  readonly hosts: {
    /** In the format of /etc/hosts. Absent: none. */
    readonly file?: string;
    readonly ttlSeconds: number;
  };
  readonly cache: {
    readonly entriesMax: number;
    /** Bounds of the time that answers are kept. */
    readonly ttlMinSeconds: number;
    readonly ttlMaxSeconds: number;
    readonly negativeTtlMaxSeconds: number;
    /** Refreshes entries that are in use shortly before they expire. */
    readonly prefetch: boolean;
  };
  readonly forward: {
    /** "192.0.2.1", "192.0.2.1:5353", "[2001:db8::1]:53". Empty: the nameservers of `resolvConf`. */
    readonly upstreams: readonly string[];
    readonly resolvConf: string;
    /** Time for one upstream to answer. */
    readonly timeoutMs: number;
    /** Queries that wait for an upstream; more are refused. */
    readonly concurrencyMax: number;
  };
}

export const DEFAULT_DNS_CONFIGURATION: DnsConfiguration = {
  zone: "cluster.local",
  plugins: ["errors", "metrics", "health", "hosts", "kubernetes", "cache", "forward"],
  kubernetes: { ttlSeconds: 5, pods: "insecure" },
  hosts: { ttlSeconds: 30 },
  // The time is kubeadm's; the number of entries CoreDNS'.
  cache: { entriesMax: 10_000, ttlMinSeconds: 0, ttlMaxSeconds: 30, negativeTtlMaxSeconds: 30, prefetch: false },
  // CoreDNS' timeout, kubeadm's concurrency.
  forward: { upstreams: [], resolvConf: "/etc/resolv.conf", timeoutMs: 2_000, concurrencyMax: 1_000 },
};

export type ReadConfiguration =
  | { readonly ok: true; readonly configuration: DnsConfiguration }
  | { readonly ok: false; readonly problems: readonly string[] };

/** Merges the value of a configuration file into `base`. Reports all problems at once. */
export function mergeDnsConfiguration(base: DnsConfiguration, value: unknown): ReadConfiguration {
  const problems: string[] = [];
  const merged = mergeSection({ base, value, path: "", problems });
  if (problems.length > 0) return { ok: false, problems };
  const configuration = merged as DnsConfiguration;
  return { ok: true, configuration: { ...configuration, zone: nameOfText(configuration.zone) ?? configuration.zone } };
}

/** Fields without a default. */
const OPTIONAL: Readonly<Record<string, "string">> = { "hosts.file": "string" };
const CHOICES: Readonly<Record<string, readonly string[]>> = { "kubernetes.pods": ["insecure", "disabled"] };

interface Merge {
  readonly base: unknown;
  readonly value: unknown;
  readonly path: string;
  readonly problems: string[];
}

function mergeSection({ base, value, path, problems }: Merge): unknown {
  if (!isObject(value) || !isObject(base)) {
    problems.push(`${path === "" ? "The configuration" : path} must be an object`);
    return base;
  }
  const merged: Record<string, unknown> = { ...base };
  for (const [name, given] of Object.entries(value)) {
    const at = path === "" ? name : `${path}.${name}`;
    if (name in base || at in OPTIONAL) merged[name] = mergeField({ base: base[name], value: given, path: at, problems });
    else problems.push(`${at} is unknown; known are ${Object.keys(base).join(", ")}`);
  }
  return merged;
}

function mergeField(merge: Merge): unknown {
  const { base, value, path, problems } = merge;
  if (isObject(base)) return mergeSection(merge);
  const problem = fieldProblem(merge);
  if (problem !== undefined) problems.push(`${path} must be ${problem}, is ${JSON.stringify(value)}`);
  return value;
}

function fieldProblem({ base, value, path }: Merge): string | undefined {
  const choices = CHOICES[path];
  if (choices !== undefined) return choices.includes(value as string) ? undefined : `one of ${choices.join(", ")}`;
  if (path === "zone") return typeof value === "string" && nameOfText(value) !== undefined ? undefined : "a domain name";
  if (Array.isArray(base)) return Array.isArray(value) && value.every((each) => typeof each === "string") ? undefined : "a list of strings";
  const expected = base === undefined ? OPTIONAL[path] : typeof base;
  if (expected === "number") return Number.isInteger(value) && (value as number) >= 0 ? undefined : "an integer of 0 or more";
  return typeof value === expected ? undefined : `a ${expected}`;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
