/**
 * What the kubelet needs from the machine besides a container runtime: volumes, files, cgroups and the resolved configuration of
 * containers. The kubelet's own rules are pure and reach the machine only through this contract; machine/ implements it, and simulated
 * nodes run without one.
 */
import type { Container, EphemeralContainer, Pod, ResourceStatus } from "../../api/generated/core/v1.ts";
import type { ContainerRun, SandboxRun } from "./container-run.ts";
import type { ProbeActions } from "./probe-actions.ts";
import type { ImageCredentials } from "./runtime.ts";

export interface PodMachine {
  /**
   * Prepares directories, volumes with their contents and the cgroup of the Pod. Idempotent. Rejects with a MountError if a part is not
   * available now; the kubelet retries.
   */
  prepare(pod: Pod, signal: AbortSignal): Promise<void>;
  /** Requires a completed `prepare`. */
  sandbox(pod: Pod): Promise<SandboxRun>;
  /**
   * Rejects with a ContainerConfigError if the Pod's spec yields no valid container now (missing key, user would be root), and with a
   * PodNetworkError while the Pod's network may not be used.
   */
  container(pod: Pod, container: Container | EphemeralContainer, place: ContainerContext): Promise<ContainerRun>;
  /** Credentials for this image from the pull secrets of the Pod and of its service account, best match first. */
  credentials(pod: Pod, image: string): Promise<readonly ImageCredentials[]>;
  /** Applies changed resources of the Pod to its cgroup. Rejects while a container still exceeds the new limits. */
  resize(pod: Pod): Promise<void>;
  /** Refreshes volumes that show the Pod's own metadata. */
  update(pod: Pod): void;
  /**
   * Kills processes of the Pod that the runtime no longer lists: from 2.0 on, containerd loses the containers of a shim that died while
   * their processes keep running.
   */
  killProcesses(podUid: string): Promise<void>;
  /**
   * Removes the volumes, directories and cgroup of a terminated Pod. Idempotent. With `willRestart` the Pod is to run here again: files on
   * disk are kept and only mounts and cgroups are removed.
   */
  release(podUid: string, options?: { readonly willRestart: boolean }): Promise<void>;
  /** Uids of Pods that still have files, volumes or logs on this machine. */
  orphanedPods(): Promise<readonly string[]>;
  /** Names of attached volumes that Pods of this node use, sorted (Node.status.volumesInUse). */
  volumesInUse(): readonly string[];
  /**
   * Whether the runtime handler of the Pod supports recursive read-only mounts; undefined: its RuntimeClass was not read since the kubelet
   * started.
   */
  supportsRecursiveReadOnly(pod: Pod): boolean | undefined;
  /** Health of the devices of a container, for its status. Empty without devices. */
  deviceHealth(pod: Pod, container: Container): readonly ResourceStatus[];
  /** Network actions of probes and lifecycle hooks. */
  readonly probes: ProbeActions;
}

export interface ContainerContext {
  readonly attempt: number;
  /** Pod IPs; with hostNetwork the node's. */
  readonly podIps: readonly string[];
  readonly imageId: string;
  /** Container id of the target of an ephemeral container. */
  readonly targetContainerId?: string;
}

/** Reported as the Event FailedMount. */
export class MountError extends Error {
  override readonly name = "MountError";
}

/** Why an image is not available: the waiting state of the containers that need it. */
export interface ImageProblem {
  readonly reason: "ErrImagePull" | "ErrImageNeverPull" | "InvalidImageName";
  readonly message: string;
}

/** All other volumes are mounted. By the image's reference. */
export class ImageVolumesError extends Error {
  override readonly name = "ImageVolumesError";
  readonly problems: ReadonlyMap<string, ImageProblem>;

  constructor(problems: ReadonlyMap<string, ImageProblem>) {
    super([...problems].map(([reference, { message }]) => `${reference}: ${message}`).join("; "));
    this.problems = problems;
  }
}

/** Reason and message of the status of a Pod that its node terminates. */
export interface PodEviction {
  readonly reason: string;
  readonly message: string;
  /** Grace period. Absent: as short as possible. */
  readonly graceMs?: number;
  /** The node is short of a resource: the Pod gets the condition DisruptionTarget. */
  readonly isDisruption?: boolean;
}

/** The Pod cannot run on this node: it becomes Failed with this reason, so that its controller replaces it. Reported as an Event, too. */
export class PodRejectedError extends Error {
  override readonly name = "PodRejectedError";
  readonly reason: string;

  constructor(reason: string, message: string, options: { readonly cause?: unknown } = {}) {
    super(message, options);
    this.reason = reason;
  }
}

/** Reported as the waiting reason CreateContainerConfigError. */
export class ContainerConfigError extends Error {
  override readonly name = "ContainerConfigError";
}

/** Reported as the Event FailedCreatePodSandBox, like the error of a CNI plugin; the kubelet retries soon and the container waits. */
export class PodNetworkError extends Error {
  override readonly name = "PodNetworkError";
}
