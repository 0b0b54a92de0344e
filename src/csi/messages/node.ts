/** Messages of the service csi.v1.Node; see common.ts. */
import type { MessageDescriptor } from "../../base/protobuf/messages.ts";
import { entry, nothing } from "../../base/protobuf/shared-messages.ts";
import type { CsiNodeCapability } from "../contract.ts";
import { capacityRange, rpcCapability, topology, volumeCapability, volumeCondition, type CsiMethod } from "./common.ts";

const SERVICE = "/csi.v1.Node";

export const nodeStageVolume = {
  path: `${SERVICE}/NodeStageVolume`,
  request: {
    name: "NodeStageVolumeRequest",
    fields: {
      volumeId: { number: 1, type: "string" },
      publishContext: { number: 2, type: entry, repeated: true },
      stagingTargetPath: { number: 3, type: "string" },
      volumeCapability: { number: 4, type: volumeCapability },
      secrets: { number: 5, type: entry, repeated: true },
      volumeContext: { number: 6, type: entry, repeated: true },
    },
  },
  response: nothing,
} as const satisfies CsiMethod;

export const nodeUnstageVolume = {
  path: `${SERVICE}/NodeUnstageVolume`,
  request: {
    name: "NodeUnstageVolumeRequest",
    fields: { volumeId: { number: 1, type: "string" }, stagingTargetPath: { number: 2, type: "string" } },
  },
  response: nothing,
} as const satisfies CsiMethod;

export const nodePublishVolume = {
  path: `${SERVICE}/NodePublishVolume`,
  request: {
    name: "NodePublishVolumeRequest",
    fields: {
      volumeId: { number: 1, type: "string" },
      publishContext: { number: 2, type: entry, repeated: true },
      stagingTargetPath: { number: 3, type: "string" },
      targetPath: { number: 4, type: "string" },
      volumeCapability: { number: 5, type: volumeCapability },
      readonly: { number: 6, type: "bool" },
      secrets: { number: 7, type: entry, repeated: true },
      volumeContext: { number: 8, type: entry, repeated: true },
    },
  },
  response: nothing,
} as const satisfies CsiMethod;

export const nodeUnpublishVolume = {
  path: `${SERVICE}/NodeUnpublishVolume`,
  request: {
    name: "NodeUnpublishVolumeRequest",
    fields: { volumeId: { number: 1, type: "string" }, targetPath: { number: 2, type: "string" } },
  },
  response: nothing,
} as const satisfies CsiMethod;

const volumeUsage = {
  name: "VolumeUsage",
  fields: {
    available: { number: 1, type: "int64" },
    total: { number: 2, type: "int64" },
    used: { number: 3, type: "int64" },
    unit: { number: 4, type: "int32" },
  },
} as const satisfies MessageDescriptor;

export const nodeGetVolumeStats = {
  path: `${SERVICE}/NodeGetVolumeStats`,
  request: {
    name: "NodeGetVolumeStatsRequest",
    fields: {
      volumeId: { number: 1, type: "string" },
      volumePath: { number: 2, type: "string" },
      stagingTargetPath: { number: 3, type: "string" },
    },
  },
  response: {
    name: "NodeGetVolumeStatsResponse",
    fields: { usage: { number: 1, type: volumeUsage, repeated: true }, volumeCondition: { number: 2, type: volumeCondition } },
  },
} as const satisfies CsiMethod;

export const nodeExpandVolume = {
  path: `${SERVICE}/NodeExpandVolume`,
  request: {
    name: "NodeExpandVolumeRequest",
    fields: {
      volumeId: { number: 1, type: "string" },
      volumePath: { number: 2, type: "string" },
      capacityRange: { number: 3, type: capacityRange },
      stagingTargetPath: { number: 4, type: "string" },
      volumeCapability: { number: 5, type: volumeCapability },
      secrets: { number: 6, type: entry, repeated: true },
    },
  },
  response: { name: "NodeExpandVolumeResponse", fields: { capacityBytes: { number: 1, type: "int64" } } },
} as const satisfies CsiMethod;

export const nodeGetCapabilities = {
  path: `${SERVICE}/NodeGetCapabilities`,
  request: nothing,
  response: { name: "NodeGetCapabilitiesResponse", fields: { capabilities: { number: 1, type: rpcCapability, repeated: true } } },
} as const satisfies CsiMethod;

export const nodeGetInfo = {
  path: `${SERVICE}/NodeGetInfo`,
  request: nothing,
  response: {
    name: "NodeGetInfoResponse",
    fields: {
      nodeId: { number: 1, type: "string" },
      maxVolumesPerNode: { number: 2, type: "int64" },
      accessibleTopology: { number: 3, type: topology },
    },
  },
} as const satisfies CsiMethod;

/** The index is the enum's number. */
export const NODE_CAPABILITIES: readonly (CsiNodeCapability | "UNKNOWN")[] = [
  "UNKNOWN",
  "STAGE_UNSTAGE_VOLUME",
  "GET_VOLUME_STATS",
  "EXPAND_VOLUME",
  "VOLUME_CONDITION",
  "SINGLE_NODE_MULTI_WRITER",
  "VOLUME_MOUNT_GROUP",
];

/** The index is the enum's number. */
export const USAGE_UNITS = ["UNKNOWN", "BYTES", "INODES"] as const;
