/**
 * With which rights a container runs: what its `securityContext` says, and where it says nothing, the Pod's. Users are numbers; an image
 * whose user is a name is run by that name, unless the Pod insists that it is not root, which a name cannot show.
 * What Windows and SELinux alone know is handed on or left out. Not here: namespaces of users, which no runtime here makes: refused.
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

/** Of /proc and /sys, what tells about the machine or other containers. Upstream's lists. */
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
  /** As the image says; absent: root. */
  readonly imageUser: Image["user"];
  readonly node: Pick<NodeView, "isSeccompDefault"> & { readonly directories: Pick<NodeView["directories"], "seccomp"> };
  /** Of an ephemeral container that looks into another: that one's id. */
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

/** Of what holds the Pod's namespaces: it has no rights to speak of, whatever profile its containers ask for. */
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

/** The group of the volumes is one of the container's. */
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

/** Whoever sees the processes of the Pod or the node sees those of the other already. */
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

/** Fields before annotations, which Pods that are older than the fields may have. */
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

/** Handed on as it is: without SELinux it means nothing to a runtime. */
function seLinuxOf(options: SELinuxOptions | undefined): { readonly seLinux?: SeLinux } {
  if (options === undefined) return {};
  const { user = "", role = "", type = "", level = "" } = options;
  return { seLinux: { user, role, type, level } };
}
