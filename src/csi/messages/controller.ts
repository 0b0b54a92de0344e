/** Messages of the service csi.v1.Controller that k8ts calls; see common.ts. Not here: snapshots, listing, group snapshots. */
import type { MessageDescriptor } from "../../base/protobuf/messages.ts";
import { entry, nothing } from "../../base/protobuf/shared-messages.ts";
import type { CsiControllerCapability } from "../contract.ts";
import { capacityRange, int64Value, rpcCapability, topology, volumeCapability, type CsiMethod } from "./common.ts";

const SERVICE = "/csi.v1.Controller";

const contentSource = {
  name: "VolumeContentSource",
  fields: {
    snapshot: { number: 1, type: { name: "SnapshotSource", fields: { snapshotId: { number: 1, type: "string" } } } },
    volume: { number: 2, type: { name: "VolumeSource", fields: { volumeId: { number: 1, type: "string" } } } },
  },
} as const satisfies MessageDescriptor;

const topologyRequirement = {
  name: "TopologyRequirement",
  fields: { requisite: { number: 1, type: topology, repeated: true }, preferred: { number: 2, type: topology, repeated: true } },
} as const satisfies MessageDescriptor;

const volume = {
  name: "Volume",
  fields: {
    capacityBytes: { number: 1, type: "int64" },
    volumeId: { number: 2, type: "string" },
    volumeContext: { number: 3, type: entry, repeated: true },
    contentSource: { number: 4, type: contentSource },
    accessibleTopology: { number: 5, type: topology, repeated: true },
  },
} as const satisfies MessageDescriptor;

export const createVolume = {
  path: `${SERVICE}/CreateVolume`,
  request: {
    name: "CreateVolumeRequest",
    fields: {
      name: { number: 1, type: "string" },
      capacityRange: { number: 2, type: capacityRange },
      volumeCapabilities: { number: 3, type: volumeCapability, repeated: true },
      parameters: { number: 4, type: entry, repeated: true },
      secrets: { number: 5, type: entry, repeated: true },
      volumeContentSource: { number: 6, type: contentSource },
      accessibilityRequirements: { number: 7, type: topologyRequirement },
      mutableParameters: { number: 8, type: entry, repeated: true },
    },
  },
  response: { name: "CreateVolumeResponse", fields: { volume: { number: 1, type: volume } } },
} as const satisfies CsiMethod;

export const deleteVolume = {
  path: `${SERVICE}/DeleteVolume`,
  request: {
    name: "DeleteVolumeRequest",
    fields: { volumeId: { number: 1, type: "string" }, secrets: { number: 2, type: entry, repeated: true } },
  },
  response: nothing,
} as const satisfies CsiMethod;

export const controllerPublishVolume = {
  path: `${SERVICE}/ControllerPublishVolume`,
  request: {
    name: "ControllerPublishVolumeRequest",
    fields: {
      volumeId: { number: 1, type: "string" },
      nodeId: { number: 2, type: "string" },
      volumeCapability: { number: 3, type: volumeCapability },
      readonly: { number: 4, type: "bool" },
      secrets: { number: 5, type: entry, repeated: true },
      volumeContext: { number: 6, type: entry, repeated: true },
    },
  },
  response: { name: "ControllerPublishVolumeResponse", fields: { publishContext: { number: 1, type: entry, repeated: true } } },
} as const satisfies CsiMethod;

export const controllerUnpublishVolume = {
  path: `${SERVICE}/ControllerUnpublishVolume`,
  request: {
    name: "ControllerUnpublishVolumeRequest",
    fields: {
      volumeId: { number: 1, type: "string" },
      nodeId: { number: 2, type: "string" },
      secrets: { number: 3, type: entry, repeated: true },
    },
  },
  response: nothing,
} as const satisfies CsiMethod;

export const controllerExpandVolume = {
  path: `${SERVICE}/ControllerExpandVolume`,
  request: {
    name: "ControllerExpandVolumeRequest",
    fields: {
      volumeId: { number: 1, type: "string" },
      capacityRange: { number: 2, type: capacityRange },
      secrets: { number: 3, type: entry, repeated: true },
      volumeCapability: { number: 4, type: volumeCapability },
    },
  },
  response: {
    name: "ControllerExpandVolumeResponse",
    fields: { capacityBytes: { number: 1, type: "int64" }, nodeExpansionRequired: { number: 2, type: "bool" } },
  },
} as const satisfies CsiMethod;

export const controllerModifyVolume = {
  path: `${SERVICE}/ControllerModifyVolume`,
  request: {
    name: "ControllerModifyVolumeRequest",
    fields: {
      volumeId: { number: 1, type: "string" },
      secrets: { number: 2, type: entry, repeated: true },
      mutableParameters: { number: 3, type: entry, repeated: true },
    },
  },
  response: nothing,
} as const satisfies CsiMethod;

export const getCapacity = {
  path: `${SERVICE}/GetCapacity`,
  request: {
    name: "GetCapacityRequest",
    fields: {
      volumeCapabilities: { number: 1, type: volumeCapability, repeated: true },
      parameters: { number: 2, type: entry, repeated: true },
      accessibleTopology: { number: 3, type: topology },
    },
  },
  response: {
    name: "GetCapacityResponse",
    fields: { availableCapacity: { number: 1, type: "uint64" }, maximumVolumeSize: { number: 2, type: int64Value } },
  },
} as const satisfies CsiMethod;

export const controllerGetCapabilities = {
  path: `${SERVICE}/ControllerGetCapabilities`,
  request: nothing,
  response: { name: "ControllerGetCapabilitiesResponse", fields: { capabilities: { number: 1, type: rpcCapability, repeated: true } } },
} as const satisfies CsiMethod;

/** The index is the enum's number. */
export const CONTROLLER_CAPABILITIES: readonly (CsiControllerCapability | "UNKNOWN")[] = [
  "UNKNOWN",
  "CREATE_DELETE_VOLUME",
  "PUBLISH_UNPUBLISH_VOLUME",
  "LIST_VOLUMES",
  "GET_CAPACITY",
  "CREATE_DELETE_SNAPSHOT",
  "LIST_SNAPSHOTS",
  "CLONE_VOLUME",
  "PUBLISH_READONLY",
  "EXPAND_VOLUME",
  "LIST_VOLUMES_PUBLISHED_NODES",
  "VOLUME_CONDITION",
  "GET_VOLUME",
  "SINGLE_NODE_MULTI_WRITER",
  "MODIFY_VOLUME",
  "GET_SNAPSHOT",
];
