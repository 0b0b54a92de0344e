/**
 * Warnings about a valid Pod or template that is probably a mistake: deprecated fields and labels, and definitions that hide or overlap
 * each other. Emitted once, when the Pod is created or the template changes. `at` is "" for a Pod and the template's path for a template.
 */
import { deepEqual } from "../../../../../base/deep.ts";
import type { Pod, PodAffinityTerm, PodSpec, PodTemplateSpec } from "../../../../generated/core/v1.ts";
import { child } from "../../../../machinery/field-error.ts";
import { errorsOf, type Warnings } from "../../../../machinery/findings.ts";
import { ipWarnings } from "../../../../machinery/ip/ip-validation.ts";
import { validateDnsLabel } from "../../../../machinery/names.ts";
import type { ObjectMeta } from "../../../../machinery/object.ts";
import { deprecatedNodeLabel, nodeSelectorTermWarnings } from "../../node/label-warnings.ts";
import { appArmorProfileOf } from "../app-armor.ts";
import { allContainers } from "../containers.ts";
import { fractionWarnings } from "../fractions.ts";
import { annotation, APP_ARMOR_PREFIX, SECCOMP_CONTAINER_PREFIX, SECCOMP_POD_ANNOTATION } from "../validation/annotations.ts";
import { validateAppArmorProfile } from "../validation/security.ts";
import { specOf } from "../validation/pod.ts";
import { containerWarnings } from "./container.ts";
import { volumeWarnings } from "./volume.ts";

const DEPRECATED_ANNOTATIONS = [
  ["scheduler.alpha.kubernetes.io/critical-pod", 'non-functional in v1.16+; use the "priorityClassName" field instead'],
  ["security.alpha.kubernetes.io/sysctls", 'non-functional in v1.11+; use the "sysctls" field instead'],
  ["security.alpha.kubernetes.io/unsafe-sysctls", 'non-functional in v1.11+; use the "sysctls" field instead'],
] as const;

/** On create only: the fields are immutable anyway. */
export function podWarnings(warnings: Warnings, pod: Pod, previous?: Pod): void {
  if (previous !== undefined) return;
  const problems = validateDnsLabel(pod.metadata.name);
  if (problems.length > 0) {
    const why = "this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended";
    warnings.add(`metadata.name: ${why}: [${problems.join(" ")}]`);
  }
  specWarnings(warnings, specOf(pod), pod.metadata, "");
  appArmorWarningsOfPod(warnings, pod);
}

export function podTemplateWarnings(warnings: Warnings, template: PodTemplateSpec, at: string): void {
  specWarnings(warnings, template.spec ?? { containers: [] }, template.metadata ?? {}, at);
}

function specWarnings(warnings: Warnings, spec: PodSpec, metadata: Partial<ObjectMeta>, at: string): void {
  const here = child(at, "spec");
  nodeLabelWarnings(warnings, spec, here);
  for (const [name, message] of DEPRECATED_ANNOTATIONS) {
    if (annotation(metadata.annotations, name) !== undefined) warnings.add(`${child(at, "metadata.annotations")}[${name}]: ${message}`);
  }
  volumeWarnings(warnings, spec.volumes ?? [], `${here}.volumes`);
  duplicateWarnings(warnings, spec, here);
  fractionWarnings(warnings, spec.overhead, `${here}.overhead`);
  profileWarnings(warnings, spec, metadata, at);
  containerWarnings(warnings, spec, here);
  if ((spec.terminationGracePeriodSeconds ?? 0) < 0) {
    warnings.add(`${here}.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1`);
  }
  affinityWarnings(warnings, spec, `${here}.affinity`);
  for (const [index, server] of (spec.dnsConfig?.nameservers ?? []).entries()) {
    warnings.addAll(ipWarnings(server, `${here}.dnsConfig.nameservers[${index}]`));
  }
  for (const [index, { ip }] of (spec.hostAliases ?? []).entries()) warnings.addAll(ipWarnings(ip, `${here}.hostAliases[${index}].ip`));
}

function nodeLabelWarnings(warnings: Warnings, spec: PodSpec, at: string): void {
  for (const key of Object.keys(spec.nodeSelector ?? {})) {
    const message = deprecatedNodeLabel(key);
    if (message !== undefined) warnings.add(`${at}.nodeSelector[${key}]: ${message}`);
  }
  const { requiredDuringSchedulingIgnoredDuringExecution: needed, preferredDuringSchedulingIgnoredDuringExecution: preferred } =
    spec.affinity?.nodeAffinity ?? {};
  const affinityAt = `${at}.affinity.nodeAffinity`;
  for (const [index, term] of (needed?.nodeSelectorTerms ?? []).entries()) {
    nodeSelectorTermWarnings(warnings, term, `${affinityAt}.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[${index}]`);
  }
  for (const [index, { preference }] of (preferred ?? []).entries()) {
    const here = `${affinityAt}.preferredDuringSchedulingIgnoredDuringExecution[${index}].preference`;
    nodeSelectorTermWarnings(warnings, preference ?? {}, here, { withValues: true });
  }
  for (const [index, { topologyKey, labelSelector }] of (spec.topologySpreadConstraints ?? []).entries()) {
    const here = `${at}.topologySpreadConstraints[${index}]`;
    const message = deprecatedNodeLabel(topologyKey);
    if (message !== undefined) warnings.add(`${here}.topologyKey: ${topologyKey} is ${message}`);
    if (labelSelector === undefined) warnings.add(`${here}.labelSelector: a null labelSelector results in matching no pod`);
  }
}

