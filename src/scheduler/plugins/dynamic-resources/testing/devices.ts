/** Builders of device classes, slices and claims for tests: each names only what its case is about. */
import type {
  Device,
  DeviceClass,
  DeviceConstraint,
  DeviceRequest,
  ExactDeviceRequest,
  ResourceClaim,
  ResourceClaimStatus,
  ResourceSlice,
  ResourceSliceSpec,
} from "../../../../api/generated/resource.k8s.io/v1.ts";

export const DRIVER = "gpu.example.com";
export const CLASS = "gpu";

export function aDeviceClass(name = CLASS, spec: DeviceClass["spec"] = {}): DeviceClass {
  return { apiVersion: "resource.k8s.io/v1", kind: "DeviceClass", metadata: { name, uid: `uid-of-class-${name}` }, spec };
}

export interface SliceParts extends Partial<Omit<ResourceSliceSpec, "pool">> {
  /** The pool; that of the node by default. */
  readonly pool?: string;
  readonly generation?: number;
  readonly sliceCount?: number;
}

/** A slice with these devices, by name or in full. */
export function aSlice(name: string, devices: readonly (string | Device)[], parts: SliceParts = {}): ResourceSlice {
  const { pool, generation = 1, sliceCount = 1, driver = DRIVER, ...spec } = parts;
  const isElsewhere = spec.allNodes !== undefined || spec.nodeSelector !== undefined || spec.perDeviceNodeSelection !== undefined;
  const placed = isElsewhere || spec.nodeName !== undefined ? {} : { nodeName: "n1" };
  const all = devices.map((device) => (typeof device === "string" ? { name: device } : device));
  return {
    apiVersion: "resource.k8s.io/v1",
    kind: "ResourceSlice",
    metadata: { name, uid: `uid-of-slice-${name}` },
    spec: {
      driver,
      pool: { name: pool ?? spec.nodeName ?? "n1", generation, resourceSliceCount: sliceCount },
      ...placed,
      ...(all.length > 0 && { devices: all }),
      ...spec,
    },
  };
}

export interface ClaimParts {
  readonly constraints?: readonly DeviceConstraint[];
  readonly config?: NonNullable<NonNullable<ResourceClaim["spec"]["devices"]>["config"]>;
  readonly status?: ResourceClaimStatus;
  readonly metadata?: Partial<ResourceClaim["metadata"]>;
}

export function aClaim(name: string, requests: readonly DeviceRequest[] = [aRequest()], parts: ClaimParts = {}): ResourceClaim {
  const { constraints, config, status, metadata } = parts;
  return {
    apiVersion: "resource.k8s.io/v1",
    kind: "ResourceClaim",
    metadata: { name, namespace: "default", uid: `uid-of-claim-${name}`, ...metadata },
    spec: { devices: { requests, ...(constraints && { constraints }), ...(config && { config }) } },
    ...(status && { status }),
  };
}

/** One device of the class "gpu", unless said otherwise. */
export function aRequest(parts: Partial<ExactDeviceRequest> = {}, name = "gpu"): DeviceRequest {
  return { name, exactly: { deviceClassName: CLASS, allocationMode: "ExactCount", count: 1, ...parts } };
}

export function selecting(expression: string): Pick<ExactDeviceRequest, "selectors"> {
  return { selectors: [{ cel: { expression } }] };
}
