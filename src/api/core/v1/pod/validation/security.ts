/** Validation of security contexts: those of containers, that of the Pod, and the profiles of both. */
import type {
  AppArmorProfile,
  PodSecurityContext,
  PodSpec,
  SeccompProfile,
  SecurityContext,
  Sysctl,
} from "../../../../generated/core/v1.ts";
import { duplicate, forbidden, invalid, notSupported, required, tooLong, type FieldError } from "../../../../machinery/field-error.ts";
import type { FieldErrors } from "../../../../machinery/findings.ts";
import { groupId, userId } from "./checks.ts";
import { allContainers } from "../containers.ts";
import { validateDescendingPath } from "./paths.ts";
import { validateWindowsOptions } from "./windows.ts";

const PROC_MOUNTS = ["Default", "Unmasked"];
const PROFILE_TYPES = ["Localhost", "RuntimeDefault", "Unconfined"];
const FS_GROUP_CHANGE_POLICIES = ["Always", "OnRootMismatch"];
const SUPPLEMENTAL_GROUPS_POLICIES = ["Merge", "Strict"];
/** SELinux labelling by mount option is behind a feature gate that is off upstream. */
const SELINUX_CHANGE_POLICIES = ["Recursive"];
/** Maximum path length of Linux. */
const PROFILE_LENGTH_MAX_BYTES = 4_095;
const SYSCTL_LENGTH_MAX = 253;
const SYSCTL_PART = "[a-z0-9]([-_a-z0-9]*[a-z0-9])?";
const SYSCTL_PATTERN = `^(${SYSCTL_PART}[\\./])*${SYSCTL_PART}$`;
const SYSCTL_NAME = new RegExp(SYSCTL_PATTERN);

export function validateSecurityContext(
  errors: FieldErrors,
  context: SecurityContext,
  at: string,
  { hostUsers }: { readonly hostUsers: boolean },
): void {
  const { runAsUser, runAsGroup, procMount, seccompProfile, appArmorProfile, windowsOptions } = context;
  if (runAsUser !== undefined) errors.addAll(userId(runAsUser, `${at}.runAsUser`));
  if (runAsGroup !== undefined) errors.addAll(groupId(runAsGroup, `${at}.runAsGroup`));
  if (procMount !== undefined) {
    if (!PROC_MOUNTS.includes(procMount)) errors.add(notSupported(`${at}.procMount`, procMount, PROC_MOUNTS));
    if (hostUsers && procMount === "Unmasked") {
      errors.add(invalid(`${at}.procMount`, procMount, "`hostUsers` must be false to use `Unmasked`"));
    }
  }
  if (seccompProfile !== undefined) validateSeccompProfile(errors, seccompProfile, `${at}.seccompProfile`);
  validateNoEscalation(errors, context, at);
  if (windowsOptions !== undefined) validateWindowsOptions(errors, windowsOptions, `${at}.windowsOptions`);
  if (appArmorProfile !== undefined) validateAppArmorProfile(errors, appArmorProfile, `${at}.appArmorProfile`);
}

/** A privileged container cannot disallow privilege escalation. */
function validateNoEscalation(errors: FieldErrors, context: SecurityContext, at: string): void {
  if (context.allowPrivilegeEscalation !== false) return;
  if (context.privileged === true) {
    errors.add(invalid(at, shownContext(context), "cannot set `allowPrivilegeEscalation` to false and `privileged` to true"));
  }
  for (const capability of context.capabilities?.add ?? []) {
    if (capability !== "CAP_SYS_ADMIN") continue;
    errors.add(invalid(at, shownContext(context), "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN"));
  }
}