function duplicateWarnings(warnings: Warnings, { hostAliases = [], imagePullSecrets = [] }: PodSpec, at: string): void {
  repeated(
    warnings,
    hostAliases.map(({ ip }) => ip),
    (index, ip) => `${at}.hostAliases[${index}].ip: duplicate ip ${JSON.stringify(ip)}`,
  );
  const names = imagePullSecrets.map(({ name }) => name ?? "");
  repeated(warnings, names, (index, name) => `${at}.imagePullSecrets[${index}].name: duplicate name ${JSON.stringify(name)}`);
  for (const [index, name] of names.entries())
    if (name === "") warnings.add(`${at}.imagePullSecrets[${index}].name: invalid empty name ""`);
}

function repeated(warnings: Warnings, values: readonly string[], describe: (index: number, value: string) => string): void {
  const seen = new Set<string>();
  for (const [index, value] of values.entries()) {
    if (seen.has(value)) warnings.add(describe(index, value));
    seen.add(value);
  }
}

function profileWarnings(warnings: Warnings, spec: PodSpec, { annotations }: Partial<ObjectMeta>, at: string): void {
  if (annotations === undefined) return;
  const here = child(at, "metadata.annotations");
  const seccomp = (name: string): string => `${here}[${name}]: non-functional in v1.27+; use the "seccompProfile" field instead`;
  if (spec.securityContext?.seccompProfile === undefined && Object.hasOwn(annotations, SECCOMP_POD_ANNOTATION)) {
    warnings.add(seccomp(SECCOMP_POD_ANNOTATION));
  }
  for (const { container } of allContainers(spec, "")) {
    const name = SECCOMP_CONTAINER_PREFIX + container.name;
    if (container.securityContext?.seccompProfile === undefined && Object.hasOwn(annotations, name)) warnings.add(seccomp(name));
    const text = annotation(annotations, APP_ARMOR_PREFIX + container.name);
    // For a Pod the field is set from the annotation, with a warning of its own.
    if (at === "" || text === undefined || container.securityContext?.appArmorProfile !== undefined) continue;
    const ofPod = spec.securityContext?.appArmorProfile;
    if (ofPod === undefined || !deepEqual(ofPod, appArmorProfileOf(text))) warnings.add(appArmorWarning(here, container.name));
  }
}

function appArmorWarning(at: string, containerName: string): string {
  return `${at}[${APP_ARMOR_PREFIX}${containerName}]: deprecated since v1.30; use the "appArmorProfile" field instead`;
}

/** By now the fields have been set from the annotations, so an equal field came from there. */
function appArmorWarningsOfPod(warnings: Warnings, pod: Pod): void {
  const spec = specOf(pod);
  if (pod.metadata.annotations === undefined || spec.os?.name === "windows") return;
  for (const { container } of allContainers(spec, "")) {
    const text = annotation(pod.metadata.annotations, APP_ARMOR_PREFIX + container.name);
    if (text === undefined) continue;
    const profile = appArmorProfileOf(text);
    const isUsable = profile !== undefined && errorsOf((errors) => validateAppArmorProfile(errors, profile, "")).length === 0;
    const isMadeFromIt = isUsable && deepEqual(container.securityContext?.appArmorProfile, profile);
    if (!isUsable || isMadeFromIt) warnings.add(appArmorWarning("metadata.annotations", container.name));
  }
}

function affinityWarnings(warnings: Warnings, { affinity }: PodSpec, at: string): void {
  for (const member of ["podAffinity", "podAntiAffinity"] as const) {
    const { requiredDuringSchedulingIgnoredDuringExecution: needed, preferredDuringSchedulingIgnoredDuringExecution: preferred } =
      affinity?.[member] ?? {};
    for (const [index, term] of (needed ?? []).entries()) {
      selectorWarnings(warnings, term, `${at}.${member}.requiredDuringSchedulingIgnoredDuringExecution[${index}]`);
    }
    for (const [index, { podAffinityTerm }] of (preferred ?? []).entries()) {
      const here = `${at}.${member}.preferredDuringSchedulingIgnoredDuringExecution[${index}].podAffinityTerm`;
      selectorWarnings(warnings, podAffinityTerm, here);
    }
  }
}

function selectorWarnings(warnings: Warnings, { labelSelector }: PodAffinityTerm, at: string): void {
  if (labelSelector === undefined) warnings.add(`${at}.labelSelector: a null labelSelector results in matching no pod`);
}
