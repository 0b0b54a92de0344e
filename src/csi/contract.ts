/**
 * What k8ts needs of a driver of the Container Storage Interface (CSI v1): the services Identity, Node and Controller as typed calls. Maps
 * are records, one-of fields are unions, capabilities are sets of names. Only types; csi/client implements them over a Unix socket.
 *
 * Every call that changes something is idempotent by the CSI specification: after a failure, or if the outcome is unknown, the caller
 * repeats it with the same arguments. Calls reject with CsiError; nothing is retried here.
 */

export interface CsiCallOptions {
  /** Aborting rejects the call with code CANCELLED; the driver may still complete it. */
  readonly signal?: AbortSignal | undefined;
}

export type CsiMap = Readonly<Record<string, string>>;

/** Names of the enum `VolumeCapability.AccessMode.Mode`. */
export type CsiAccessMode =
  | "SINGLE_NODE_WRITER"
  | "SINGLE_NODE_READER_ONLY"
  | "MULTI_NODE_READER_ONLY"
  | "MULTI_NODE_SINGLE_WRITER"
  | "MULTI_NODE_MULTI_WRITER"
  | "SINGLE_NODE_SINGLE_WRITER"
  | "SINGLE_NODE_MULTI_WRITER";

export interface CsiMountCapability {
  readonly fsType: string;
  readonly mountFlags: readonly string[];
  /** Group id in decimal digits, for drivers with the capability VOLUME_MOUNT_GROUP; otherwise "". */
  readonly volumeMountGroup: string;
}

export interface CsiVolumeCapability {
  readonly accessMode: CsiAccessMode;
  /** "block": the volume is a device; otherwise a file system. */
  readonly access: "block" | CsiMountCapability;
}

export interface CsiCapacityRange {
  readonly requiredBytes: number;
  /** 0: no limit. */
  readonly limitBytes: number;
}

export type CsiPluginCapability =
  | "CONTROLLER_SERVICE"
  | "VOLUME_ACCESSIBILITY_CONSTRAINTS"
  | "GROUP_CONTROLLER_SERVICE"
  | "ONLINE"
  | "OFFLINE";

export interface CsiPluginInfo {
  /** Name of the driver, such as "hostpath.csi.k8s.io". */
  readonly name: string;
  readonly vendorVersion: string;
}

export interface CsiIdentity {
  getPluginInfo(options?: CsiCallOptions): Promise<CsiPluginInfo>;
  /** Members ONLINE and OFFLINE are the two kinds of volume expansion. */
  getPluginCapabilities(options?: CsiCallOptions): Promise<ReadonlySet<CsiPluginCapability>>;
  /** False if the driver is not ready yet. */
  probe(options?: CsiCallOptions): Promise<boolean>;
}

export type CsiNodeCapability =
  | "STAGE_UNSTAGE_VOLUME"
  | "GET_VOLUME_STATS"
  | "EXPAND_VOLUME"
  | "VOLUME_CONDITION"
  | "SINGLE_NODE_MULTI_WRITER"
  | "VOLUME_MOUNT_GROUP";

export interface CsiNodeInfo {
  readonly nodeId: string;
  /** 0: not limited. */
  readonly maxVolumesPerNode: number;
  /** Undefined if the driver has no topology. */
  readonly accessibleTopology: CsiMap | undefined;
}

export interface CsiStageRequest {
  readonly volumeId: string;
  readonly publishContext: CsiMap;
  readonly stagingTargetPath: string;
  readonly capability: CsiVolumeCapability;
  readonly secrets: CsiMap;
  readonly volumeContext: CsiMap;
}

export interface CsiPublishRequest {
  readonly volumeId: string;
  readonly publishContext: CsiMap;
  /** "" for a driver without the capability STAGE_UNSTAGE_VOLUME. */
  readonly stagingTargetPath: string;
  readonly targetPath: string;
  readonly capability: CsiVolumeCapability;
  readonly isReadOnly: boolean;
  readonly secrets: CsiMap;
  readonly volumeContext: CsiMap;
}

export interface CsiUsage {
  readonly available: number;
  readonly total: number;
  readonly used: number;
  readonly unit: "BYTES" | "INODES";
}

export interface CsiVolumeCondition {
  readonly isAbnormal: boolean;
  readonly message: string;
}

export interface CsiVolumeStats {
  readonly usage: readonly CsiUsage[];
  /** Undefined if the driver does not report it. */
  readonly condition: CsiVolumeCondition | undefined;
}

export interface CsiNodeExpandRequest {
  readonly volumeId: string;
  /** Where the volume is published or staged. */
  readonly volumePath: string;
  readonly capacity: CsiCapacityRange;
  readonly stagingTargetPath: string;
  readonly capability: CsiVolumeCapability;
  readonly secrets: CsiMap;
}

