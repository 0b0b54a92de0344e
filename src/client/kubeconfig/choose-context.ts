/**
 * Turns one context of a kubeconfig into a connection. Problems are reported in upstream's wording, which users search for, all at once.
 * Only what the context references is validated: other entries may be broken.
 */
import type { ConnectionConfig, CredentialsConfig, ExecConfig, Impersonation, Source } from "./connection-config.ts";
import { tokenProblem } from "./bearer-token.ts";
import { KubeconfigError, type Kubeconfig, type KubeconfigCluster, type KubeconfigContext, type KubeconfigUser } from "./kubeconfig.ts";

/** Overrides besides the files. */
export interface Choice {
  readonly context?: string | undefined;
  readonly cluster?: string | undefined;
  readonly user?: string | undefined;
  readonly namespace?: string | undefined;
}

const NO_CONFIGURATION = "no configuration has been provided, try setting KUBERNETES_MASTER environment variable";

export function isEmpty({ clusters, users, contexts, currentContext }: Kubeconfig): boolean {
  return clusters.size === 0 && users.size === 0 && contexts.size === 0 && currentContext === "";
}

/** What a context references. */
export interface Chosen {
  /** All problems that can be found without reading other files. */
  readonly problems: readonly string[];
  /** Files that must exist, with the field and the entry that reference them. */
  readonly files: readonly NamedFile[];
  /** Best effort; usable only if there are no problems. */
  readonly connection: ConnectionConfig;
}

export interface NamedFile {
  readonly field: string;
  readonly path: string;
  readonly entry: string;
}

/** Throws a KubeconfigError. */
export function chooseContext(config: Kubeconfig, choice: Choice = {}): ConnectionConfig {
  const { problems, connection } = lookAtContext(config, choice);
  if (problems.length > 0) throw new KubeconfigError(problems);
  return connection;
}

/** Throws a KubeconfigError if the context does not exist or references nothing. */
export function lookAtContext(config: Kubeconfig, choice: Choice = {}): Chosen {
  if (isEmpty(config)) throw new KubeconfigError([NO_CONFIGURATION]);
  const name = choice.context ?? config.currentContext;
  if (name === "") throw new KubeconfigError(["no context chosen"]);
  const found = config.contexts.get(name);
  if (found === undefined) throw new KubeconfigError([`context was not found for specified context: ${name}`]);
  const context = {
    cluster: choice.cluster ?? found.cluster,
    user: choice.user ?? found.user,
    namespace: choice.namespace ?? found.namespace,
  };
  const cluster = config.clusters.get(context.cluster);
  const user = config.users.get(context.user);
  const problems = [
    ...contextProblems(name, context, { cluster, user }),
    ...(user === undefined ? [] : userProblems(context.user, user)),
    ...(cluster === undefined ? [] : clusterProblems(context.cluster, cluster)),
  ];
  if (cluster === undefined || user === undefined) throw new KubeconfigError(problems);
  return { problems, files: filesOf(context, cluster, user), connection: connectionOf(context, cluster, user) };
}

/** Inline data takes precedence over a file, which is then ignored. */
function filesOf(context: KubeconfigContext, cluster: KubeconfigCluster, user: KubeconfigUser): readonly NamedFile[] {
  const files = [
    [cluster.certificateAuthorityData, { field: "certificate-authority", path: cluster.certificateAuthority, entry: context.cluster }],
    [user.clientCertificateData, { field: "client-cert", path: user.clientCertificate, entry: context.user }],
    [user.clientKeyData, { field: "client-key", path: user.clientKey, entry: context.user }],
  ] as const;
  return files.filter(([data, { path }]) => data === "" && path !== "").map(([, file]) => file);
}

