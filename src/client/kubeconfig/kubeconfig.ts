/**
 * Parses kubeconfig files as upstream's clients do: bytes in, values out. Several files are merged, and for every name the first entry
 * wins. Paths are relative to their file. All problems are reported at once. Not here: locating the files (load-kubeconfig.ts), and what
 * one connection needs (choose-context.ts).
 */
import { parseYaml } from "../../api/machinery/codec/yaml/yaml.ts";
import type { Json } from "../../api/machinery/object.ts";
import { Fields } from "./kubeconfig-fields.ts";
import { joinedErrors } from "../../base/joined-errors.ts";

export interface Kubeconfig {
  readonly clusters: ReadonlyMap<string, KubeconfigCluster>;
  readonly users: ReadonlyMap<string, KubeconfigUser>;
  readonly contexts: ReadonlyMap<string, KubeconfigContext>;
  /** "" if none exists. */
  readonly currentContext: string;
}

/** Missing strings are "". */
export interface KubeconfigCluster {
  readonly server: string;
  readonly tlsServerName: string;
  readonly insecureSkipTlsVerify: boolean;
  readonly certificateAuthority: string;
  readonly certificateAuthorityData: string;
  readonly proxyUrl: string;
  readonly disableCompression: boolean;
  readonly extensions: ReadonlyMap<string, Json>;
}

export interface KubeconfigUser {
  readonly clientCertificate: string;
  readonly clientCertificateData: string;
  readonly clientKey: string;
  readonly clientKeyData: string;
  readonly token: string;
  readonly tokenFile: string;
  readonly username: string;
  readonly password: string;
  readonly impersonate: string;
  readonly impersonateUid: string;
  readonly impersonateGroups: readonly string[];
  readonly impersonateExtra: ReadonlyMap<string, readonly string[]>;
  readonly exec: KubeconfigExec | undefined;
  /** Name of the auth provider, which upstream has removed; undefined if none exists. */
  readonly authProvider: string | undefined;
}

export interface KubeconfigExec {
  readonly command: string;
  readonly arguments: readonly string[];
  readonly environment: readonly (readonly [name: string, value: string])[];
  readonly apiVersion: string;
  readonly installHint: string;
  readonly provideClusterInfo: boolean;
  readonly interactiveMode: string;
}

export interface KubeconfigContext {
  readonly cluster: string;
  readonly user: string;
  readonly namespace: string;
}

/** All problems, formatted as upstream. */
export class KubeconfigError extends Error {
  override readonly name = "KubeconfigError";
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`invalid configuration: ${joinedErrors(problems)}`);
    this.problems = problems;
  }
}

/** `directory`: base of relative paths. Throws an Error with one sentence that does not name the file: the caller knows it. */
export function parseKubeconfig(bytes: Uint8Array, directory: string): Kubeconfig {
  const fields = new Fields(parseYaml(bytes).value);
  checkKind(fields);
  const config: Kubeconfig = {
    clusters: named(fields, "clusters", (entry) => readCluster(entry.object("cluster"), directory)),
    users: named(fields, "users", (entry) => readUser(entry.object("user"), directory)),
    contexts: named(fields, "contexts", (entry) => readContext(entry.object("context"))),
    currentContext: fields.text("current-context"),
  };
  if (fields.mistakes.length > 0) throw new Error(fields.mistakes.join("; "));
  return config;
}

/** A file without kind is taken for a Config. */
function checkKind(fields: Fields): void {
  const [apiVersion, kind] = [fields.text("apiVersion") || "v1", fields.text("kind") || "Config"];
  if (apiVersion !== "v1" || kind !== "Config")
    fields.mistakes.push(`no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)}`);
}

