/**
 * Locates the connection configuration as kubectl does: an explicit file, the files listed in KUBECONFIG, ~/.kube/config, and inside of a
 * Pod the service account. Environment and file access are arguments.
 */
import { decodeText } from "../../api/machinery/codec/json.ts";
import { isEmpty, lookAtContext, type Choice, type NamedFile } from "./choose-context.ts";
import type { ConnectionConfig } from "./connection-config.ts";
import { KubeconfigError, mergeKubeconfigs, parseKubeconfig, type Kubeconfig } from "./kubeconfig.ts";
import { proxyFromEnvironment, type Environment } from "./proxy-environment.ts";

export interface Surroundings {
  readonly environment: Environment;
  /** Rejects with an error whose `code` is "ENOENT" if the file does not exist. */
  readFile(path: string): Promise<Uint8Array>;
}

export interface LoadOptions extends Surroundings, Choice {
  readonly homeDirectory: string;
  /** Value of --kubeconfig: this file only. */
  readonly path?: string | undefined;
  /** Separator of the files in KUBECONFIG. Default: ":", as everywhere but on Windows. */
  readonly listSeparator?: string;
}

/** Rejects with a KubeconfigError that lists all problems. */
export async function loadKubeconfig(options: LoadOptions): Promise<ConnectionConfig> {
  const config = await readAll(options);
  if (isEmpty(config) && options.path === undefined && isInCluster(options.environment)) return inClusterConfig(options);
  const { problems: seen, files, connection } = lookAtContext(config, options);
  const problems = [...seen, ...(await unreadable(files, options))];
  if (problems.length > 0) throw new KubeconfigError(problems);
  return withProxy(connection, options.environment);
}

/** The merged files. Rejects with a KubeconfigError. */
async function readAll(options: Omit<LoadOptions, keyof Choice>): Promise<Kubeconfig> {
  const problems: string[] = [];
  const configs: Kubeconfig[] = [];
  for (const path of pathsOf(options)) {
    try {
      configs.push(parseKubeconfig(await options.readFile(path), directoryOf(path)));
    } catch (error) {
      // A listed file that does not exist is skipped; an explicit one must exist.
      if (isMissing(error) && options.path === undefined) continue;
      problems.push(`error loading config file "${path}": ${(error as Error).message}`);
    }
  }
  if (problems.length > 0) throw new KubeconfigError(problems);
  return mergeKubeconfigs(configs);
}

function pathsOf({ path, environment, homeDirectory, listSeparator = ":" }: Omit<LoadOptions, keyof Choice>): readonly string[] {
  if (path !== undefined) return [path];
  const { KUBECONFIG: list = "" } = environment;
  if (list === "") return [`${homeDirectory}/.kube/config`];
  return [...new Set(list.split(listSeparator).filter((entry) => entry !== ""))];
}

function directoryOf(path: string): string {
  const slash = Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\"));
  if (slash < 0) return ".";
  return path.slice(0, slash);
}

function isMissing(error: unknown): boolean {
  return (error as { readonly code?: unknown }).code === "ENOENT";
}

async function unreadable(files: readonly NamedFile[], surroundings: Surroundings): Promise<readonly string[]> {
  const problems = await Promise.all(
    files.map(({ field, path, entry }) =>
      surroundings.readFile(path).then(
        () => [],
        (error: unknown) => [`unable to read ${field} ${path} for ${entry} due to ${(error as Error).message}`],
      ),
    ),
  );
  return problems.flat();
}

function withProxy(connection: ConnectionConfig, environment: Environment): ConnectionConfig {
  const proxyUrl = connection.proxyUrl ?? proxyFromEnvironment(connection.server, environment);
  return proxyUrl === undefined ? connection : { ...connection, proxyUrl };
}

const SERVICE_ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount";

/** Whether to use the in-cluster configuration: in a Pod and without a kubeconfig. */
export function isOfServiceAccount({ credentials }: ConnectionConfig): boolean {
  return credentials?.tokenFile === SERVICE_ACCOUNT_TOKEN;
}

const SERVICE_ACCOUNT_TOKEN = `${SERVICE_ACCOUNT}/token`;

function isInCluster({ KUBERNETES_SERVICE_HOST: host = "", KUBERNETES_SERVICE_PORT: port = "" }: Environment): boolean {
  return host !== "" && port !== "";
}

/** In-cluster configuration. The token rotates and is re-read. */
export async function inClusterConfig({ environment, readFile }: Surroundings): Promise<ConnectionConfig> {
  if (!isInCluster(environment))
    throw new KubeconfigError([
      "unable to load in-cluster configuration, KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT must be defined",
    ]);
  const { KUBERNETES_SERVICE_HOST: host = "", KUBERNETES_SERVICE_PORT: port = "" } = environment;
  const tokenFile = SERVICE_ACCOUNT_TOKEN;
  try {
    await readFile(tokenFile);
  } catch (error) {
    throw new KubeconfigError([`unable to read ${tokenFile} due to ${(error as Error).message}`]);
  }
  const readable = (path: string) => readFile(path).catch(() => undefined);
  const authority = await readable(`${SERVICE_ACCOUNT}/ca.crt`);
  const namespace = await readable(`${SERVICE_ACCOUNT}/namespace`);
  return withProxy(
    {
      server: `https://${host.includes(":") ? `[${host}]` : host}:${port}`,
      namespace: namespace === undefined ? "default" : decodeText(namespace).trim() || "default",
      credentials: { tokenFile },
      ...(authority === undefined ? {} : { authority: { file: `${SERVICE_ACCOUNT}/ca.crt` } }),
    },
    environment,
  );
}
