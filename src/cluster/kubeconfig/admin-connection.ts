/**
 * Connects to a local cluster as its administrator, with the kubeconfig in its home. Only the fields that k8ts writes are accepted: a
 * server on this machine, its CA and a client certificate, all inline. A kubeconfig can do more (run a program, send a file or a
 * certificate to another host), and `k8ts status` must not, even if the file was changed.
 */
import { parseYaml } from "../../api/machinery/codec/yaml/yaml.ts";
import { isObject } from "../../api/machinery/object.ts";
import type { ConnectionConfig } from "../../client/kubeconfig/connection-config.ts";

type Entry = Readonly<Record<string, unknown>>;

/** Keys of each element that k8ts writes (kubeconfig.ts). */
const CLUSTER_KEYS = ["server", "certificate-authority-data"];
const USER_KEYS = ["client-certificate-data", "client-key-data"];

export interface AdminKubeconfig {
  readonly path: string;
  readonly text: string;
  /** True if an IP address belongs to this machine. */
  isOwnAddress(address: string): boolean;
}

/** Throws an error with the file, the rejected content and the remedy. */
export function adminConnection({ path, text, isOwnAddress }: AdminKubeconfig): ConnectionConfig {
  const refuse = (why: string): never => {
    throw new Error(`Cannot use ${path}: ${why}; restart the cluster, which rewrites the file`);
  };
  const cluster = onlyEntry(text, "clusters", "cluster") ?? refuse("it must contain exactly one cluster");
  const user = onlyEntry(text, "users", "user") ?? refuse("it must contain exactly one user");
  const strange = [...strangeKeys(cluster, CLUSTER_KEYS), ...strangeKeys(user, USER_KEYS)];
  if (strange.length > 0) refuse(`it contains ${strange.join(", ")}, which k8ts does not write`);
  const { server } = cluster;
  const host = typeof server === "string" ? hostOf(server) : undefined;
  if (typeof server !== "string" || host === undefined || !isOwnAddress(host)) refuse("its server is not an https URL of this machine");
  const data = (entry: Entry, key: string): string => decoded(entry[key]) ?? refuse(`it has no ${key}`);
  return {
    server: server as string,
    namespace: "default",
    authority: { text: data(cluster, "certificate-authority-data") },
    credentials: {
      certificate: {
        certificate: { text: data(user, "client-certificate-data") },
        key: { text: data(user, "client-key-data") },
      },
    },
  };
}

function onlyEntry(text: string, list: string, member: string): Entry | undefined {
  const entries = objectIn(parsed(text))?.[list];
  if (!Array.isArray(entries) || entries.length !== 1) return undefined;
  return objectIn(objectIn(entries[0])?.[member]);
}

/** k8ts writes JSON, and kubectl YAML when it changes the file (`kubectl config set-context --current --namespace …`). */
function parsed(text: string): unknown {
  try {
    const { value, duplicates } = parseYaml(new TextEncoder().encode(text));
    // Of a duplicate key another parser may use the other value.
    return duplicates.length === 0 ? value : undefined;
  } catch {
    return undefined;
  }
}

function objectIn(value: unknown): Entry | undefined {
  return isObject(value) ? value : undefined;
}

function strangeKeys(entry: Entry, known: readonly string[]): readonly string[] {
  return Object.keys(entry)
    .filter((key) => !known.includes(key))
    .map((key) => JSON.stringify(key));
}

/** Without the brackets of an IPv6 address. */
function hostOf(server: string): string | undefined {
  if (!URL.canParse(server)) return undefined;
  const { protocol, hostname } = new URL(server);
  return protocol === "https:" ? hostname.replace(/^\[(.*)\]$/, "$1") : undefined;
}

function decoded(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? Buffer.from(value, "base64").toString("utf8") : undefined;
}
