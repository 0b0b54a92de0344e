/**
 * Converts SandboxRun and ContainerRun, which hold all decisions, to the CRI's configuration messages, field by field. Pure. Not here:
 * labels and annotations (labels.ts).
 */
import type { Encodable } from "../../../../base/protobuf/messages.ts";
import { entriesOf } from "../../../../base/protobuf/shared-messages.ts";
import type { Pod } from "../../../../api/generated/core/v1.ts";
import type {
  ContainerRun,
  ContainerSecurity,
  LinuxResources,
  MountRun,
  NamespaceMode,
  Namespaces,
  PortMapping,
  SandboxRun,
  SandboxSecurity,
  SecurityProfile,
} from "../../../contracts/container-run.ts";
import type { ContainerConfig } from "../../../contracts/runtime.ts";
import type { linuxResources, namespaceOption, securityProfile } from "./common.ts";
import type { ContainerConfigMessage } from "./container.ts";
import { containerAnnotations, containerLabels, LOG_DIRECTORY, podLabels, terminationPathOf } from "../labels.ts";
import type { SandboxConfigMessage } from "./sandbox.ts";

const PROTOCOLS: Readonly<Record<PortMapping["protocol"], number>> = { TCP: 0, UDP: 1, SCTP: 2 };
const MODES: Readonly<Record<NamespaceMode, number>> = { pod: 0, container: 1, node: 2, target: 3 };
const PROPAGATIONS: Readonly<Record<MountRun["propagation"], number>> = { private: 0, "host-to-container": 1, bidirectional: 2 };
const PROFILES: Readonly<Record<SecurityProfile["is"], number>> = { "runtime-default": 0, unconfined: 1, local: 2 };
const GROUP_POLICIES: Readonly<Record<SandboxSecurity["supplementalGroupsPolicy"], number>> = { Merge: 0, Strict: 1 };

export function sandboxMessage(
  pod: Pod,
  run: SandboxRun,
  { attempt, owner }: { readonly attempt: number; readonly owner: string },
): SandboxConfigMessage {
  const { name, namespace, uid } = pod.metadata;
  return {
    metadata: { name, namespace, uid, attempt },
    hostname: run.hostname,
    logDirectory: run.logDirectory,
    dns: run.dns,
    portMappings: run.portMappings.map((mapping) => ({ ...mapping, protocol: PROTOCOLS[mapping.protocol] })),
    labels: entriesOf(podLabels(pod, owner, run.labels)),
    annotations: entriesOf({ ...run.annotations, [LOG_DIRECTORY]: run.logDirectory }),
    linux: {
      cgroupParent: run.cgroupParent,
      sysctls: entriesOf(run.sysctls),
      security: securityFields(run.security),
      resources: run.resources === undefined ? undefined : resourcesMessage(run.resources),
    },
  };
}

export function containerMessage(config: ContainerConfig, run: ContainerRun, owner: string): ContainerConfigMessage {
  const { pod, container, attempt, imageId } = config;
  const noted = { attempt, own: run.annotations, termination: run.terminationMessage };
  return {
    metadata: { name: container.name, attempt },
    image: { image: imageId, userSpecifiedImage: container.image },
    command: run.command,
    args: run.args,
    workingDirectory: run.workingDirectory,
    environment: run.environment.map(({ name, value }) => ({ key: name, value })),
    mounts: mountsOf(config, run).map((mount) => ({ ...mount, propagation: PROPAGATIONS[mount.propagation] })),
    devices: run.devices,
    ...(run.cdiDevices === undefined ? {} : { cdiDevices: run.cdiDevices.map((name) => ({ name })) }),
    labels: entriesOf(containerLabels(pod, container, owner, run.labels)),
    annotations: entriesOf(containerAnnotations(pod, container, noted)),
    logPath: run.logPath,
    stdin: run.stdin,
    stdinOnce: run.stdinOnce,
    tty: run.tty,
    linux: { resources: resourcesMessage(run.resources), security: containerSecurity(run.security) },
    stopSignal: run.stopSignal === undefined ? undefined : signalNumber(run.stopSignal),
  };
}

