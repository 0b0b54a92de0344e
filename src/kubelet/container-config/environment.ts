/**
 * Environment of a container: `envFrom`, then `env` in order, each of which may reference earlier ones and the Services' as `$(NAME)`; the
 * last of a name wins. Service variables are appended where the name is free. A missing required reference throws a ContainerConfigError
 * with upstream's message.
 */
import type { ConfigMap, EnvFromSource, EnvVar, EnvVarSource, FileKeySelector, Pod, Secret } from "../../api/generated/core/v1.ts";
import type { AnyContainer } from "../../api/core/v1/pod/containers.ts";
import type { ResourceList } from "../../api/core/v1/pod/resource-list.ts";
import { decodeBase64 } from "../../api/machinery/codec/base64.ts";
import { quoteGo } from "../../api/machinery/codec/go-text.ts";
import { ContainerConfigError } from "../contracts/pod-machine.ts";
import type { MountedVolume } from "../contracts/pod-volumes.ts";
import type { References } from "../references/references.ts";
import { DownwardError, variableAmount, variableField, type PodAddresses } from "../shared/downward.ts";
import { environmentFileValue } from "./environment-file.ts";
import { asWritten, expand } from "./expansion.ts";
import { linkedServices, serviceVariables } from "./service-variables.ts";

export interface EnvironmentView {
  readonly pod: Pod;
  readonly container: AnyContainer;
  readonly addresses: PodAddresses;
  readonly allocatable: ResourceList;
  readonly references: Pick<References, "configMap" | "secret" | "services">;
  readonly mounted: ReadonlyMap<string, MountedVolume>;
  /** Reads a file of a volume; the path never leaves the volume. */
  readonly readFile: (volume: MountedVolume, path: string) => Promise<string>;
  readonly signal?: AbortSignal;
}

/** By name, in the order in which they are passed to the runtime. */
export async function environmentOf(view: EnvironmentView): Promise<ReadonlyMap<string, string>> {
  const { pod, container } = view;
  const namespace = pod.metadata.namespace ?? "";
  const all = await asked(view.references.services(namespace, view.signal));
  const ofServices = serviceVariables(linkedServices(all, { namespace, links: pod.spec?.enableServiceLinks ?? true }));
  const variables = new Map<string, string>();
  for (const source of container.envFrom ?? []) {
    for (const [name, value] of await importedBy(source, view)) variables.set(name, value);
  }
  const valueOf = (name: string): string => variables.get(name) ?? ofServices.get(name) ?? asWritten(name);
  for (const variable of container.env ?? []) {
    const value = await valueOfVariable(variable, valueOf, view);
    if (value !== undefined) variables.set(variable.name, value);
  }
  for (const [name, value] of ofServices) if (!variables.has(name)) variables.set(name, value);
  return variables;
}

/** Undefined: an optional reference is missing, so the variable is not set. */
async function valueOfVariable(
  { value = "", valueFrom }: EnvVar,
  valueOf: (name: string) => string,
  view: EnvironmentView,
): Promise<string | undefined> {
  if (value !== "") return expand(value, valueOf);
  return valueFrom === undefined ? "" : valueFromSource(valueFrom, view);
}

async function valueFromSource(source: EnvVarSource, view: EnvironmentView): Promise<string | undefined> {
  const { pod, container, allocatable } = view;
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef } = source;
  if (fieldRef !== undefined) return downwardValue(() => variableField(fieldRef, pod, view.addresses));
  if (resourceFieldRef !== undefined) return downwardValue(() => variableAmount(resourceFieldRef, { pod, container, allocatable }));
  if (configMapKeyRef !== undefined) return keyOf("ConfigMap", await configMapOf(configMapKeyRef, view), configMapKeyRef, pod);
  if (secretKeyRef !== undefined) return keyOf("Secret", await secretOf(secretKeyRef, view), secretKeyRef, pod);
  if (fileKeyRef !== undefined) return valueInFile(fileKeyRef, view);
  return "";
}

function downwardValue(value: () => string): string {
  try {
    return value();
  } catch (error) {
    throw error instanceof DownwardError ? new ContainerConfigError(error.message, { cause: error }) : error;
  }
}

// ── ConfigMaps and Secrets ──────────────────────────────────────────────────────────────────────────

interface ObjectSelector {
  readonly name?: string;
  readonly optional?: boolean;
}

type Values = ReadonlyMap<string, string>;

async function importedBy({ prefix = "", configMapRef, secretRef }: EnvFromSource, view: EnvironmentView): Promise<Values> {
  let values: Values | undefined;
  if (configMapRef !== undefined) values = await configMapOf(configMapRef, view);
  else if (secretRef !== undefined) values = await secretOf(secretRef, view);
  return new Map([...(values ?? [])].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([name, value]) => [prefix + name, value]));
}

/** Undefined: optional and missing. */
async function configMapOf(selector: ObjectSelector, { pod, references, signal }: EnvironmentView): Promise<Values | undefined> {
  const name = selector.name ?? "";
  const found: ConfigMap | undefined = await asked(references.configMap(pod.metadata.namespace ?? "", name, signal));
  if (found === undefined) return missing("configmap", selector);
  return new Map(Object.entries(found.data ?? {}));
}

async function secretOf(selector: ObjectSelector, { pod, references, signal }: EnvironmentView): Promise<Values | undefined> {
  const name = selector.name ?? "";
  const found: Secret | undefined = await asked(references.secret(pod.metadata.namespace ?? "", name, signal));
  if (found === undefined) return missing("secret", selector);
  return new Map(Object.entries(found.data ?? {}).map(([key, value]) => [key, decoder.decode(decodeBase64(value))]));
}

/** A byte order mark is part of the value. */
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

function missing(kind: "configmap" | "secret", { name = "", optional }: ObjectSelector): undefined {
  if (optional !== true) throw new ContainerConfigError(`${kind} ${quoteGo(name)} not found`);
  return undefined;
}

function keyOf(
  kind: "ConfigMap" | "Secret",
  values: Values | undefined,
  { name = "", key, optional }: ObjectSelector & { readonly key: string },
  { metadata }: Pod,
): string | undefined {
  const value = values?.get(key);
  if (value === undefined && optional !== true)
    throw new ContainerConfigError(`couldn't find key ${key} in ${kind} ${metadata.namespace}/${name}`);
  return value;
}

/** Any API error prevents creating the container for now. */
async function asked<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    throw new ContainerConfigError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

// ── files ───────────────────────────────────────────────────────────────────────────────────────────

async function valueInFile({ volumeName, path, key, optional }: FileKeySelector, view: EnvironmentView): Promise<string | undefined> {
  const volume = view.mounted.get(volumeName);
  if (volume === undefined) throw new ContainerConfigError(`cannot find the volume ${quoteGo(volumeName)} referenced by FileKeyRef`);
  let value: string | undefined;
  try {
    value = environmentFileValue(await view.readFile(volume, path), key);
  } catch (error) {
    // File contents and host paths must not leak into the status, which many users can read.
    throw new ContainerConfigError("couldn't parse env file", { cause: error });
  }
  if (value !== undefined && value !== "") return value;
  if (optional === true) return undefined;
  throw new ContainerConfigError(`environment variable key ${quoteGo(key)} not found in file ${quoteGo(`${volume.path}/${path}`)}`);
}
