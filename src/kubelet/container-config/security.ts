/**
 * Security context of a container: its `securityContext`, defaulting to the Pod's. Users are numeric; an image with a user name runs under
 * that name, except with runAsNonRoot, which a name cannot prove. SELinux options are passed on, Windows options ignored. Not here: user
 * namespaces, which no supported runtime creates; they are rejected.
 */
import type { AppArmorProfile, Pod, SeccompProfile, SecurityContext, SELinuxOptions } from "../../api/generated/core/v1.ts";
import { allContainers, type AnyContainer } from "../../api/core/v1/pod/containers.ts";
import { appArmorProfileOf } from "../../api/core/v1/pod/app-armor.ts";
import { quoteGo } from "../../api/machinery/codec/go-text.ts";
import { validateUserId } from "../../api/machinery/names.ts";
import type { ContainerSecurity, Namespaces, SandboxSecurity, SecurityProfile, SeLinux } from "../contracts/container-run.ts";
import { ContainerConfigError } from "../contracts/pod-machine.ts";
import type { Image } from "../contracts/runtime.ts";
import type { NodeView } from "./node-view.ts";
import { describePod } from "./pod-name.ts";

/** Masked and read-only paths of /proc and /sys that expose the machine or other containers. Upstream's lists. */
const MASKED_PATHS = [
  "/proc/asound",
  "/proc/acpi",
  "/proc/interrupts",
  "/proc/kcore",
  "/proc/keys",
  "/proc/latency_stats",
  "/proc/timer_list",
  "/proc/timer_stats",
  "/proc/sched_debug",
  "/proc/scsi",
  "/sys/firmware",
  "/sys/devices/virtual/powercap",
];
const READ_ONLY_PATHS = ["/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"];

const APP_ARMOR_ANNOTATION_PREFIX = "container.apparmor.security.beta.kubernetes.io/";

export interface SecurityView {
  readonly pod: Pod;
  readonly container: AnyContainer;
  /** User of the image; absent: root. */
  readonly imageUser: Image["user"];
  readonly node: Pick<NodeView, "isSeccompDefault"> & { readonly directories: Pick<NodeView["directories"], "seccomp"> };
  /** Container id of an ephemeral container's target. */
  readonly targetContainerId?: string;
}

export function containerSecurity(view: SecurityView): ContainerSecurity {
  const { pod, container, imageUser } = view;
  checkNonRoot(view);
  const context = effectiveContext(pod, container);
  const isUnmasked = context.procMount === "Unmasked";
  const apparmor = appArmorOf(pod, container);
  return {
    namespaces: withTarget(namespacesOf(pod), view.targetContainerId),
    ...userOf(context, imageUser),
    ...groupsOf(pod, context.runAsGroup),
    privileged: context.privileged ?? false,
    readOnlyRoot: context.readOnlyRootFilesystem ?? false,
    seccomp: seccompOf(view),
    ...(apparmor === undefined ? {} : { apparmor }),
    ...seLinuxOf(context.seLinuxOptions),
    addCapabilities: context.capabilities?.add ?? [],
    dropCapabilities: context.capabilities?.drop ?? [],
    noNewPrivileges: context.allowPrivilegeEscalation === false,
    maskedPaths: isUnmasked ? [] : MASKED_PATHS,
    readOnlyPaths: isUnmasked ? [] : READ_ONLY_PATHS,
  };
}

/** Security context of the sandbox, which needs no privileges, regardless of its containers' profiles. */
export function sandboxSecurity(pod: Pod): SandboxSecurity {
  const context = pod.spec?.securityContext ?? {};
  const isPrivileged = allContainers(pod.spec ?? { containers: [] }, "spec").some(
    ({ container }) => container.securityContext?.privileged === true,
  );
  return {
    namespaces: namespacesOf(pod),
    ...(context.runAsUser === undefined ? {} : { runAsUser: context.runAsUser }),
    ...groupsOf(pod, context.runAsGroup),
    privileged: isPrivileged,
    readOnlyRoot: false,
    seccomp: { is: "runtime-default" },
    ...seLinuxOf(context.seLinuxOptions),
  };
}

function effectiveContext({ spec }: Pod, { securityContext: own = {} }: AnyContainer): SecurityContext {
  const { runAsUser, runAsGroup, runAsNonRoot, seLinuxOptions } = spec?.securityContext ?? {};
  return {
    ...(runAsUser === undefined ? {} : { runAsUser }),
    ...(runAsGroup === undefined ? {} : { runAsGroup }),
    ...(runAsNonRoot === undefined ? {} : { runAsNonRoot }),
    ...(seLinuxOptions === undefined ? {} : { seLinuxOptions }),
    ...own,
  };
}

// ── users and groups ────────────────────────────────────────────────────────────────────────────────

