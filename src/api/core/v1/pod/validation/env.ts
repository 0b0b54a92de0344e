/** Validation of environment variables, and of downward API references in variables and in files. */
import type {
  ConfigMapKeySelector,
  EnvFromSource,
  EnvVar,
  EnvVarSource,
  FileKeySelector,
  ObjectFieldSelector,
  ResourceFieldSelector,
  SecretKeySelector,
} from "../../../../generated/core/v1.ts";
import { invalid, notSupported, required, type FieldError } from "../../../../machinery/field-error.ts";
import { maskTrailingDash, validateDnsSubdomain } from "../../../../machinery/names.ts";
import { isZero, formatQuantity } from "../../../../machinery/quantity.ts";
import { configMapKey, dnsLabel, dnsSubdomain, environmentName, qualifiedName } from "./checks.ts";
import { readQuantity } from "../resource-list.ts";
import { validateNoBacksteps } from "./paths.ts";

/** Pod fields that a variable may reference. */
const VARIABLE_FIELDS = [
  "metadata.name",
  "metadata.namespace",
  "metadata.uid",
  "spec.nodeName",
  "spec.serviceAccountName",
  "status.hostIP",
  "status.hostIPs",
  "status.podIP",
  "status.podIPs",
];

/** Pod fields that a file may reference: it is updated on changes, so labels as a whole too, and nothing that is known only later. */
export const FILE_FIELDS = ["metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid"];

/** Fields that exist in a Pod, whether or not they are allowed in the given place. */
const KNOWN_FIELDS: ReadonlySet<string> = new Set([
  ...VARIABLE_FIELDS,
  ...FILE_FIELDS,
  "spec.restartPolicy",
  "spec.schedulerName",
  "status.phase",
]);

const RESOURCE_FIELDS = [
  "limits.cpu",
  "limits.ephemeral-storage",
  "limits.memory",
  "requests.cpu",
  "requests.ephemeral-storage",
  "requests.memory",
];
const HUGE_PAGES_FIELD = /^(?:limits|requests)\.hugepages-/;

const CPU_DIVISORS: ReadonlySet<string> = new Set(["1", "1m"]);
const BYTE_DIVISORS: ReadonlySet<string> = new Set(["1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"]);
const BYTE_DIVISORS_TEXT = "1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei";

export function* validateEnv(variables: readonly EnvVar[], at: string): Iterable<FieldError> {
  for (const [index, variable] of variables.entries()) {
    const here = `${at}[${index}]`;
    if (!variable.name) yield required(`${here}.name`);
    else yield* environmentName(variable.name, `${here}.name`);
    if (variable.valueFrom !== undefined) yield* validateValueFrom(variable.valueFrom, variable.value ?? "", `${here}.valueFrom`);
  }
}

function* validateValueFrom(source: EnvVarSource, value: string, at: string): Iterable<FieldError> {
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef } = source;
  if (fieldRef !== undefined) yield* validateFieldRef(fieldRef, VARIABLE_FIELDS, `${at}.fieldRef`);
  if (resourceFieldRef !== undefined) yield* validateResourceFieldRef(resourceFieldRef, `${at}.resourceFieldRef`, { inVolume: false });
  if (configMapKeyRef !== undefined) yield* validateKeyRef(configMapKeyRef, `${at}.configMapKeyRef`);
  if (secretKeyRef !== undefined) yield* validateKeyRef(secretKeyRef, `${at}.secretKeyRef`);
  if (fileKeyRef !== undefined) yield* validateFileKeyRef(fileKeyRef, `${at}.fileKeyRef`);

  const count = [fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef].filter((one) => one !== undefined).length;
  if (count === 0) {
    yield invalid(at, "", "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`");
  } else if (value !== "") yield invalid(at, "", "may not be specified when `value` is not empty");
  else if (count > 1) yield invalid(at, "", "may not have more than one field specified at a time");
}

/** "metadata.labels['app']" → its path and its subscript. */
const SUBSCRIPTED = /^(.+?)\['([^]*)'\]$/;

export function* validateFieldRef(reference: ObjectFieldSelector, allowed: readonly string[], at: string): Iterable<FieldError> {
  if (!reference.apiVersion) return yield required(`${at}.apiVersion`);
  if (!reference.fieldPath) return yield required(`${at}.fieldPath`);
  const problem = unknownField(reference.apiVersion, reference.fieldPath);
  if (problem !== undefined) {
    return yield invalid(`${at}.fieldPath`, reference.fieldPath, `error converting fieldPath: ${problem}`);
  }
  const [, path, subscript] = SUBSCRIPTED.exec(reference.fieldPath) ?? [];
  if (path !== undefined && subscript !== undefined) {
    // Annotation keys may have upper case letters in the prefix, label keys may not.
    yield* qualifiedName(path === "metadata.annotations" ? subscript.toLowerCase() : subscript, at);
    return;
  }
  // A legacy name of the same field.
  const plain = reference.fieldPath === "spec.host" ? "spec.nodeName" : reference.fieldPath;
  if (!allowed.includes(plain)) yield notSupported(`${at}.fieldPath`, plain, allowed);
}

