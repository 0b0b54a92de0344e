/**
 * Parses an AdmissionConfiguration (--admission-control-config-file): the kubeconfig with which webhooks are called, and the defaults and
 * exemptions of PodSecurity. The caller reads the files. Throws one error with all problems.
 */
import { parseYaml } from "../api/machinery/codec/yaml/yaml.ts";
import { isObject, type Json, type JsonObject } from "../api/machinery/object.ts";
import { DEFAULT_ADMISSION_CONFIG, type PodSecurityConfig } from "../apiserver/framework/admission-config.ts";

export interface AdmissionConfiguration {
  /** Relative to the file. Absent: webhooks are called without credentials. */
  readonly webhookKubeconfigFile?: string;
  readonly podSecurity?: PodSecurityConfig;
}

/** A plugin's configuration in a file of its own is read with this; relative paths are the caller's. */
export type ReadPluginFile = (path: string) => Promise<Uint8Array>;

const WEBHOOK_PLUGINS: readonly string[] = ["MutatingAdmissionWebhook", "ValidatingAdmissionWebhook"];
const POD_SECURITY = "PodSecurity";

export async function readAdmissionConfiguration(bytes: Uint8Array, readFile: ReadPluginFile): Promise<AdmissionConfiguration> {
  const document = objectOf(parseYaml(bytes).value, "The file");
  const { kind, apiVersion } = document;
  if (kind !== "AdmissionConfiguration" || !textOf(apiVersion).startsWith("apiserver.config.k8s.io/")) {
    throw new Error(`It must be an AdmissionConfiguration of apiserver.config.k8s.io/v1, is ${textOf(kind)} of ${textOf(apiVersion)}`);
  }
  const plugins = Array.isArray(document["plugins"]) ? (document["plugins"] as readonly Json[]) : [];
  const kubeconfigs = new Set<string>();
  let podSecurity: PodSecurityConfig | undefined;
  for (const entry of plugins) {
    const { name, configuration, path } = objectOf(entry, "An item of plugins");
    const own = configuration ?? (typeof path === "string" && path !== "" ? parseYaml(await readFile(path)).value : undefined);
    if (own === undefined) continue;
    if (WEBHOOK_PLUGINS.includes(textOf(name))) kubeconfigs.add(kubeconfigOf(objectOf(own, `The configuration of ${textOf(name)}`)));
    else if (name === POD_SECURITY) podSecurity = podSecurityOf(objectOf(own, `The configuration of ${POD_SECURITY}`));
    else throw new Error(`The plugin ${textOf(name)} has no configuration; ${[...WEBHOOK_PLUGINS, POD_SECURITY].join(", ")} have one`);
  }
  kubeconfigs.delete("");
  if (kubeconfigs.size > 1) throw new Error(`${WEBHOOK_PLUGINS.join(" and ")} must name the same kubeConfigFile`);
  const [webhookKubeconfigFile] = kubeconfigs;
  return {
    ...(webhookKubeconfigFile === undefined ? {} : { webhookKubeconfigFile }),
    ...(podSecurity === undefined ? {} : { podSecurity }),
  };
}

function textOf(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}

function objectOf(value: Json | undefined, what: string): JsonObject {
  if (!isObject(value)) throw new Error(`${what} must be an object`);
  return value;
}

function kubeconfigOf({ kind, kubeConfigFile }: JsonObject): string {
  if (kind !== "WebhookAdmissionConfiguration") throw new Error(`The kind must be WebhookAdmissionConfiguration, is ${textOf(kind)}`);
  return typeof kubeConfigFile === "string" ? kubeConfigFile : "";
}

function podSecurityOf({ kind, defaults, exemptions }: JsonObject): PodSecurityConfig {
  if (kind !== "PodSecurityConfiguration") throw new Error(`The kind must be PodSecurityConfiguration, is ${textOf(kind)}`);
  const { defaults: usual } = DEFAULT_ADMISSION_CONFIG.podSecurity;
  const given = isObject(defaults) ? defaults : {};
  const exempt = isObject(exemptions) ? exemptions : {};
  const text = (name: string, usually: string): string => (typeof given[name] === "string" ? given[name] : usually);
  const names = (name: string): readonly string[] => (Array.isArray(exempt[name]) ? (exempt[name] as readonly Json[]).map(textOf) : []);
  return {
    defaults: {
      enforce: text("enforce", usual.enforce),
      enforceVersion: text("enforce-version", usual.enforceVersion),
      audit: text("audit", usual.audit),
      auditVersion: text("audit-version", usual.auditVersion),
      warn: text("warn", usual.warn),
      warnVersion: text("warn-version", usual.warnVersion),
    },
    exemptions: { usernames: names("usernames"), runtimeClasses: names("runtimeClasses"), namespaces: names("namespaces") },
  };
}