function contextProblems(
  name: string,
  context: KubeconfigContext,
  found: { readonly cluster: KubeconfigCluster | undefined; readonly user: KubeconfigUser | undefined },
): readonly string[] {
  const problems: string[] = [];
  if (context.user === "") problems.push(`user was not specified for context "${name}"`);
  else if (found.user === undefined) problems.push(`user "${context.user}" was not found for context "${name}"`);
  if (context.cluster === "") problems.push(`cluster was not specified for context "${name}"`);
  else if (found.cluster === undefined) problems.push(`cluster "${context.cluster}" was not found for context "${name}"`);
  return problems;
}

function clusterProblems(name: string, cluster: KubeconfigCluster): readonly string[] {
  const problems: string[] = [];
  if (cluster.server === "") problems.push(`no server found for cluster "${name}"`);
  else if (serverUrl(cluster) === undefined) problems.push(`invalid server "${cluster.server}" for cluster "${name}": must be a URL`);
  const wrong = proxyProblem(cluster.proxyUrl);
  if (wrong !== undefined) problems.push(`invalid 'proxy-url' "${cluster.proxyUrl}" for cluster "${name}": ${wrong}`);
  if (cluster.certificateAuthority !== "" && cluster.certificateAuthorityData !== "")
    problems.push(
      `certificate-authority-data and certificate-authority are both specified for ${name}. certificate-authority-data will override.`,
    );
  if (cluster.insecureSkipTlsVerify && (cluster.certificateAuthority !== "" || cluster.certificateAuthorityData !== ""))
    problems.push(`specifying a root certificates file with the insecure flag is not allowed`);
  return problems;
}

const PROXY_SCHEMES = ["http", "https", "socks5"];

function proxyProblem(proxyUrl: string): string | undefined {
  if (proxyUrl === "") return undefined;
  if (!URL.canParse(proxyUrl)) return `could not parse: ${proxyUrl}`;
  const scheme = new URL(proxyUrl).protocol.slice(0, -1);
  return PROXY_SCHEMES.includes(scheme) ? undefined : `unsupported scheme "${scheme}", must be http, https, or socks5`;
}

function userProblems(name: string, user: KubeconfigUser): readonly string[] {
  const problems = [...certificateProblems(name, user), ...execProblems(name, user)];
  if (user.token !== "" && (user.username !== "" || user.password !== ""))
    problems.push(`more than one authentication method found for ${name}; found [token basicAuth], only one is allowed`);
  const wrong = tokenProblem(user.token);
  if (wrong !== undefined) problems.push(`token of user "${name}": ${wrong}`);
  const hasMore = user.impersonateUid !== "" || user.impersonateGroups.length > 0 || user.impersonateExtra.size > 0;
  if (hasMore && user.impersonate === "") problems.push(`requesting uid, groups or user-extra for ${name} without impersonating a user`);
  return problems;
}

function certificateProblems(name: string, user: KubeconfigUser): readonly string[] {
  const { clientCertificate, clientCertificateData, clientKey, clientKeyData } = user;
  if (clientCertificate === "" && clientCertificateData === "") return [];
  const problems: string[] = [];
  if (clientCertificate !== "" && clientCertificateData !== "")
    problems.push(`client-cert-data and client-cert are both specified for ${name}. client-cert-data will override.`);
  if (clientKey !== "" && clientKeyData !== "")
    problems.push(`client-key-data and client-key are both specified for ${name}; client-key-data will override`);
  if (clientKey === "" && clientKeyData === "")
    problems.push(`client-key-data or client-key must be specified for ${name} to use the clientCert authentication method.`);
  return problems;
}

const INTERACTIVE_MODES = ["Never", "IfAvailable", "Always"];
const EXEC_VERSIONS = ["client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1"];