/** The driver's part on this node. The kubelet is its only caller. */
export interface CsiNodeDriver extends CsiIdentity {
  /** Name under which the driver registered with the kubelet. */
  readonly name: string;
  nodeGetInfo(options?: CsiCallOptions): Promise<CsiNodeInfo>;
  nodeGetCapabilities(options?: CsiCallOptions): Promise<ReadonlySet<CsiNodeCapability>>;
  nodeStageVolume(request: CsiStageRequest, options?: CsiCallOptions): Promise<void>;
  nodeUnstageVolume(request: { readonly volumeId: string; readonly stagingTargetPath: string }, options?: CsiCallOptions): Promise<void>;
  nodePublishVolume(request: CsiPublishRequest, options?: CsiCallOptions): Promise<void>;
  nodeUnpublishVolume(request: { readonly volumeId: string; readonly targetPath: string }, options?: CsiCallOptions): Promise<void>;
  nodeGetVolumeStats(
    request: { readonly volumeId: string; readonly volumePath: string; readonly stagingTargetPath: string },
    options?: CsiCallOptions,
  ): Promise<CsiVolumeStats>;
  /** Resolves with the new size in bytes; 0 if the driver does not say. */
  nodeExpandVolume(request: CsiNodeExpandRequest, options?: CsiCallOptions): Promise<number>;
}

export type CsiControllerCapability =
  | "CREATE_DELETE_VOLUME"
  | "PUBLISH_UNPUBLISH_VOLUME"
  | "LIST_VOLUMES"
  | "GET_CAPACITY"
  | "CREATE_DELETE_SNAPSHOT"
  | "LIST_SNAPSHOTS"
  | "CLONE_VOLUME"
  | "PUBLISH_READONLY"
  | "EXPAND_VOLUME"
  | "LIST_VOLUMES_PUBLISHED_NODES"
  | "VOLUME_CONDITION"
  | "GET_VOLUME"
  | "SINGLE_NODE_MULTI_WRITER"
  | "MODIFY_VOLUME"
  | "GET_SNAPSHOT";

export interface CsiTopologyRequirement {
  readonly requisite: readonly CsiMap[];
  readonly preferred: readonly CsiMap[];
}

/** What a new volume is filled with. */
export type CsiContentSource = { readonly snapshotId: string } | { readonly volumeId: string };

export interface CsiCreateVolumeRequest {
  /** Idempotency key: the same name yields the same volume. */
  readonly name: string;
  readonly capacity: CsiCapacityRange;
  readonly capabilities: readonly CsiVolumeCapability[];
  readonly parameters: CsiMap;
  readonly secrets: CsiMap;
  readonly source?: CsiContentSource | undefined;
  readonly accessibility?: CsiTopologyRequirement | undefined;
  readonly mutableParameters: CsiMap;
}

export interface CsiVolume {
  readonly volumeId: string;
  /** 0: unknown. */
  readonly capacityBytes: number;
  readonly volumeContext: CsiMap;
  readonly accessibleTopology: readonly CsiMap[];
}

export interface CsiCapacity {
  readonly availableBytes: number;
  /** Undefined: as much as is available. */
  readonly maximumVolumeBytes: number | undefined;
}

/** The driver's part that manages volumes of the whole cluster. */
export interface CsiControllerDriver extends CsiIdentity {
  controllerGetCapabilities(options?: CsiCallOptions): Promise<ReadonlySet<CsiControllerCapability>>;
  createVolume(request: CsiCreateVolumeRequest, options?: CsiCallOptions): Promise<CsiVolume>;
  deleteVolume(request: { readonly volumeId: string; readonly secrets: CsiMap }, options?: CsiCallOptions): Promise<void>;
  /** Resolves with the publish context. */
  controllerPublishVolume(
    request: {
      readonly volumeId: string;
      readonly nodeId: string;
      readonly capability: CsiVolumeCapability;
      readonly isReadOnly: boolean;
      readonly secrets: CsiMap;
      readonly volumeContext: CsiMap;
    },
    options?: CsiCallOptions,
  ): Promise<CsiMap>;
  controllerUnpublishVolume(
    request: { readonly volumeId: string; readonly nodeId: string; readonly secrets: CsiMap },
    options?: CsiCallOptions,
  ): Promise<void>;
  controllerExpandVolume(
    request: {
      readonly volumeId: string;
      readonly capacity: CsiCapacityRange;
      readonly secrets: CsiMap;
      readonly capability: CsiVolumeCapability;
    },
    options?: CsiCallOptions,
  ): Promise<{ readonly capacityBytes: number; readonly nodeExpansionRequired: boolean }>;
  controllerModifyVolume(
    request: { readonly volumeId: string; readonly secrets: CsiMap; readonly mutableParameters: CsiMap },
    options?: CsiCallOptions,
  ): Promise<void>;
  getCapacity(
    request: {
      readonly capabilities: readonly CsiVolumeCapability[];
      readonly parameters: CsiMap;
      readonly accessibleTopology: CsiMap | undefined;
    },
    options?: CsiCallOptions,
  ): Promise<CsiCapacity>;
}
