/** Messages of DRA drivers (package k8s.io.kubelet.pkg.apis.dra, v1 and v1beta1 alike). Numbers and meanings are facts of the wire format. */
import type { MessageDescriptor } from "../../base/protobuf/messages.ts";

/** Services that the kubelet can use, in the notation of registrations; a driver's order decides. */
export const DRA_SERVICES = ["v1.DRAPlugin", "v1beta1.DRAPlugin"] as const;
export type DraService = (typeof DRA_SERVICES)[number];

/** "v1.DRAPlugin" is the service k8s.io.kubelet.pkg.apis.dra.v1.DRAPlugin. */
export function draMethodPath(service: DraService, method: string): string {
  return `/k8s.io.kubelet.pkg.apis.dra.${service}/${method}`;
}

const claim = {
  name: "Claim",
  fields: { namespace: { number: 1, type: "string" }, uid: { number: 2, type: "string" }, name: { number: 3, type: "string" } },
} as const satisfies MessageDescriptor;

const device = {
  name: "Device",
  fields: {
    requestNames: { number: 1, type: "string", repeated: true },
    poolName: { number: 2, type: "string" },
    deviceName: { number: 3, type: "string" },
    cdiDeviceIds: { number: 4, type: "string", repeated: true },
    shareId: { number: 5, type: "string" },
  },
} as const satisfies MessageDescriptor;

const claims = {
  name: "ClaimsRequest",
  fields: { claims: { number: 1, type: claim, repeated: true } },
} as const satisfies MessageDescriptor;

const preparedClaim = {
  name: "NodePrepareResourceResponse",
  fields: { devices: { number: 1, type: device, repeated: true }, error: { number: 2, type: "string" } },
} as const satisfies MessageDescriptor;

const preparedEntry = {
  name: "PreparedClaimsEntry",
  fields: { key: { number: 1, type: "string" }, value: { number: 2, type: preparedClaim } },
} as const satisfies MessageDescriptor;

const unpreparedClaim = {
  name: "NodeUnprepareResourceResponse",
  fields: { error: { number: 1, type: "string" } },
} as const satisfies MessageDescriptor;

const unpreparedEntry = {
  name: "UnpreparedClaimsEntry",
  fields: { key: { number: 1, type: "string" }, value: { number: 2, type: unpreparedClaim } },
} as const satisfies MessageDescriptor;

export const nodePrepareResources = {
  method: "NodePrepareResources",
  request: claims,
  response: { name: "NodePrepareResourcesResponse", fields: { claims: { number: 1, type: preparedEntry, repeated: true } } },
} as const;

/** Of the service DRAResourceHealth, which has a package of its own. */
export const HEALTH_PATH = "/v1alpha1.DRAResourceHealth/NodeWatchResources";

const deviceIdentifier = {
  name: "DeviceIdentifier",
  fields: { poolName: { number: 1, type: "string" }, deviceName: { number: 2, type: "string" } },
} as const satisfies MessageDescriptor;

const deviceHealth = {
  name: "DeviceHealth",
  fields: {
    device: { number: 1, type: deviceIdentifier },
    /** 1: healthy, 2: unhealthy, else unknown. */
    health: { number: 2, type: "int32" },
    lastUpdatedTime: { number: 3, type: "int64" },
    healthCheckTimeoutSeconds: { number: 4, type: "int64" },
    message: { number: 5, type: "string" },
  },
} as const satisfies MessageDescriptor;

/** The request of the stream has no fields. */
export const nodeWatchResources = {
  response: { name: "NodeWatchResourcesResponse", fields: { devices: { number: 1, type: deviceHealth, repeated: true } } },
} as const;

export const nodeUnprepareResources = {
  method: "NodeUnprepareResources",
  request: claims,
  response: { name: "NodeUnprepareResourcesResponse", fields: { claims: { number: 1, type: unpreparedEntry, repeated: true } } },
} as const;
