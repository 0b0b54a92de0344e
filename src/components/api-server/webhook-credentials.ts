/**
 * The API server's credentials for webhooks: users of a kubeconfig that are named after targets, as upstream. Certificates and tokens in
 * files are read for each connection, so that they can be rotated.
 */
import { dirname, resolve } from "node:path";
import { readFile } from "node:fs/promises";
import type { WebhookCredentials } from "../../apiserver/http/webhook-transport.ts";
import { parseKubeconfig, type Kubeconfig, type KubeconfigUser } from "../../client/kubeconfig/kubeconfig.ts";
import type { ApiServerConfig } from "../../apiserver/framework/api-server-config.ts";
import type { ApiServerOptions } from "../../config/api-server-config.ts";
import { readAdmissionConfiguration, type AdmissionConfiguration } from "../../config/admission-configuration.ts";

const FLAG = "--admission-control-config-file";

/** Rejects with one sentence that names the file. */
export async function readAdmissionConfigFile(path: string): Promise<AdmissionConfiguration> {
  try {
    const configuration = await readAdmissionConfiguration(await readFile(path), (other) => readFile(resolve(dirname(path), other)));
    const { webhookKubeconfigFile: named } = configuration;
    return named === undefined ? configuration : { ...configuration, webhookKubeconfigFile: resolve(dirname(path), named) };
  } catch (error) {
    throw new Error(`Cannot use ${path} of ${FLAG}: ${(error as Error).message}`, { cause: error });
  }
}

export interface AdmissionFiles {
  /** With the configuration of plugins that the file has. */
  readonly api: ApiServerConfig;
  readonly credentials: (target: string) => Promise<WebhookCredentials>;
}

/** Without a file: the configuration as it is, and no credentials. */
export async function readAdmission({
  api,
  admissionConfigFile,
}: Pick<ApiServerOptions, "api" | "admissionConfigFile">): Promise<AdmissionFiles> {
  if (admissionConfigFile === undefined) return { api, credentials: await openWebhookCredentials(undefined) };
  const { webhookKubeconfigFile, podSecurity } = await readAdmissionConfigFile(admissionConfigFile);
  const credentials = await openWebhookCredentials(webhookKubeconfigFile);
  return { api: podSecurity === undefined ? api : { ...api, admission: { ...api.admission, podSecurity } }, credentials };
}

/** `kubeconfigFile`: absent: none. */
export async function openWebhookCredentials(kubeconfigFile: string | undefined): Promise<(target: string) => Promise<WebhookCredentials>> {
  if (kubeconfigFile === undefined) return () => Promise.resolve({});
  let config: Kubeconfig;
  try {
    config = parseKubeconfig(await readFile(kubeconfigFile), dirname(kubeconfigFile));
  } catch (error) {
    throw new Error(`Cannot use ${kubeconfigFile}, the kubeConfigFile of webhooks in ${FLAG}: ${(error as Error).message}`, {
      cause: error,
    });
  }
  return async (target) => {
    const user = webhookUser(config, target);
    return user === undefined ? {} : credentialsOf(user);
  };
}

/** By the exact target, then by "*.domain", both also without the default port; then "*"; then the user of the current context. */
export function webhookUser(
  { users, contexts, currentContext }: Pick<Kubeconfig, "users" | "contexts" | "currentContext">,
  target: string,
): KubeconfigUser | undefined {
  const targets = target.endsWith(":443") ? [target, target.slice(0, -":443".length)] : [target];
  for (const name of targets.flatMap(namesFor)) {
    const user = users.get(name);
    if (user !== undefined) return user;
  }
  return users.get("*") ?? users.get(contexts.get(currentContext)?.user ?? "");
}

function namesFor(target: string): readonly string[] {
  const steps = target.split(".");
  return [target, ...steps.slice(1).map((_step, index) => `*.${steps.slice(index + 1).join(".")}`)];
}

async function credentialsOf(user: KubeconfigUser): Promise<WebhookCredentials> {
  const certificate = await textOf(user.clientCertificateData, user.clientCertificate);
  const key = await textOf(user.clientKeyData, user.clientKey);
  const token = user.token || (user.tokenFile === "" ? "" : (await readFile(user.tokenFile, "utf8")).trim());
  return { ...(certificate === "" ? {} : { certificate, key }), ...(token === "" ? {} : { token }) };
}

/** Inline data is base64. */
async function textOf(data: string, file: string): Promise<string> {
  if (data !== "") return Buffer.from(data, "base64").toString("utf8");
  return file === "" ? "" : readFile(file, "utf8");
}