/** In the format of upstream's type: all fields, in this order, with capital letters. */
function shownContext(context: SecurityContext): unknown {
  const { capabilities } = context;
  const names = [
    "privileged",
    "seLinuxOptions",
    "windowsOptions",
    "runAsUser",
    "runAsGroup",
    "runAsNonRoot",
    "readOnlyRootFilesystem",
    "allowPrivilegeEscalation",
    "procMount",
    "seccompProfile",
    "appArmorProfile",
  ] as const;
  return {
    Capabilities: capabilities === undefined ? null : { Add: capabilities.add ?? null, Drop: capabilities.drop ?? null },
    ...Object.fromEntries(names.map((name) => [goName(name), printable(context[name]) ?? null])),
  };
}

/** An id that is a bigint is always invalid; JSON.stringify does not support it. */
function printable(value: unknown): unknown {
  return typeof value === "bigint" ? Number(value) : value;
}

function goName(name: string): string {
  return name === "seLinuxOptions" ? "SELinuxOptions" : `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
}

function validateSeccompProfile(errors: FieldErrors, profile: SeccompProfile, at: string): void {
  const { type, localhostProfile } = profile;
  if (!type) errors.add(required(`${at}.type`, "type is required when seccompProfile is set"));
  else if (!PROFILE_TYPES.includes(type)) errors.add(notSupported(`${at}.type`, type, PROFILE_TYPES));
  if (type === "Localhost") {
    if (localhostProfile === undefined) errors.add(required(`${at}.localhostProfile`, "must be set when seccomp type is Localhost"));
    else validateDescendingPath(errors, localhostProfile, `${at}.localhostProfile`);
  } else if (localhostProfile !== undefined) {
    const shown = { Type: type ?? "", LocalhostProfile: localhostProfile };
    errors.add(invalid(`${at}.localhostProfile`, shown, "can only be set when seccomp type is Localhost"));
  }
}

export function validateAppArmorProfile(errors: FieldErrors, { type, localhostProfile }: AppArmorProfile, at: string): void {
  if (!type) return errors.add(required(`${at}.type`, "type is required when appArmorProfile is set"));
  if (!PROFILE_TYPES.includes(type)) return errors.add(notSupported(`${at}.type`, type, PROFILE_TYPES));
  const here = `${at}.localhostProfile`;
  if (type !== "Localhost") {
    if (localhostProfile !== undefined) errors.add(invalid(here, localhostProfile, "can only be set when AppArmor type is Localhost"));
    return;
  }
  if (localhostProfile === undefined) return errors.add(required(here, "must be set when AppArmor type is Localhost"));
  if (localhostProfile.trim() !== localhostProfile) errors.add(invalid(here, localhostProfile, "must not be padded with whitespace"));
  else if (localhostProfile === "") errors.add(required(here, "must be set when AppArmor type is Localhost"));
  if (new TextEncoder().encode(localhostProfile).length > PROFILE_LENGTH_MAX_BYTES) errors.add(tooLong(here, PROFILE_LENGTH_MAX_BYTES));
}

export function validatePodSecurityContext(errors: FieldErrors, context: PodSecurityContext, spec: PodSpec, at: string): void {
  if (context.fsGroup !== undefined) errors.addAll(groupId(context.fsGroup, `${at}.fsGroup`));
  if (context.runAsUser !== undefined) errors.addAll(userId(context.runAsUser, `${at}.runAsUser`));
  if (context.runAsGroup !== undefined) errors.addAll(groupId(context.runAsGroup, `${at}.runAsGroup`));
  for (const [index, group] of (context.supplementalGroups ?? []).entries())
    errors.addAll(groupId(group, `${at}.supplementalGroups[${index}]`));
  if (spec.shareProcessNamespace === true && spec.hostPID === true) {
    errors.add(invalid(`${at}.shareProcessNamespace`, true, "ShareProcessNamespace and HostPID cannot both be enabled"));
  }
  if (context.sysctls !== undefined) validateSysctls(errors, context.sysctls, spec, `${at}.sysctls`);
  errors.addAll(oneOf(context.fsGroupChangePolicy, FS_GROUP_CHANGE_POLICIES, `${at}.fsGroupChangePolicy`));
  if (context.seccompProfile !== undefined) validateSeccompProfile(errors, context.seccompProfile, `${at}.seccompProfile`);
  if (context.windowsOptions !== undefined) validateWindowsOptions(errors, context.windowsOptions, `${at}.windowsOptions`);
  if (context.appArmorProfile !== undefined) validateAppArmorProfile(errors, context.appArmorProfile, `${at}.appArmorProfile`);
  errors.addAll(oneOf(context.supplementalGroupsPolicy, SUPPLEMENTAL_GROUPS_POLICIES, `${at}.supplementalGroupsPolicy`));
  errors.addAll(oneOf(context.seLinuxChangePolicy, SELINUX_CHANGE_POLICIES, `${at}.seLinuxChangePolicy`));
}

function oneOf(value: string | undefined, supported: readonly string[], at: string): readonly FieldError[] {
  return value === undefined || supported.includes(value) ? [] : [notSupported(at, value, supported)];
}

function validateSysctls(errors: FieldErrors, sysctls: readonly Sysctl[], spec: PodSpec, at: string): void {
  const seen = new Set<string>();
  for (const [index, { name = "" }] of sysctls.entries()) {
    const here = `${at}[${index}].name`;
    if (name === "") errors.add(required(here));
    else if (name.length > SYSCTL_LENGTH_MAX || !SYSCTL_NAME.test(name)) {
      errors.add(invalid(here, name, `must have at most ${SYSCTL_LENGTH_MAX} characters and match regex ${SYSCTL_PATTERN}`));
    } else if (seen.has(name)) errors.add(duplicate(here, name));
    validateOwnNamespace(errors, name, spec, here);
    seen.add(name);
  }
}

const IPC_SYSCTLS: ReadonlySet<string> = new Set([
  "kernel.sem",
  "kernel.shmall",
  "kernel.shmmax",
  "kernel.shmmni",
  "kernel.shm_rmid_forced",
  "kernel.shm",
  "kernel.msgmax",
  "kernel.msgmnb",
  "kernel.msgmni",
  "kernel.msg",
]);

/** A Pod may not set sysctls of a namespace that it shares with its node. */
function validateOwnNamespace(errors: FieldErrors, name: string, spec: PodSpec, at: string): void {
  const known = normalizedSysctl(name).split("*")[0] ?? "";
  const isNet = known.startsWith("net.");
  const isIpc = IPC_SYSCTLS.has(known) || known.startsWith("fs.mqueue.");
  if (spec.hostNetwork === true && isNet) errors.add(invalid(at, name, "may not be specified when 'hostNetwork' is true"));
  else if (spec.hostIPC === true && isIpc) errors.add(invalid(at, name, "may not be specified when 'hostIPC' is true"));
}

/** "net/ipv4/a.b" is another spelling of "net.ipv4.a/b": the first separator that occurs is the one between parts. */
function normalizedSysctl(name: string): string {
  const separator = /[./]/.exec(name)?.[0];
  if (separator !== "/") return name;
  return name.replace(/[./]/g, (each) => (each === "/" ? "." : "/"));
}

/** A Pod with its own user namespace cannot share other namespaces with its node. */
export function validateHostUsers(errors: FieldErrors, spec: PodSpec, at: string): void {
  if (spec.hostUsers !== false) return;
  const why = "when `hostUsers` is false";
  if (spec.hostNetwork === true) errors.add(forbidden(`${at}.hostNetwork`, why));
  if (spec.hostPID === true) errors.add(forbidden(`${at}.HostPID`, why));
  if (spec.hostIPC === true) errors.add(forbidden(`${at}.HostIPC`, why));
  for (const { container, at: here } of allContainers(spec, at)) {
    if ((container.volumeDevices ?? []).length > 0) errors.add(forbidden(`${here}.volumeDevices`, why));
  }
}
