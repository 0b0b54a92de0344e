/** Disk usage of the Pods of a node. Unknown values are absent. Only types. */
import type { Pod } from "../../api/generated/core/v1.ts";

export interface FilesystemUsage {
  readonly availableBytes: number;
  readonly capacityBytes: number;
  readonly usedBytes: number;
  readonly inodesFree?: number;
  readonly inodes?: number;
  readonly inodesUsed?: number;
}

/** Usage of a file, or of a directory with all entries below it. */
export interface TreeUsage {
  readonly usedBytes: number;
  readonly inodesUsed: number;
}

/** Of a PersistentVolumeClaim. */
export interface ClaimName {
  readonly namespace: string;
  readonly name: string;
}

/** What the driver of a volume reports about it. */
export interface VolumeReport {
  readonly filesystem: FilesystemUsage;
  /** Set by drivers that monitor the health of their volumes. */
  readonly condition?: VolumeCondition;
}

export interface VolumeCondition {
  readonly isAbnormal: boolean;
  readonly message: string;
}

export interface VolumeUsage {
  readonly name: string;
  /** True if the volume counts as local ephemeral storage of the Pod. */
  readonly isEphemeral: boolean;
  /** The file system that holds the volume. */
  readonly filesystem: FilesystemUsage;
  /** Absent: the volume has too many entries to be counted. */
  readonly used?: Partial<TreeUsage>;
  /** Of a volume with a claim. */
  readonly claim?: ClaimName;
  readonly condition?: VolumeCondition;
}

export interface PodStorage {
  readonly volumes: readonly VolumeUsage[];
  /** By container name, over all retained attempts. */
  readonly logs: ReadonlyMap<string, TreeUsage>;
  /** The Pod's /etc/hosts. */
  readonly hostsFile?: TreeUsage;
}

export type PodStorageSource = (pod: Pod) => Promise<PodStorage>;