function execProblems(name: string, { exec, authProvider }: KubeconfigUser): readonly string[] {
  const problems: string[] = [];
  if (exec !== undefined && authProvider !== undefined)
    problems.push(`authProvider cannot be provided in combination with an exec plugin for ${name}`);
  else if (authProvider !== undefined)
    problems.push(`auth-provider "${authProvider}" of user "${name}" is not supported; use an exec credential plugin instead`);
  if (exec === undefined) return problems;
  const end = `must be specified for ${name} to use exec authentication plugin`;
  if (exec.command === "") problems.push(`command ${end}`);
  if (exec.apiVersion === "") problems.push(`apiVersion ${end}`);
  else if (!EXEC_VERSIONS.includes(exec.apiVersion)) problems.push(`exec plugin: invalid apiVersion "${exec.apiVersion}"`);
  if (exec.environment.some(([variable]) => variable === "")) problems.push(`env variable name ${end}`);
  if (exec.interactiveMode === "") problems.push(`interactiveMode ${end}`);
  else if (!INTERACTIVE_MODES.includes(exec.interactiveMode))
    problems.push(`invalid interactiveMode for ${name}: "${exec.interactiveMode}"`);
  return problems;
}

function connectionOf(context: KubeconfigContext, cluster: KubeconfigCluster, user: KubeconfigUser): ConnectionConfig {
  const server = serverUrl(cluster) ?? "";
  const authority = sourceOf(cluster.certificateAuthorityData, cluster.certificateAuthority);
  const impersonate = impersonationOf(user);
  return {
    server,
    namespace: context.namespace || "default",
    isInsecure: cluster.insecureSkipTlsVerify,
    disableCompression: cluster.disableCompression,
    // As upstream: credentials are not sent over plain HTTP.
    credentials: /^https:/i.test(server) ? credentialsOf(user, cluster) : {},
    ...(authority === undefined ? {} : { authority }),
    ...(cluster.tlsServerName === "" ? {} : { serverName: cluster.tlsServerName }),
    ...(cluster.proxyUrl === "" ? {} : { proxyUrl: cluster.proxyUrl }),
    ...(impersonate === undefined ? {} : { impersonate }),
  };
}

/** Without a scheme it is plain HTTP, whatever the certificate fields are, as in kubectl. */
function serverUrl({ server }: KubeconfigCluster): string | undefined {
  const url = /^[a-z][a-z0-9+.-]*:\/\//i.test(server) ? server : `http://${server}`;
  return /^https?:/i.test(url) && URL.canParse(url) ? url.replace(/\/+$/, "") : undefined;
}

function sourceOf(text: string, file: string): Source | undefined {
  if (text !== "") return { text };
  return file === "" ? undefined : { file };
}

function credentialsOf(user: KubeconfigUser, cluster: KubeconfigCluster): CredentialsConfig {
  const certificate = sourceOf(user.clientCertificateData, user.clientCertificate);
  const key = sourceOf(user.clientKeyData, user.clientKey);
  const hasBasic = user.username !== "" || user.password !== "";
  const exec = execOf(user, cluster);
  return {
    ...(certificate === undefined || key === undefined ? {} : { certificate: { certificate, key } }),
    ...(user.tokenFile === "" ? {} : { tokenFile: user.tokenFile }),
    ...(user.token === "" ? {} : { token: user.token }),
    ...(hasBasic ? { basic: { username: user.username, password: user.password } } : {}),
    ...(exec === undefined ? {} : { exec }),
  };
}

/** Name of the cluster entry's extension for exec plugins. */
const EXEC_EXTENSION = "client.authentication.k8s.io/exec";

function execOf({ exec }: KubeconfigUser, { extensions }: KubeconfigCluster): ExecConfig | undefined {
  if (exec === undefined) return undefined;
  const { installHint, ...rest } = exec;
  const clusterConfig = extensions.get(EXEC_EXTENSION);
  return { ...rest, ...(installHint === "" ? {} : { installHint }), ...(clusterConfig === undefined ? {} : { clusterConfig }) };
}

function impersonationOf(user: KubeconfigUser): Impersonation | undefined {
  if (user.impersonate === "") return undefined;
  return {
    user: user.impersonate,
    groups: user.impersonateGroups,
    extra: user.impersonateExtra,
    ...(user.impersonateUid === "" ? {} : { uid: user.impersonateUid }),
  };
}
