/** Annotations of a Pod with a meaning to Kubernetes: those that became fields later, and those that the kubelet sets. */
import type { AppArmorProfile, PodSpec, SeccompProfile, Toleration } from "../../../../generated/core/v1.ts";
import { forbidden, invalid, type FieldError } from "../../../../machinery/field-error.ts";
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

export function* validatePodAnnotations(annotations: Annotations, spec: PodSpec, at: string): Iterable<FieldError> {
  const mirror = annotation(annotations, MIRROR_ANNOTATION);
  if (mirror !== undefined && !spec.nodeName) {
    yield invalid(`${at}[${MIRROR_ANNOTATION}]`, mirror, "must set spec.nodeName if mirror pod annotation is set");
  }
  const tolerations = annotation(annotations, TOLERATIONS_ANNOTATION);
  if (tolerations) yield* validateTolerationsText(tolerations, at);
  const cost = annotation(annotations, DELETION_COST_ANNOTATION);
  if (cost !== undefined && parseDeletionCost(cost) === undefined) {
    yield invalid(`${at}[${DELETION_COST_ANNOTATION}]`, cost, "must be a 32bit integer");
  }
  yield* validateSeccompTexts(annotations, at);
  yield* validateAppArmorTexts(annotations, spec, at);
}

function* validateTolerationsText(text: string, at: string): Iterable<FieldError> {
  const tolerations = readTolerations(text);
  if (tolerations === undefined) yield invalid(at, TOLERATIONS_ANNOTATION, "must be a list of tolerations in JSON");
  else yield* validateTolerations(tolerations, `${at}.${TOLERATIONS_ANNOTATION}`);
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

function* validateSeccompTexts(annotations: Annotations, at: string): Iterable<FieldError> {
  for (const [name, value] of Object.entries(annotations)) {
    if (name !== SECCOMP_POD_ANNOTATION && !name.startsWith(SECCOMP_CONTAINER_PREFIX)) continue;
    const here = `${at}.${name}`;
    if (["runtime/default", "docker/default", "unconfined"].includes(value)) continue;
    if (value.startsWith(LOCALHOST_PREFIX)) yield* validateDescendingPath(value.slice(LOCALHOST_PREFIX.length), here);
    else yield invalid(here, value, "must be a valid seccomp profile");
  }
}

function* validateAppArmorTexts(annotations: Annotations, spec: PodSpec, at: string): Iterable<FieldError> {
  const containerNames = new Set(allContainers(spec, "").map(({ container }) => container.name));
  for (const [name, value] of Object.entries(annotations)) {
    if (!name.startsWith(APP_ARMOR_PREFIX)) continue;
    const containerName = name.slice(APP_ARMOR_PREFIX.length);
    if (!containerNames.has(containerName)) {
      yield invalid(`${at}[${name}]`, containerName, "container not found");
    }
    if (value !== "" && value !== "runtime/default" && value !== "unconfined" && !value.startsWith(LOCALHOST_PREFIX)) {
      yield invalid(`${at}[${name}]`, value, `invalid AppArmor profile name: ${JSON.stringify(value)}`);
    }
  }
}

function isProfile(name: string): boolean {
  return name === SECCOMP_POD_ANNOTATION || name.startsWith(SECCOMP_CONTAINER_PREFIX) || name.startsWith(APP_ARMOR_PREFIX);
}

/** Where a profile is given in both ways, both must be equal. */
export function* validateProfilesMatch(annotations: Annotations | undefined, spec: PodSpec, at: string): Iterable<FieldError> {
  if (annotations === undefined || !Object.keys(annotations).some(isProfile)) return;
  const { securityContext } = spec;
  const matchSeccomp = (name: string, profile: SeccompProfile | undefined, here: string): Iterable<FieldError> =>
    validateMatch("seccomp", annotation(annotations, name), profile, `${here}.securityContext.seccompProfile`);
  yield* matchSeccomp(SECCOMP_POD_ANNOTATION, securityContext?.seccompProfile, at);
  const containers = allContainers(spec, at);
  for (const { container, at: here } of containers) {
    yield* matchSeccomp(SECCOMP_CONTAINER_PREFIX + container.name, container.securityContext?.seccompProfile, here);
  }
  if (spec.os?.name === "windows") return;
  for (const { container, at: here } of containers) {
    const profile = container.securityContext?.appArmorProfile ?? securityContext?.appArmorProfile;
    const text = annotation(annotations, APP_ARMOR_PREFIX + container.name);
    yield* validateMatch("apparmor", text, profile, `${here}.securityContext.appArmorProfile`);
  }
}

function* validateMatch(
  kind: "seccomp" | "apparmor",
  text: string | undefined,
  profile: SeccompProfile | AppArmorProfile | undefined,
  at: string,
): Iterable<FieldError> {
  if (text === undefined || profile === undefined) return;
  const { type, localhostProfile } = profile;
  const isLocal = text.startsWith(LOCALHOST_PREFIX);
  const isSameType =
    type === "Unconfined"
      ? text === "unconfined"
      : type === "RuntimeDefault"
        ? text === "runtime/default" || (kind === "seccomp" && text === "docker/default")
        : type !== "Localhost" || isLocal;
  if (!isSameType) yield forbidden(`${at}.type`, `${kind} type in annotation and field must match`);
  else if (type === "Localhost" && text.slice(LOCALHOST_PREFIX.length) !== localhostProfile) {
    yield forbidden(`${at}.localhostProfile`, `${kind} profile in annotation and field must match`);
  }
}