/** For every name the first entry, as a whole: later ones are not merged into it. */
export function mergeKubeconfigs(configs: readonly Kubeconfig[]): Kubeconfig {
  return {
    clusters: firstOf(configs.map(({ clusters }) => clusters)),
    users: firstOf(configs.map(({ users }) => users)),
    contexts: firstOf(configs.map(({ contexts }) => contexts)),
    currentContext: configs.find(({ currentContext }) => currentContext !== "")?.currentContext ?? "",
  };
}

function firstOf<T>(maps: readonly ReadonlyMap<string, T>[]): ReadonlyMap<string, T> {
  const merged = new Map<string, T>();
  for (const [name, value] of maps.flatMap((map) => [...map])) if (!merged.has(name)) merged.set(name, value);
  return merged;
}

/** Within one file names are unique. */
function named<T>(fields: Fields, list: string, read: (entry: Fields) => T): ReadonlyMap<string, T> {
  const entries = new Map<string, T>();
  for (const entry of fields.objects(list)) {
    const name = entry.text("name");
    if (entries.has(name)) fields.mistakes.push(`${fields.pathOf(list)}: duplicate name ${JSON.stringify(name)} in list`);
    entries.set(name, read(entry));
  }
  return entries;
}

function readCluster(cluster: Fields, directory: string): KubeconfigCluster {
  return {
    server: cluster.text("server"),
    tlsServerName: cluster.text("tls-server-name"),
    insecureSkipTlsVerify: cluster.flag("insecure-skip-tls-verify"),
    certificateAuthority: resolvePath(directory, cluster.text("certificate-authority")),
    certificateAuthorityData: cluster.encodedText("certificate-authority-data"),
    proxyUrl: cluster.text("proxy-url"),
    disableCompression: cluster.flag("disable-compression"),
    extensions: named(cluster, "extensions", (entry) => entry.value("extension") ?? null),
  };
}

function readUser(user: Fields, directory: string): KubeconfigUser {
  const extra = user.object("as-user-extra");
  return {
    clientCertificate: resolvePath(directory, user.text("client-certificate")),
    clientCertificateData: user.encodedText("client-certificate-data"),
    clientKey: resolvePath(directory, user.text("client-key")),
    clientKeyData: user.encodedText("client-key-data"),
    token: user.text("token"),
    tokenFile: resolvePath(directory, user.text("tokenFile")),
    username: user.text("username"),
    password: user.text("password"),
    impersonate: user.text("as"),
    impersonateUid: user.text("as-uid"),
    impersonateGroups: user.texts("as-groups"),
    impersonateExtra: new Map(extra.names().map((name) => [name, extra.texts(name)])),
    exec: user.has("exec") ? readExec(user.object("exec"), directory) : undefined,
    authProvider: user.has("auth-provider") ? user.object("auth-provider").text("name") : undefined,
  };
}

function readExec(exec: Fields, directory: string): KubeconfigExec {
  const command = exec.text("command");
  const apiVersion = exec.text("apiVersion");
  return {
    // A bare name is looked up in PATH.
    command: command.includes("/") ? resolvePath(directory, command) : command,
    arguments: exec.texts("args"),
    environment: exec.objects("env").map((variable) => [variable.text("name"), variable.text("value")] as const),
    apiVersion,
    installHint: exec.text("installHint"),
    provideClusterInfo: exec.flag("provideClusterInfo"),
    interactiveMode: exec.text("interactiveMode") || (apiVersion === "client.authentication.k8s.io/v1beta1" ? "IfAvailable" : ""),
  };
}

function readContext(context: Fields): KubeconfigContext {
  return { cluster: context.text("cluster"), user: context.text("user"), namespace: context.text("namespace") };
}

/** "" stays "". */
function resolvePath(directory: string, path: string): string {
  if (path === "" || /^([/\\]|[A-Za-z]:[/\\])/.test(path)) return path;
  const steps = path.split("/").filter((step) => step !== "" && step !== ".");
  const base = directory.split("/");
  for (; steps[0] === ".." && base.length > 1 && base.at(-1) !== ".."; steps.shift()) base.pop();
  return [...base, ...steps].join("/");
}
