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

export function* validateSecurityContext(
  context: SecurityContext,
  at: string,
  { hostUsers }: { readonly hostUsers: boolean },
): Iterable<FieldError> {
  const { runAsUser, runAsGroup, procMount, seccompProfile, appArmorProfile, windowsOptions } = context;
  if (runAsUser !== undefined) yield* userId(runAsUser, `${at}.runAsUser`);
  if (runAsGroup !== undefined) yield* groupId(runAsGroup, `${at}.runAsGroup`);
  if (procMount !== undefined) {
    if (!PROC_MOUNTS.includes(procMount)) yield notSupported(`${at}.procMount`, procMount, PROC_MOUNTS);
    if (hostUsers && procMount === "Unmasked") {
      yield invalid(`${at}.procMount`, procMount, "`hostUsers` must be false to use `Unmasked`");
    }
  }
  if (seccompProfile !== undefined) yield* validateSeccompProfile(seccompProfile, `${at}.seccompProfile`);
  yield* validateNoEscalation(context, at);
  if (windowsOptions !== undefined) yield* validateWindowsOptions(windowsOptions, `${at}.windowsOptions`);
  if (appArmorProfile !== undefined) yield* validateAppArmorProfile(appArmorProfile, `${at}.appArmorProfile`);
}

/** A privileged container cannot disallow privilege escalation. */
function* validateNoEscalation(context: SecurityContext, at: string): Iterable<FieldError> {
  if (context.allowPrivilegeEscalation !== false) return;
  if (context.privileged === true) {
    yield invalid(at, shownContext(context), "cannot set `allowPrivilegeEscalation` to false and `privileged` to true");
  }
  for (const capability of context.capabilities?.add ?? []) {
    if (capability !== "CAP_SYS_ADMIN") continue;
    yield invalid(at, shownContext(context), "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN");
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

function* validateSeccompProfile(profile: SeccompProfile, at: string): Iterable<FieldError> {
  const { type, localhostProfile } = profile;
  if (!type) yield required(`${at}.type`, "type is required when seccompProfile is set");
  else if (!PROFILE_TYPES.includes(type)) yield notSupported(`${at}.type`, type, PROFILE_TYPES);
  if (type === "Localhost") {
    if (localhostProfile === undefined) yield required(`${at}.localhostProfile`, "must be set when seccomp type is Localhost");
    else yield* validateDescendingPath(localhostProfile, `${at}.localhostProfile`);
  } else if (localhostProfile !== undefined) {
    const shown = { Type: type ?? "", LocalhostProfile: localhostProfile };
    yield invalid(`${at}.localhostProfile`, shown, "can only be set when seccomp type is Localhost");
  }
}

export function* validateAppArmorProfile({ type, localhostProfile }: AppArmorProfile, at: string): Iterable<FieldError> {
  if (!type) return yield required(`${at}.type`, "type is required when appArmorProfile is set");
  if (!PROFILE_TYPES.includes(type)) return yield notSupported(`${at}.type`, type, PROFILE_TYPES);
  const here = `${at}.localhostProfile`;
  if (type !== "Localhost") {
    if (localhostProfile !== undefined) yield invalid(here, localhostProfile, "can only be set when AppArmor type is Localhost");
    return;
  }
  if (localhostProfile === undefined) return yield required(here, "must be set when AppArmor type is Localhost");
  if (localhostProfile.trim() !== localhostProfile) yield invalid(here, localhostProfile, "must not be padded with whitespace");
  else if (localhostProfile === "") yield required(here, "must be set when AppArmor type is Localhost");
  if (new TextEncoder().encode(localhostProfile).length > PROFILE_LENGTH_MAX_BYTES) yield tooLong(here, PROFILE_LENGTH_MAX_BYTES);
}

export function* validatePodSecurityContext(context: PodSecurityContext, spec: PodSpec, at: string): Iterable<FieldError> {
  if (context.fsGroup !== undefined) yield* groupId(context.fsGroup, `${at}.fsGroup`);
  if (context.runAsUser !== undefined) yield* userId(context.runAsUser, `${at}.runAsUser`);
  if (context.runAsGroup !== undefined) yield* groupId(context.runAsGroup, `${at}.runAsGroup`);
  for (const [index, group] of (context.supplementalGroups ?? []).entries()) yield* groupId(group, `${at}.supplementalGroups[${index}]`);
  if (spec.shareProcessNamespace === true && spec.hostPID === true) {
    yield invalid(`${at}.shareProcessNamespace`, true, "ShareProcessNamespace and HostPID cannot both be enabled");
  }
  if (context.sysctls !== undefined) yield* validateSysctls(context.sysctls, spec, `${at}.sysctls`);
  yield* oneOf(context.fsGroupChangePolicy, FS_GROUP_CHANGE_POLICIES, `${at}.fsGroupChangePolicy`);
  if (context.seccompProfile !== undefined) yield* validateSeccompProfile(context.seccompProfile, `${at}.seccompProfile`);
  if (context.windowsOptions !== undefined) yield* validateWindowsOptions(context.windowsOptions, `${at}.windowsOptions`);
  if (context.appArmorProfile !== undefined) yield* validateAppArmorProfile(context.appArmorProfile, `${at}.appArmorProfile`);
  yield* oneOf(context.supplementalGroupsPolicy, SUPPLEMENTAL_GROUPS_POLICIES, `${at}.supplementalGroupsPolicy`);
  yield* oneOf(context.seLinuxChangePolicy, SELINUX_CHANGE_POLICIES, `${at}.seLinuxChangePolicy`);
}

function oneOf(value: string | undefined, supported: readonly string[], at: string): readonly FieldError[] {
  return value === undefined || supported.includes(value) ? [] : [notSupported(at, value, supported)];
}

function* validateSysctls(sysctls: readonly Sysctl[], spec: PodSpec, at: string): Iterable<FieldError> {
  const seen = new Set<string>();
  for (const [index, { name = "" }] of sysctls.entries()) {
    const here = `${at}[${index}].name`;
    if (name === "") yield required(here);
    else if (name.length > SYSCTL_LENGTH_MAX || !SYSCTL_NAME.test(name)) {
      yield invalid(here, name, `must have at most ${SYSCTL_LENGTH_MAX} characters and match regex ${SYSCTL_PATTERN}`);
    } else if (seen.has(name)) yield duplicate(here, name);
    yield* validateOwnNamespace(name, spec, here);
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
function* validateOwnNamespace(name: string, spec: PodSpec, at: string): Iterable<FieldError> {
  const known = normalizedSysctl(name).split("*")[0] ?? "";
  const isNet = known.startsWith("net.");
  const isIpc = IPC_SYSCTLS.has(known) || known.startsWith("fs.mqueue.");
  if (spec.hostNetwork === true && isNet) yield invalid(at, name, "may not be specified when 'hostNetwork' is true");
  else if (spec.hostIPC === true && isIpc) yield invalid(at, name, "may not be specified when 'hostIPC' is true");
}

/** "net/ipv4/a.b" is another spelling of "net.ipv4.a/b": the first separator that occurs is the one between parts. */
function normalizedSysctl(name: string): string {
  const separator = /[./]/.exec(name)?.[0];
  if (separator !== "/") return name;
  return name.replace(/[./]/g, (each) => (each === "/" ? "." : "/"));
}

/** A Pod with its own user namespace cannot share other namespaces with its node. */
export function* validateHostUsers(spec: PodSpec, at: string): Iterable<FieldError> {
  if (spec.hostUsers !== false) return;
  const why = "when `hostUsers` is false";
  if (spec.hostNetwork === true) yield forbidden(`${at}.hostNetwork`, why);
  if (spec.hostPID === true) yield forbidden(`${at}.HostPID`, why);
  if (spec.hostIPC === true) yield forbidden(`${at}.HostIPC`, why);
  for (const { container, at: here } of allContainers(spec, at)) {
    if ((container.volumeDevices ?? []).length > 0) yield forbidden(`${here}.volumeDevices`, why);
  }
}
