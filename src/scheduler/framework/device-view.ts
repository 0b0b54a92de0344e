/** Objects of dynamic resource allocation for plugins, from memory, and their writes. Types only, and the values for schedulers without devices. */
import type { Pod, PodExtendedResourceClaimStatus } from "../../api/generated/core/v1.ts";
import type { DeviceClass, ResourceClaim, ResourceSlice } from "../../api/generated/resource.k8s.io/v1.ts";

/** Notified of every change, before a change is a cluster event; of existing objects at once. Must not throw. */
export interface ObjectListener<T> {
  changed(object: T, previous: T | undefined): void;
  deleted(object: T): void;
}

/** As observed: what plugins have assumed is not included, what was written through `DeviceEffects` is. */
export interface DeviceView {
  claim(namespace: string, name: string): ResourceClaim | undefined;
  /** Claims whose controller is the Pod of this uid. */
  claimsOfPod(uid: string): readonly ResourceClaim[];
  deviceClass(name: string): DeviceClass | undefined;
  /**
   * The class whose devices an extended resource stands for: that of its `extendedResourceName`, the newest if there are several, or that
   * of "deviceclass.resource.kubernetes.io/<class>". Undefined if the resource is an ordinary one.
   */
  classOfResource(resourceName: string): DeviceClass | undefined;
  /** Listening ends with the scheduler. */
  onClaims(listener: ObjectListener<ResourceClaim>): void;
  onSlices(listener: ObjectListener<ResourceSlice>): void;
}

/**
 * Writes of dynamic resource allocation. Each resolves when `DeviceView` shows the result, and rejects with a StatusError if it fails; a
 * conflict means that the claim was changed meanwhile. `pod` is the one being scheduled.
 */
export interface DeviceEffects {
  /** From the server, not from memory. */
  getClaim(claim: ResourceClaim, pod: Pod, signal: AbortSignal): Promise<ResourceClaim>;
  /** With a generated name. */
  createClaim(claim: Omit<ResourceClaim, "status">, pod: Pod, signal: AbortSignal): Promise<ResourceClaim>;
  updateClaim(claim: ResourceClaim, pod: Pod, signal: AbortSignal): Promise<ResourceClaim>;
  updateClaimStatus(claim: ResourceClaim, pod: Pod, signal: AbortSignal): Promise<ResourceClaim>;
  /** Removes the Pod from `status.reservedFor`. A deleted claim is not an error. */
  unreserveClaim(claim: ResourceClaim, pod: Pod, signal: AbortSignal): Promise<void>;
  /** A deleted claim is not an error. */
  deleteClaim(claim: ResourceClaim, pod: Pod, signal: AbortSignal): Promise<void>;
  /** Sets `status.extendedResourceClaimStatus` of the Pod. */
  setExtendedResourceClaim(pod: Pod, status: PodExtendedResourceClaimStatus, signal: AbortSignal): Promise<void>;
  /** Emits an event of the Pod. */
  report(pod: Pod, event: { readonly type: "Normal" | "Warning"; readonly reason: string; readonly message: string }): void;
}

/** A cluster without devices. */
export const NO_DEVICES: DeviceView = {
  claim: () => undefined,
  claimsOfPod: () => [],
  deviceClass: () => undefined,
  classOfResource: () => undefined,
  onClaims() {},
  onSlices() {},
};

/** For plugins that are never called. */
export const NO_DEVICE_EFFECTS: DeviceEffects = {
  getClaim: (claim) => Promise.resolve(claim),
  createClaim: (claim) => Promise.resolve(claim),
  updateClaim: (claim) => Promise.resolve(claim),
  updateClaimStatus: (claim) => Promise.resolve(claim),
  unreserveClaim: () => Promise.resolve(),
  deleteClaim: () => Promise.resolve(),
  setExtendedResourceClaim: () => Promise.resolve(),
  report() {},
};
