/**
 * Statuses of the containers of a Pod: current state, last termination, restart count. For containers that the runtime no longer has, the
 * previously reported status is used; one that was running counts as killed (exit code 137), never as not started, or it would run twice.
 * Follows upstream's convertToAPIContainerStatuses.
 */
import type {
  Container,
  ContainerState,
  ContainerStateTerminated,
  ContainerStatus,
  EphemeralContainer,
  ResourceRequirements,
  ResourceStatus,
  Pod,
  VolumeMount,
  VolumeMountStatus,
} from "../../../api/generated/core/v1.ts";
import { isSidecar } from "../../../api/core/v1/pod/containers.ts";
import { formatTime } from "../../../api/machinery/time.ts";
import { LOST_EXIT_CODE } from "../plan/plan-termination.ts";
import { hasBegun } from "../plan/plan-init.ts";
import type { ContainerRole, Waiting } from "../plan/plan-contract.ts";
import { isRestartAllDue, RESTARTING_ALL } from "../plan/restart-all.ts";
import { shouldRestart } from "../plan/restart-policy.ts";
import { ContainerConfigError } from "../../contracts/pod-machine.ts";
import type { RuntimeContainer, SandboxStatus } from "../../contracts/runtime.ts";
import { isRecursivelyReadOnly } from "../../shared/recursive-read-only.ts";
import { isStarted, newestContainer, previousContainer } from "../containers/runtime-containers.ts";

const LOST = "ContainerStatusUnknown";

export interface ContainersView {
  readonly pod: Pod;
  readonly sandbox: SandboxStatus | undefined;
  /** Why containers do not start yet, by name. */
  readonly waiting: ReadonlyMap<string, Waiting>;
  /** "containerd": prefix of container ids. */
  readonly runtimeName: string;
  /** Granted resources by container id; absent: those of the spec. */
  readonly granted?: ReadonlyMap<string, ResourceRequirements>;
  /** Undefined: not known (any more); the reported status is kept. */
  readonly supportsRecursiveReadOnly?: boolean | undefined;
  /** Health of the devices of a container; absent: no devices. */
  deviceHealth?(container: Container): readonly ResourceStatus[];
}

