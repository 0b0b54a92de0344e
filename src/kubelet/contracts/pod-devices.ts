/**
 * The devices of Pods with ResourceClaims, as the kubelet needs them. kubelet/dra implements it with the drivers of the node. Types, and
 * the error.
 */
import type { Container, EphemeralContainer, Pod, ResourceStatus } from "../../api/generated/core/v1.ts";
import type { ContainerRun } from "./container-run.ts";

export interface PodDevices {
  /** Has the drivers prepare the claims of a Pod. Idempotent. Rejects with a DevicesError if that is not possible now; the kubelet retries. */
  prepare(pod: Pod, signal: AbortSignal): Promise<void>;
  /** The configuration of a container with the devices that it uses. Requires a completed `prepare`. */
  withDevices(pod: Pod, container: Container | EphemeralContainer, run: ContainerRun): Promise<ContainerRun>;
  /** Health of the devices of a container, as its drivers report it, for its status. Empty without devices. */
  health(pod: Pod, container: Container): readonly ResourceStatus[];
  /** Has the drivers release the claims that only this Pod uses. Idempotent. Rejects if a driver fails; the kubelet retries. */
  release(podUid: string): Promise<void>;
  /** Uids of Pods whose claims may be prepared. */
  pods(): readonly string[];
}

/** Reported as the Event FailedPrepareDynamicResources. */
export class DevicesError extends Error {
  override readonly name = "DevicesError";
}