function unknownField(apiVersion: string, fieldPath: string): string | undefined {
  if (apiVersion !== "v1") return `unsupported pod version: ${apiVersion}`;
  const path = SUBSCRIPTED.exec(fieldPath)?.[1];
  if (path !== undefined) {
    const hasKeys = path === "metadata.annotations" || path === "metadata.labels";
    return hasKeys ? undefined : `field label does not support subscript: ${fieldPath}`;
  }
  return KNOWN_FIELDS.has(fieldPath) || fieldPath === "spec.host" ? undefined : `field label not supported: ${fieldPath}`;
}

export function* validateResourceFieldRef(
  reference: ResourceFieldSelector,
  at: string,
  options: { readonly inVolume: boolean },
): Iterable<FieldError> {
  const resource = reference.resource ?? "";
  if (options.inVolume && !reference.containerName) yield required(`${at}.containerName`);
  else if (resource === "") yield required(`${at}.resource`);
  else if (!RESOURCE_FIELDS.includes(resource) && !HUGE_PAGES_FIELD.test(resource)) {
    yield notSupported(`${at}.resource`, resource, RESOURCE_FIELDS);
  }
  if (reference.divisor !== undefined) yield* validateDivisor(resource, reference.divisor, `${at}.divisor`);
}

function* validateDivisor(resource: string, text: string, at: string): Iterable<FieldError> {
  const quantity = readQuantity(text);
  if (isZero(quantity)) return;
  const divisor = formatQuantity(quantity);
  if (resource.endsWith(".cpu")) {
    if (!CPU_DIVISORS.has(divisor)) yield invalid(at, resource, "only divisor's values 1m and 1 are supported with the cpu resource");
    return;
  }
  const kind = byteResource(resource);
  if (kind !== undefined && !BYTE_DIVISORS.has(divisor)) {
    yield invalid(at, resource, `only divisor's values ${BYTE_DIVISORS_TEXT} are supported with the ${kind} resource`);
  }
}

function byteResource(resource: string): string | undefined {
  if (resource === "limits.memory" || resource === "requests.memory") return "memory";
  if (resource === "limits.ephemeral-storage" || resource === "requests.ephemeral-storage") return "local ephemeral storage";
  return HUGE_PAGES_FIELD.test(resource) ? "hugepages" : undefined;
}

function* validateKeyRef(reference: ConfigMapKeySelector | SecretKeySelector, at: string): Iterable<FieldError> {
  yield* dnsSubdomain(reference.name ?? "", `${at}.name`);
  if (!reference.key) yield required(`${at}.key`);
  else yield* configMapKey(reference.key, `${at}.key`);
}

function* validateFileKeyRef(reference: FileKeySelector, at: string): Iterable<FieldError> {
  if (!reference.key) yield required(`${at}.key`);
  else yield* environmentName(reference.key, `${at}.key`);
  if (!reference.volumeName) yield required(`${at}.volumeName`);
  else yield* dnsLabel(reference.volumeName, `${at}.volumeName`);
  if (!reference.path) yield required(`${at}.path`);
  else yield* validateNoBacksteps(reference.path, `${at}.path`);
}

export function* validateEnvFrom(sources: readonly EnvFromSource[], at: string): Iterable<FieldError> {
  for (const [index, { prefix, configMapRef, secretRef }] of sources.entries()) {
    const here = `${at}[${index}]`;
    if (prefix) yield* environmentName(prefix, `${here}.prefix`);
    if (configMapRef !== undefined) yield* validateReferencedName(configMapRef.name, `${here}.configMapRef.name`);
    if (secretRef !== undefined) yield* validateReferencedName(secretRef.name, `${here}.secretRef.name`);
    if (configMapRef === undefined && secretRef === undefined) yield invalid(at, "", "must specify one of: `configMapRef` or `secretRef`");
    else if (configMapRef !== undefined && secretRef !== undefined) {
      yield invalid(at, "", "may not have more than one field specified at a time");
    }
  }
}

function* validateReferencedName(name: string | undefined, at: string): Iterable<FieldError> {
  if (!name) yield required(at);
  // Validated as a name prefix: upstream allows a trailing dash here.
  else for (const problem of validateDnsSubdomain(maskTrailingDash(name))) yield invalid(at, name, problem);
}