/** Init containers in the order of the spec, others by name, as upstream. */
export function containerStatuses(view: ContainersView, role: ContainerRole): readonly ContainerStatus[] | undefined {
  const containers = containersOf(view.pod, role);
  if (containers.length === 0) return undefined;
  const previous = statusesOf(view.pod, role);
  const statuses = containers.map((container) =>
    statusOf(
      container,
      role,
      previous?.find(({ name }) => name === container.name),
      view,
    ),
  );
  if (role === "init" || statuses.length === 1) return statuses;
  return statuses.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

function containersOf({ spec }: Pod, role: ContainerRole): readonly (Container | EphemeralContainer)[] {
  return (role === "init" ? spec?.initContainers : role === "regular" ? spec?.containers : spec?.ephemeralContainers) ?? [];
}

function statusesOf({ status }: Pod, role: ContainerRole): readonly ContainerStatus[] | undefined {
  if (role === "init") return status?.initContainerStatuses;
  return role === "regular" ? status?.containerStatuses : status?.ephemeralContainerStatuses;
}

function statusOf(
  container: Container | EphemeralContainer,
  role: ContainerRole,
  before: ContainerStatus | undefined,
  view: ContainersView,
): ContainerStatus {
  const known = newestContainer(view.sandbox, container.name);
  const plain = known === undefined ? unseenStatus(container, role, before, view) : seenStatus(container, known, before, view);
  const status = probed(waitingStatus(plain, container, role, known, view), container, role, known);
  return role === "regular" ? withDeviceHealth(status, container, view) : status;
}

/** Only regular containers have it, as upstream. A status that is kept from before has the current health, too. */
function withDeviceHealth(status: ContainerStatus, container: Container, { deviceHealth }: ContainersView): ContainerStatus {
  if (container.resources?.claims === undefined || deviceHealth === undefined) return status;
  const { allocatedResourcesStatus: _before, ...others } = status;
  const health = deviceHealth(container);
  return health.length === 0 ? others : { ...others, allocatedResourcesStatus: [...health] };
}

/** The runtime has no container of this name. */
function unseenStatus(
  container: Container | EphemeralContainer,
  role: ContainerRole,
  before: ContainerStatus | undefined,
  view: ContainersView,
): ContainerStatus {
  if (before !== undefined && before.state?.waiting === undefined && role !== "ephemeral" && isRestartAllDue(view))
    return removedStatus(container, before, view);
  if (before?.state?.terminated !== undefined) return before;
  if (role === "ephemeral" && before?.state?.running !== undefined)
    return { ...before, state: { terminated: lostWhenTerminated }, ready: false };
  const { pod } = view;
  const wasRunning = before?.state?.running !== undefined;
  const isOnceMore = wasRunning && pod.metadata.deletionTimestamp === undefined;
  const isDoneInit = role === "init" && !isSidecar(container) && hasBegun(view);
  const lastState = wasRunning ? { terminated: lostWhenDeleted } : (before?.lastState ?? {});
  return {
    name: container.name,
    state: isDoneInit ? { terminated: assumedDone } : notStarted(pod),
    lastState,
    ready: false,
    restartCount: (before?.restartCount ?? 0) + (isOnceMore ? 1 : 0),
    image: container.image ?? "",
    imageID: "",
    ...mountsOf(container, before, view),
  };
}

/** State of a container that is not started yet. */
function notStarted({ spec }: Pod): ContainerState {
  const hasInit = (spec?.initContainers?.length ?? 0) > 0;
  return { waiting: { reason: hasInit ? "PodInitializing" : "ContainerCreating" } };
}

/** The container was removed for a restart of all containers. */
function removedStatus(container: Container | EphemeralContainer, before: ContainerStatus, view: ContainersView): ContainerStatus {
  return {
    name: container.name,
    state: { waiting: { reason: RESTARTING_ALL, message: REMOVED } },
    lastState: { terminated: { exitCode: LOST_EXIT_CODE, reason: RESTARTING_ALL, message: REMOVED } },
    ready: false,
    restartCount: before.restartCount + 1,
    image: container.image ?? "",
    imageID: "",
    ...mountsOf(container, before, view),
  };
}

const REMOVED = "The container is removed because RestartAllContainers in place";

const lostWhenDeleted: ContainerStateTerminated = {
  exitCode: LOST_EXIT_CODE,
  reason: LOST,
  message: "The container could not be located when the pod was deleted.  The container used to be Running",
};

/** State of a container that was last reported as running when the Pod terminated. */
export const lostWhenTerminated: ContainerStateTerminated = {
  exitCode: LOST_EXIT_CODE,
  reason: LOST,
  message: "The container could not be located when the pod was terminated",
};

const assumedDone: ContainerStateTerminated = {
  exitCode: 0,
  reason: "Completed",
  message: "Unable to get init container status from container runtime and pod has been initialized, treat it as exited normally",
};

function seenStatus(
  container: Container | EphemeralContainer,
  known: RuntimeContainer,
  before: ContainerStatus | undefined,
  view: ContainersView,
): ContainerStatus {
  const { pod, sandbox, runtimeName, granted } = view;
  const containerID = `${runtimeName}://${known.id}`;
  const earlier = known.attempt === 0 ? undefined : previousContainer(sandbox, known.name);
  const { resources } = container;
  return {
    name: known.name,
    // The runtime has created it and starts it next: until then it waits for the same reason as before.
    state: known.state.is === "created" ? notStarted(pod) : withLastWords(stateOf(known, containerID), before),
    lastState: earlier === undefined ? lastStateBy(before, containerID) : stateOf(earlier, `${runtimeName}://${earlier.id}`),
    ready: false,
    restartCount: Math.max(known.attempt, before?.restartCount ?? 0),
    image: known.image,
    imageID: known.imageId,
    containerID,
    ...(resources?.requests === undefined ? {} : { allocatedResources: resources.requests }),
    // A container that does not run has no resources in effect.
    resources: (known.state.is === "running" ? granted?.get(known.id) : undefined) ?? resources ?? {},
    ...mountsOf(container, before, view),
  };
}

function stateOf({ state }: RuntimeContainer, containerID: string): ContainerState {
  switch (state.is) {
    case "created":
      return { waiting: {} };
    case "running":
      return { running: { startedAt: formatTime(state.startedAtMs) } };
    case "exited": {
      const { exitCode, reason, message, startedAtMs, finishedAtMs } = state;
      const words = message === undefined || message === "" ? { reason } : { reason, message };
      return { terminated: { exitCode, ...words, startedAt: formatTime(startedAtMs), finishedAt: formatTime(finishedAtMs), containerID } };
    }
  }
}

/** The termination message may be removed from the machine with the Pod; the reported one is kept. */
function withLastWords(state: ContainerState, before: ContainerStatus | undefined): ContainerState {
  const [{ terminated }, reported] = [state, before?.state?.terminated];
  if (terminated === undefined || terminated.message !== undefined || reported?.message === undefined) return state;
  return reported.containerID === terminated.containerID ? { terminated: { ...terminated, message: reported.message } } : state;
}

/** The runtime no longer has the previous attempt, but the reported status may. */
function lastStateBy(before: ContainerStatus | undefined, containerID: string): ContainerState {
  const { state, lastState } = before ?? {};
  if (before?.containerID !== containerID && state?.terminated !== undefined) return { terminated: state.terminated };
  return lastState?.terminated === undefined ? {} : { terminated: lastState.terminated };
}

/** A container that should run and waits. */
function waitingStatus(
  status: ContainerStatus,
  container: Container | EphemeralContainer,
  role: ContainerRole,
  known: RuntimeContainer | undefined,
  { pod, waiting }: ContainersView,
): ContainerStatus {
  const words = waiting.get(container.name);
  if (words === undefined || pod.metadata.deletionTimestamp !== undefined || pod.spec === undefined) return status;
  if (known?.state.is === "exited") {
    const isDone = role === "init" && known.state.exitCode === 0 && !isSidecar(container);
    if (isDone || !shouldRestart(container, pod.spec, known.state.exitCode)) return status;
  }
  const lastState = status.state?.terminated === undefined ? status.lastState : status.state;
  return { ...status, state: { waiting: { ...words } }, ...(lastState === undefined ? {} : { lastState }) };
}

/** `started` and `ready`. Ephemeral containers have neither. */
function probed(
  status: ContainerStatus,
  container: Container | EphemeralContainer,
  role: ContainerRole,
  known: RuntimeContainer | undefined,
): ContainerStatus {
  if (role === "ephemeral") return status;
  const started = status.state?.running !== undefined && isStarted(known);
  const isReady = started && known?.ready !== false;
  const isDone = status.state?.terminated?.exitCode === 0;
  const ready = role === "init" && !isSidecar(container) ? isDone : isReady;
  return { ...status, ready, started };
}

function mountsOf(
  { volumeMounts = [] }: Container | EphemeralContainer,
  before: ContainerStatus | undefined,
  { supportsRecursiveReadOnly: isSupported }: ContainersView,
): Pick<ContainerStatus, "volumeMounts"> {
  if (volumeMounts.length === 0) return {};
  return {
    volumeMounts: volumeMounts.map((mount): VolumeMountStatus => {
      const { name, mountPath, readOnly = false } = mount;
      if (!readOnly) return { name, mountPath };
      const reported = before?.volumeMounts?.find((one) => one.mountPath === mountPath)?.recursiveReadOnly;
      const recursiveReadOnly = isSupported === undefined ? (reported ?? "Disabled") : recursiveModeOf(mount, isSupported);
      return { name, mountPath, readOnly, recursiveReadOnly };
    }),
  };
}

function recursiveModeOf(mount: VolumeMount, isSupported: boolean): "Enabled" | "Disabled" {
  try {
    return isRecursivelyReadOnly(mount, isSupported) ? "Enabled" : "Disabled";
  } catch (error) {
    // Its container is not created and waits with this message.
    if (error instanceof ContainerConfigError) return "Disabled";
    throw error;
  }
}
