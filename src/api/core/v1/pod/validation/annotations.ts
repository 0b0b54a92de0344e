/** Annotations of a Pod with a meaning to Kubernetes: those that became fields later, and those that the kubelet sets. */
import type { AppArmorProfile, PodSpec, SeccompProfile, Toleration } from "../../../../generated/core/v1.ts";
import { forbidden, invalid } from "../../../../machinery/field-error.ts";
import type { FieldErrors } from "../../../../machinery/findings.ts";
import { allContainers } from "../containers.ts";
import { DELETION_COST_ANNOTATION, parseDeletionCost } from "../deletion-cost.ts";
import { validateDescendingPath } from "./paths.ts";
import { validateTolerations } from "./scheduling.ts";

/** The kubelet's mark of a mirror Pod. */
export const MIRROR_ANNOTATION = "kubernetes.io/config.mirror";
const TOLERATIONS_ANNOTATION = "scheduler.alpha.kubernetes.io/tolerations";
export const SECCOMP_POD_ANNOTATION = "seccomp.security.alpha.kubernetes.io/pod";
export const SECCOMP_CONTAINER_PREFIX = "container.seccomp.security.alpha.kubernetes.io/";
export const APP_ARMOR_PREFIX = "container.apparmor.security.beta.kubernetes.io/";
const LOCALHOST_PREFIX = "localhost/";

export type Annotations = Readonly<Record<string, string>>;

export function annotation(annotations: Annotations | undefined, name: string): string | undefined {
  return annotations !== undefined && Object.hasOwn(annotations, name) ? annotations[name] : undefined;
}

export function validatePodAnnotations(errors: FieldErrors, annotations: Annotations, spec: PodSpec, at: string): void {
  const mirror = annotation(annotations, MIRROR_ANNOTATION);
  if (mirror !== undefined && !spec.nodeName) {
    errors.add(invalid(`${at}[${MIRROR_ANNOTATION}]`, mirror, "must set spec.nodeName if mirror pod annotation is set"));
  }
  const tolerations = annotation(annotations, TOLERATIONS_ANNOTATION);
  if (tolerations) validateTolerationsText(errors, tolerations, at);
  const cost = annotation(annotations, DELETION_COST_ANNOTATION);
  if (cost !== undefined && parseDeletionCost(cost) === undefined) {
    errors.add(invalid(`${at}[${DELETION_COST_ANNOTATION}]`, cost, "must be a 32bit integer"));
  }
  validateSeccompTexts(errors, annotations, at);
  validateAppArmorTexts(errors, annotations, spec, at);
}

function validateTolerationsText(errors: FieldErrors, text: string, at: string): void {
  const tolerations = readTolerations(text);
  if (tolerations === undefined) errors.add(invalid(at, TOLERATIONS_ANNOTATION, "must be a list of tolerations in JSON"));
  else validateTolerations(errors, tolerations, `${at}.${TOLERATIONS_ANNOTATION}`);
}

/** Undefined if the text is anything else. */
function readTolerations(text: string): readonly Toleration[] | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) && value.every(isToleration) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isToleration(value: unknown): value is Toleration {
  if (typeof value !== "object" || value === null) return false;
  const { key = "", operator = "", value: text = "", effect = "" } = value as Readonly<Record<string, unknown>>;
  return [key, operator, text, effect].every((member) => typeof member === "string");
}

function validateSeccompTexts(errors: FieldErrors, annotations: Annotations, at: string): void {
  for (const [name, value] of Object.entries(annotations)) {
    if (name !== SECCOMP_POD_ANNOTATION && !name.startsWith(SECCOMP_CONTAINER_PREFIX)) continue;
    const here = `${at}.${name}`;
    if (["runtime/default", "docker/default", "unconfined"].includes(value)) continue;
    if (value.startsWith(LOCALHOST_PREFIX)) validateDescendingPath(errors, value.slice(LOCALHOST_PREFIX.length), here);
    else errors.add(invalid(here, value, "must be a valid seccomp profile"));
  }
}

function validateAppArmorTexts(errors: FieldErrors, annotations: Annotations, spec: PodSpec, at: string): void {
  const containerNames = new Set(allContainers(spec, "").map(({ container }) => container.name));
  for (const [name, value] of Object.entries(annotations)) {
    if (!name.startsWith(APP_ARMOR_PREFIX)) continue;
    const containerName = name.slice(APP_ARMOR_PREFIX.length);
    if (!containerNames.has(containerName)) {
      errors.add(invalid(`${at}[${name}]`, containerName, "container not found"));
    }
    if (value !== "" && value !== "runtime/default" && value !== "unconfined" && !value.startsWith(LOCALHOST_PREFIX)) {
      errors.add(invalid(`${at}[${name}]`, value, `invalid AppArmor profile name: ${JSON.stringify(value)}`));
    }
  }
}

function isProfile(name: string): boolean {
  return name === SECCOMP_POD_ANNOTATION || name.startsWith(SECCOMP_CONTAINER_PREFIX) || name.startsWith(APP_ARMOR_PREFIX);
}

/** Where a profile is given in both ways, both must be equal. */
export function validateProfilesMatch(errors: FieldErrors, annotations: Annotations | undefined, spec: PodSpec, at: string): void {
  if (annotations === undefined || !Object.keys(annotations).some(isProfile)) return;
  const { securityContext } = spec;
  const matchSeccomp = (name: string, profile: SeccompProfile | undefined, here: string): void =>
    validateMatch(errors, "seccomp", annotation(annotations, name), profile, `${here}.securityContext.seccompProfile`);
  matchSeccomp(SECCOMP_POD_ANNOTATION, securityContext?.seccompProfile, at);
  const containers = allContainers(spec, at);
  for (const { container, at: here } of containers) {
    matchSeccomp(SECCOMP_CONTAINER_PREFIX + container.name, container.securityContext?.seccompProfile, here);
  }
  if (spec.os?.name === "windows") return;
  for (const { container, at: here } of containers) {
    const profile = container.securityContext?.appArmorProfile ?? securityContext?.appArmorProfile;
    const text = annotation(annotations, APP_ARMOR_PREFIX + container.name);
    validateMatch(errors, "apparmor", text, profile, `${here}.securityContext.appArmorProfile`);
  }
}

function validateMatch(
  errors: FieldErrors,
  kind: "seccomp" | "apparmor",
  text: string | undefined,
  profile: SeccompProfile | AppArmorProfile | undefined,
  at: string,
): void {
  if (text === undefined || profile === undefined) return;
  const { type, localhostProfile } = profile;
  const isLocal = text.startsWith(LOCALHOST_PREFIX);
  const isSameType =
    type === "Unconfined"
      ? text === "unconfined"
      : type === "RuntimeDefault"
        ? text === "runtime/default" || (kind === "seccomp" && text === "docker/default")
        : type !== "Localhost" || isLocal;
  if (!isSameType) errors.add(forbidden(`${at}.type`, `${kind} type in annotation and field must match`));
  else if (type === "Localhost" && text.slice(LOCALHOST_PREFIX.length) !== localhostProfile) {
    errors.add(forbidden(`${at}.localhostProfile`, `${kind} profile in annotation and field must match`));
  }
}