function checkNonRoot({ pod, container, imageUser = { uid: 0 } }: SecurityView): void {
  const { runAsNonRoot, runAsUser } = effectiveContext(pod, container);
  if (runAsNonRoot !== true) return;
  const where = `(pod: ${quoteGo(describePod(pod))}, container: ${container.name})`;
  if (runAsUser !== undefined) {
    if (runAsUser === 0) throw new ContainerConfigError(`container's runAsUser breaks non-root policy ${where}`);
    return;
  }
  const claim = "container has runAsNonRoot and image";
  if ("name" in imageUser)
    throw new ContainerConfigError(`${claim} has non-numeric user (${imageUser.name}), cannot verify user is non-root ${where}`);
  if (imageUser.uid === 0) throw new ContainerConfigError(`${claim} will run as root ${where}`);
  const wrong = validateUserId(imageUser.uid);
  if (wrong.length > 0)
    throw new ContainerConfigError(
      `${claim} has an invalid user id (${imageUser.uid}). (Must be 1-(2147483647)): ${wrong.join("; ")} ${where}`,
    );
}

function userOf(
  { runAsUser }: SecurityContext,
  imageUser: Image["user"] = { uid: 0 },
): Pick<ContainerSecurity, "runAsUser" | "runAsUserName"> {
  if (runAsUser !== undefined) return { runAsUser };
  return "uid" in imageUser ? { runAsUser: imageUser.uid } : { runAsUserName: imageUser.name };
}

type Groups = Pick<SandboxSecurity, "runAsGroup" | "supplementalGroups" | "supplementalGroupsPolicy">;

/** fsGroup is a supplemental group of the container. */
function groupsOf({ spec }: Pod, runAsGroup: number | undefined): Groups {
  const { fsGroup, supplementalGroups = [], supplementalGroupsPolicy = "Merge" } = spec?.securityContext ?? {};
  return {
    ...(runAsGroup === undefined ? {} : { runAsGroup }),
    supplementalGroups: fsGroup === undefined ? supplementalGroups : [fsGroup, ...supplementalGroups],
    supplementalGroupsPolicy,
  };
}

// ── namespaces ──────────────────────────────────────────────────────────────────────────────────────

export function namespacesOf({ spec }: Pod): Namespaces {
  if (spec?.hostUsers === false)
    throw new ContainerConfigError("can't set `spec.hostUsers: false`, runtime does not support user namespaces");
  const ofPod = spec?.shareProcessNamespace === true ? "pod" : "container";
  return {
    network: spec?.hostNetwork === true ? "node" : "pod",
    pid: spec?.hostPID === true ? "node" : ofPod,
    ipc: spec?.hostIPC === true ? "node" : "pod",
  };
}

/** A container in the process namespace of the Pod or the node sees the target's processes already. */
function withTarget(namespaces: Namespaces, targetId: string | undefined): Namespaces {
  return targetId === undefined || namespaces.pid !== "container" ? namespaces : { ...namespaces, pid: "target", targetId };
}

// ── profiles ────────────────────────────────────────────────────────────────────────────────────────

function seccompOf({ pod, container, node }: SecurityView): SecurityProfile {
  const profile: SeccompProfile | undefined = container.securityContext?.seccompProfile ?? pod.spec?.securityContext?.seccompProfile;
  if (profile === undefined) return { is: node.isSeccompDefault === true ? "runtime-default" : "unconfined" };
  if (profile.type === "RuntimeDefault") return { is: "runtime-default" };
  if (profile.type !== "Localhost") return { is: "unconfined" };
  const file = profile.localhostProfile ?? "";
  if (file === "") throw new ContainerConfigError("localhostProfile must be set if seccompProfile type is Localhost.");
  return { is: "local", reference: `${node.directories.seccomp}/${file}` };
}

/** Fields take precedence over annotations, which Pods older than the fields may have. */
function appArmorOf({ metadata, spec }: Pod, { name, securityContext }: AnyContainer): SecurityProfile | undefined {
  const annotation = metadata.annotations?.[APP_ARMOR_ANNOTATION_PREFIX + name];
  const annotated = annotation === undefined ? undefined : appArmorProfileOf(annotation);
  const profile: AppArmorProfile | undefined = securityContext?.appArmorProfile ?? annotated ?? spec?.securityContext?.appArmorProfile;
  if (profile === undefined) return undefined;
  if (profile.type === "RuntimeDefault") return { is: "runtime-default" };
  if (profile.type === "Unconfined") return { is: "unconfined" };
  if (profile.localhostProfile === undefined) throw new ContainerConfigError("missing localhost apparmor profile name");
  return { is: "local", reference: profile.localhostProfile };
}

/** Passed on unchanged: without SELinux a runtime ignores it. */
function seLinuxOf(options: SELinuxOptions | undefined): { readonly seLinux?: SeLinux } {
  if (options === undefined) return {};
  const { user = "", role = "", type = "", level = "" } = options;
  return { seLinux: { user, role, type, level } };
}
