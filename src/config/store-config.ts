/**
 * Store driver and location: the configuration and its flags, shared by every command that opens a store. The etcd flags have the names of
 * kube-apiserver's.
 */
import type { Environment } from "../cli/framework/command.ts";
import type { FlagSet, FlagValues, Parsed } from "../cli/framework/flags.ts";

export type StoreConfig =
  /** Lost when the process exits. */
  | { readonly driver: "memory" }
  /** Durable, in local files, one process at a time. */
  | { readonly driver: "embedded"; readonly dataDirectory: string }
  /** A real etcd cluster, which several processes can share. */
  | EtcdStoreConfig;

export interface EtcdStoreConfig {
  readonly driver: "etcd";
  /** Client URLs of members, http:// or https://; at least one. */
  readonly servers: readonly string[];
  /** Key prefix. Default: /registry. */
  readonly prefix?: string;
  /** PEM files, for https:// servers. `certificate` and `key` are set together. */
  readonly files?: { readonly ca?: string; readonly certificate?: string; readonly key?: string };
}

export const storeFlags = {
  store: {
    type: "choice",
    of: ["embedded", "memory", "etcd"],
    placeholder: "DRIVER",
    doc: "Storage driver. Default: embedded, or etcd if --etcd-servers is set.",
  },
  "data-dir": {
    type: "string",
    placeholder: "DIRECTORY",
    doc: "Directory of the embedded store, created if missing. Default: $XDG_DATA_HOME/k8ts/default, or ~/.local/share/k8ts/default.",
  },
  "etcd-servers": {
    type: "list",
    placeholder: "URL,...",
    doc: "Client URLs of the etcd members, such as https://10.0.0.1:2379.",
    expects: (url) => (/^https?:\/\/[^\s/?#@]+\/?$/.test(url) ? undefined : "a URL such as https://10.0.0.1:2379"),
  },
  "etcd-prefix": {
    type: "string",
    placeholder: "PREFIX",
    doc: "Prefix of all keys in etcd. Default: /registry.",
    expects: (prefix) => (/^\/.*[^/]$/.test(prefix) ? undefined : "a path such as /registry, with a leading and no trailing slash"),
  },
  "etcd-cafile": { type: "string", placeholder: "FILE", doc: "CA certificates (PEM) of the etcd servers." },
  "etcd-certfile": { type: "string", placeholder: "FILE", doc: "Client certificate (PEM) for etcd. Requires --etcd-keyfile." },
  "etcd-keyfile": { type: "string", placeholder: "FILE", doc: "Private key (PEM) of --etcd-certfile." },
} as const satisfies FlagSet;

export type StoreFlagValues = FlagValues<typeof storeFlags>;

/** The configuration, or all invalid combinations. */
export function storeConfig(values: StoreFlagValues, environment: Environment): Parsed<StoreConfig> {
  const driver = driverOf(values);
  const problems = [...uselessFlags(values, driver), ...(driver === "etcd" ? etcdProblems(values) : [])];
  const dataDirectory = values["data-dir"] ?? defaultDataDirectory(environment);
  if (driver === "embedded" && dataDirectory === undefined) problems.push("--data-dir is required: neither XDG_DATA_HOME nor HOME is set");
  if (problems.length > 0) return { ok: false, problems };
  if (driver === "memory") return { ok: true, options: { driver } };
  if (driver === "embedded") return { ok: true, options: { driver, dataDirectory: dataDirectory ?? "" } };
  return { ok: true, options: etcdConfig(values) };
}

function uselessFlags(values: StoreFlagValues, driver: string): string[] {
  const etcd = (["etcd-servers", "etcd-prefix", "etcd-cafile", "etcd-certfile", "etcd-keyfile"] as const).filter((name) => {
    const value = values[name];
    return value !== undefined && value.length > 0;
  });
  return [
    ...(driver !== "embedded" && values["data-dir"] !== undefined ? [`--data-dir requires --store embedded, the store is ${driver}`] : []),
    ...(driver !== "etcd" ? etcd.map((name) => `--${name} requires --store etcd, the store is ${driver}`) : []),
  ];
}

function etcdProblems(values: StoreFlagValues): string[] {
  const problems: string[] = [];
  if (values["etcd-servers"].length === 0) problems.push("--etcd-servers is required: set it to the URL of at least one etcd member");
  if ((values["etcd-certfile"] === undefined) !== (values["etcd-keyfile"] === undefined)) {
    problems.push("--etcd-certfile and --etcd-keyfile must be set together");
  }
  return problems;
}

function etcdConfig(values: StoreFlagValues): EtcdStoreConfig {
  const { "etcd-prefix": prefix } = values;
  return { driver: "etcd", servers: values["etcd-servers"], ...(prefix === undefined ? {} : { prefix }), files: etcdFiles(values) };
}

/** The files that are set, if the store is etcd. */
export function etcdFiles(values: StoreFlagValues): NonNullable<EtcdStoreConfig["files"]> {
  if (driverOf(values) !== "etcd") return {};
  const { "etcd-cafile": ca, "etcd-certfile": certificate, "etcd-keyfile": key } = values;
  return {
    ...(ca === undefined ? {} : { ca }),
    ...(certificate === undefined ? {} : { certificate }),
    ...(key === undefined ? {} : { key }),
  };
}

function driverOf(values: StoreFlagValues): StoreConfig["driver"] {
  return values.store ?? (values["etcd-servers"].length > 0 ? "etcd" : "embedded");
}

/** Data directory of the user, by the XDG base directory specification. */
function defaultDataDirectory(environment: Environment): string | undefined {
  const { XDG_DATA_HOME: data, HOME: home } = environment;
  // The specification says to ignore a relative XDG_DATA_HOME.
  if (data?.startsWith("/") === true) return `${data}/k8ts/default`;
  return home === undefined || home === "" ? undefined : `${home}/.local/share/k8ts/default`;
}
