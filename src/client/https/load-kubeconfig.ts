/**
 * Where the connection to the cluster is found, as kubectl looks for it: an explicit file, those that KUBECONFIG lists, ~/.kube/config, and
 * inside of a Pod the service account. The environment and the files come as arguments.
 */
import { decodeText } from "../../api/machinery/codec/json.ts";
import { isEmpty, lookAtContext, type Choice, type NamedFile } from "./choose-context.ts";
import type { ConnectionConfig } from "./connection-config.ts";
import { KubeconfigError, mergeKubeconfigs, parseKubeconfig, type Kubeconfig } from "./kubeconfig.ts";
import { proxyFromEnvironment, type Environment } from "./proxy-environment.ts";

export interface Surroundings {
  readonly environment: Environment;
  /** Rejects with an error whose `code` is "ENOENT" if there is no such file. */
  readFile(path: string): Promise<Uint8Array>;
}

export interface LoadOptions extends Surroundings, Choice {
  readonly homeDirectory: string;
  /** What was asked for with --kubeconfig: this file and no other. */
  readonly path?: string | undefined;
  /** What stands between the files in KUBECONFIG. Default: ":", as everywhere but on Windows. */
  readonly listSeparator?: string;
}

/** Rejects with a KubeconfigError that names everything that is wrong. */
export async function loadKubeconfig(options: LoadOptions): Promise<ConnectionConfig> {
  const config = await readAll(options);
  if (isEmpty(config) && options.path === undefined && isInCluster(options.environment)) return inClusterConfig(options);
  const { problems: seen, files, connection } = lookAtContext(config, options);
  const problems = [...seen, ...(await unreadable(files, options))];
  if (problems.length > 0) throw new KubeconfigError(problems);
  return withProxy(connection, options.environment);
}

/** The merged files as they are. Rejects with a KubeconfigError. */
async function readAll(options: Omit<LoadOptions, keyof Choice>): Promise<Kubeconfig> {
  const problems: string[] = [];
  const configs: Kubeconfig[] = [];
  for (const path of pathsOf(options)) {
    try {
      configs.push(parseKubeconfig(await options.readFile(path), directoryOf(path)));
    } catch (error) {
      // A file that is listed and not there is passed over; one that was asked for must be there.
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

/** Whether it is the one that a Pod finds itself in, and no file named it. */
export function isOfServiceAccount({ credentials }: ConnectionConfig): boolean {
  return credentials?.tokenFile === SERVICE_ACCOUNT_TOKEN;
}

const SERVICE_ACCOUNT_TOKEN = `${SERVICE_ACCOUNT}/token`;

function isInCluster({ KUBERNETES_SERVICE_HOST: host = "", KUBERNETES_SERVICE_PORT: port = "" }: Environment): boolean {
  return host !== "" && port !== "";
}

/** For a program in a Pod. Its token rotates, and is read again as it does. */
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