/** The termination log is always mounted: without it there is no message. */
function mountsOf({ container }: ContainerConfig, { mounts, terminationMessage }: ContainerRun): readonly MountRun[] {
  const containerPath = terminationPathOf(container);
  if (terminationMessage === undefined || mounts.some((mount) => mount.containerPath === containerPath)) return mounts;
  return [...mounts, { hostPath: terminationMessage.hostPath, containerPath, readOnly: false, propagation: "private" }];
}

export function resourcesMessage(resources: LinuxResources): Encodable<typeof linuxResources> {
  const { hugepageLimits = [], unified = {} } = resources;
  return {
    ...resources,
    hugepageLimits: hugepageLimits.map(({ pageSize, limit }) => ({ pageSize, limit: BigInt(limit) })),
    unified: entriesOf(unified),
  };
}

function containerSecurity(security: ContainerSecurity) {
  return {
    ...securityFields(security),
    capabilities: { add: security.addCapabilities, drop: security.dropCapabilities },
    runAsUserName: security.runAsUserName,
    noNewPrivileges: security.noNewPrivileges,
    maskedPaths: security.maskedPaths,
    readOnlyPaths: security.readOnlyPaths,
  };
}

function securityFields(security: SandboxSecurity) {
  const { runAsUser, runAsGroup } = security;
  return {
    namespaces: namespacesMessage(security.namespaces),
    seLinux: security.seLinux,
    runAsUser: runAsUser === undefined ? undefined : { value: runAsUser },
    runAsGroup: runAsGroup === undefined ? undefined : { value: runAsGroup },
    readOnlyRoot: security.readOnlyRoot,
    supplementalGroups: security.supplementalGroups,
    supplementalGroupsPolicy: GROUP_POLICIES[security.supplementalGroupsPolicy],
    privileged: security.privileged,
    seccomp: profileMessage(security.seccomp),
    apparmor: profileMessage(security.apparmor),
  };
}

function namespacesMessage({ network, pid, ipc, targetId, userMapping }: Namespaces): Encodable<typeof namespaceOption> {
  const users = userMapping === undefined ? { mode: MODES.node } : { mode: MODES.pod, uids: userMapping, gids: userMapping };
  return { network: MODES[network], pid: MODES[pid], ipc: MODES[ipc], targetId, userNamespace: users };
}

function profileMessage(profile: SecurityProfile | undefined): Encodable<typeof securityProfile> | undefined {
  if (profile === undefined) return undefined;
  return { profileType: PROFILES[profile.is], localhostRef: profile.is === "local" ? profile.reference : "" };
}

/** In the CRI's order, which is alphabetical, from 1 on; the real-time signals follow. */
const SIGNALS =
  "ABRT ALRM BUS CHLD CLD CONT FPE HUP ILL INT IO IOT KILL PIPE POLL PROF PWR QUIT SEGV STKFLT STOP SYS TERM TRAP TSTP TTIN TTOU URG USR1 USR2 VTALRM WINCH XCPU XFSZ".split(
    " ",
  );
const RT_MIN = SIGNALS.length + 1;
const RT_MAX = RT_MIN + 30;

/** 0, which is the image's own, for a signal that the CRI does not know: "SIGUSR1", "SIGRTMIN+3", "SIGRTMAX-1". */
export function signalNumber(name: string): number {
  const realTime = /^SIGRT(MIN|MAX)(?:([+-])(\d+))?$/.exec(name);
  if (realTime !== null) {
    const [, base, sign, offset = "0"] = realTime;
    return (base === "MIN" ? RT_MIN : RT_MAX) + (sign === "-" ? -1 : 1) * Number(offset);
  }
  return name.startsWith("SIG") ? SIGNALS.indexOf(name.slice("SIG".length)) + 1 : 0;
}
