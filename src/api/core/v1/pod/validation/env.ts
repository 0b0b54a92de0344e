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
import { invalid, notSupported, required } from "../../../../machinery/field-error.ts";
import type { FieldErrors } from "../../../../machinery/findings.ts";
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

export function validateEnv(errors: FieldErrors, variables: readonly EnvVar[], at: string): void {
  for (const [index, variable] of variables.entries()) {
    const here = `${at}[${index}]`;
    if (!variable.name) errors.add(required(`${here}.name`));
    else errors.addAll(environmentName(variable.name, `${here}.name`));
    if (variable.valueFrom !== undefined) validateValueFrom(errors, variable.valueFrom, variable.value ?? "", `${here}.valueFrom`);
  }
}

function validateValueFrom(errors: FieldErrors, source: EnvVarSource, value: string, at: string): void {
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef } = source;
  if (fieldRef !== undefined) validateFieldRef(errors, fieldRef, VARIABLE_FIELDS, `${at}.fieldRef`);
  if (resourceFieldRef !== undefined) validateResourceFieldRef(errors, resourceFieldRef, `${at}.resourceFieldRef`, { inVolume: false });
  if (configMapKeyRef !== undefined) validateKeyRef(errors, configMapKeyRef, `${at}.configMapKeyRef`);
  if (secretKeyRef !== undefined) validateKeyRef(errors, secretKeyRef, `${at}.secretKeyRef`);
  if (fileKeyRef !== undefined) validateFileKeyRef(errors, fileKeyRef, `${at}.fileKeyRef`);

  const count = [fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef].filter((one) => one !== undefined).length;
  if (count === 0) {
    errors.add(invalid(at, "", "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`"));
  } else if (value !== "") errors.add(invalid(at, "", "may not be specified when `value` is not empty"));
  else if (count > 1) errors.add(invalid(at, "", "may not have more than one field specified at a time"));
}

/** "metadata.labels['app']" → its path and its subscript. */
const SUBSCRIPTED = /^(.+?)\['([^]*)'\]$/;

export function validateFieldRef(errors: FieldErrors, reference: ObjectFieldSelector, allowed: readonly string[], at: string): void {
  if (!reference.apiVersion) return errors.add(required(`${at}.apiVersion`));
  if (!reference.fieldPath) return errors.add(required(`${at}.fieldPath`));
  const problem = unknownField(reference.apiVersion, reference.fieldPath);
  if (problem !== undefined) {
    return errors.add(invalid(`${at}.fieldPath`, reference.fieldPath, `error converting fieldPath: ${problem}`));
  }
  const [, path, subscript] = SUBSCRIPTED.exec(reference.fieldPath) ?? [];
  if (path !== undefined && subscript !== undefined) {
    // Annotation keys may have upper case letters in the prefix, label keys may not.
    errors.addAll(qualifiedName(path === "metadata.annotations" ? subscript.toLowerCase() : subscript, at));
    return;
  }
  // A legacy name of the same field.
  const plain = reference.fieldPath === "spec.host" ? "spec.nodeName" : reference.fieldPath;
  if (!allowed.includes(plain)) errors.add(notSupported(`${at}.fieldPath`, plain, allowed));
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

export function validateResourceFieldRef(
  errors: FieldErrors,
  reference: ResourceFieldSelector,
  at: string,
  options: { readonly inVolume: boolean },
): void {
  const resource = reference.resource ?? "";
  if (options.inVolume && !reference.containerName) errors.add(required(`${at}.containerName`));
  else if (resource === "") errors.add(required(`${at}.resource`));
  else if (!RESOURCE_FIELDS.includes(resource) && !HUGE_PAGES_FIELD.test(resource)) {
    errors.add(notSupported(`${at}.resource`, resource, RESOURCE_FIELDS));
  }
  if (reference.divisor !== undefined) validateDivisor(errors, resource, reference.divisor, `${at}.divisor`);
}

function validateDivisor(errors: FieldErrors, resource: string, text: string, at: string): void {
  const quantity = readQuantity(text);
  if (isZero(quantity)) return;
  const divisor = formatQuantity(quantity);
  if (resource.endsWith(".cpu")) {
    if (!CPU_DIVISORS.has(divisor)) errors.add(invalid(at, resource, "only divisor's values 1m and 1 are supported with the cpu resource"));
    return;
  }
  const kind = byteResource(resource);
  if (kind !== undefined && !BYTE_DIVISORS.has(divisor)) {
    errors.add(invalid(at, resource, `only divisor's values ${BYTE_DIVISORS_TEXT} are supported with the ${kind} resource`));
  }
}

function byteResource(resource: string): string | undefined {
  if (resource === "limits.memory" || resource === "requests.memory") return "memory";
  if (resource === "limits.ephemeral-storage" || resource === "requests.ephemeral-storage") return "local ephemeral storage";
  return HUGE_PAGES_FIELD.test(resource) ? "hugepages" : undefined;
}

function validateKeyRef(errors: FieldErrors, reference: ConfigMapKeySelector | SecretKeySelector, at: string): void {
  errors.addAll(dnsSubdomain(reference.name ?? "", `${at}.name`));
  if (!reference.key) errors.add(required(`${at}.key`));
  else errors.addAll(configMapKey(reference.key, `${at}.key`));
}

function validateFileKeyRef(errors: FieldErrors, reference: FileKeySelector, at: string): void {
  if (!reference.key) errors.add(required(`${at}.key`));
  else errors.addAll(environmentName(reference.key, `${at}.key`));
  if (!reference.volumeName) errors.add(required(`${at}.volumeName`));
  else errors.addAll(dnsLabel(reference.volumeName, `${at}.volumeName`));
  if (!reference.path) errors.add(required(`${at}.path`));
  else validateNoBacksteps(errors, reference.path, `${at}.path`);
}

export function validateEnvFrom(errors: FieldErrors, sources: readonly EnvFromSource[], at: string): void {
  for (const [index, { prefix, configMapRef, secretRef }] of sources.entries()) {
    const here = `${at}[${index}]`;
    if (prefix) errors.addAll(environmentName(prefix, `${here}.prefix`));
    if (configMapRef !== undefined) validateReferencedName(errors, configMapRef.name, `${here}.configMapRef.name`);
    if (secretRef !== undefined) validateReferencedName(errors, secretRef.name, `${here}.secretRef.name`);
    if (configMapRef === undefined && secretRef === undefined)
      errors.add(invalid(at, "", "must specify one of: `configMapRef` or `secretRef`"));
    else if (configMapRef !== undefined && secretRef !== undefined) {
      errors.add(invalid(at, "", "may not have more than one field specified at a time"));
    }
  }
}

function validateReferencedName(errors: FieldErrors, name: string | undefined, at: string): void {
  if (!name) errors.add(required(at));
  // Validated as a name prefix: upstream allows a trailing dash here.
  else for (const problem of validateDnsSubdomain(maskTrailingDash(name))) errors.add(invalid(at, name, problem));
}
